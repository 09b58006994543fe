// The explorer of the clocks on a page without a kernel: hands.py has drawn and said all that depends on the distance.

const compute = ({ hands: [query, key], both, ahead }, { last, pictures, marker, places, said }) => {
  const at = query - key + last;
  const alt = `Query at ${query + both}, key at ${key + both}: ${said[ahead][at]}`;
  const [x, y] = places[ahead][at], mark = marker.replaceAll('"X"', `"${x}"`).replaceAll('"Y"', `"${y}"`);
  return { alt, markup: pictures[ahead].join(mark), traits: { hands: { both, ahead } } };
};

export default compute;
