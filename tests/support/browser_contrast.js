// The function that tests/support/browser_contrast.py runs in a page: the contrasts that are too low, a line each.
([roots, TEXT, LINE, DECORATION]) => {
  const found = new Set(), known = new Map(), pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true})
  const rgba = text => {  // whatever way a style sheet says a colour
    if (!known.has(text)) {
      pen.clearRect(0, 0, 1, 1)
      pen.fillStyle = text
      pen.fillRect(0, 0, 1, 1)
      const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data
      known.set(text, [r, g, b, a / 255])
    }
    return known.get(text)
  }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]))
  const light = colour => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const c = colour[i] / 255
    return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  }, 0)
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x)
    return (high + 0.05) / (low + 0.05)
  }
  const above = e => e.parentElement ?? e.getRootNode().host
  const opacity = e => { let o = 1; for (; e; e = above(e)) o *= getComputedStyle(e).opacity; return o }
  const alpha = (colour, share) => [...colour.slice(0, 3), colour[3] * share]
  const SHAPES = "rect, circle, ellipse, path, polygon, image"

  /** The colour beneath a point of the screen: of the shapes drawn before the element, then of all around it. */
  const beneath = (element, x, y) => {
    const layers = [], svg = element.ownerSVGElement
    let outermost = svg
    while (outermost?.ownerSVGElement) outermost = outermost.ownerSVGElement
    for (const shape of svg ? [...outermost.querySelectorAll(SHAPES)].reverse() : []) {
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) || shape.closest("defs")) continue
      const box = shape.getBoundingClientRect()
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue
      if (shape.matches("image")) return "an image"
      const style = getComputedStyle(shape), fill = style.fill
      if (fill === "none" || !shape.isPointInFill(new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse()))) continue
      layers.push(alpha(rgba(fill), style.fillOpacity * style.opacity))
      if (layers.at(-1)[3] > 0.99) break
    }
    for (let e = outermost ?? element; e && !(layers.at(-1)?.[3] > 0.99); e = above(e)) {
      if (e.matches(".tx-taken-out")) return null
      layers.push(rgba(getComputedStyle(e).backgroundColor))
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255])
  }
  const judge = (element, colour, x, y, least, words) => {
    const back = beneath(element, x, y)
    if (!Array.isArray(back)) return found.add(`${words} has ${back ? `${back} behind it` : "no background of its own"}`)
    const front = over(alpha(colour, opacity(element)), back), said = c => `rgb(${c.map(Math.round)})`
    if (ratio(front, back) < least - 0.005)
      found.add(`contrast ${ratio(front, back).toFixed(2)}, expected ${least}: ${words} in ${said(front)} on ${said(back)}`)
  }
  const own = e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join(" ").trim()
  const look = root => {
    for (const e of [root, ...root.querySelectorAll("*")]) {
      if (e.matches("style, script, title, desc, option, :disabled, :disabled *")) continue
      if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
      const box = e.getBoundingClientRect(), style = getComputedStyle(e), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2
      const field = e.matches("select, textarea, input:not([type=range], [type=checkbox], [type=radio])")
      const words = field ? e.selectedOptions?.[0]?.text ?? e.value : own(e)
      if (words && box.width > 1 && box.height > 1) {
        const inDrawing = e instanceof SVGElement, paint = rgba(inDrawing ? style.fill : style.color)
        judge(e, inDrawing ? alpha(paint, style.fillOpacity) : paint, x, y, TEXT, `'${words.slice(0, 60)}'`)
      }
      if (e.matches("line, polyline, path") && (e.matches("line") || style.fill === "none") && style.stroke !== "none"
          && e.getTotalLength() > 0 && !DECORATION.some(colour => String(rgba(colour)) === String(rgba(style.stroke)))) {
        const middle = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM())
        judge(e, rgba(style.stroke), middle.x, middle.y, LINE, `a ${e.localName}`)
      }
    }
  }
  roots.forEach(look)
  return [...found]
}
