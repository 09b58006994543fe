"""The quiz on modern Transformers."""

from tx_helpers.exercises.quizzes import questions

QUIZ = questions("""
Adam divides each entry of a step by its usual size. What does Muon even out instead?
  - How long each row of the matrix is | Rows can all point the same way.
  * How far each direction moves | All singular values of the step become about 1.
  - The rates of the layers | Each matrix has its own step; nothing is shared among layers.
At which batch does Muon's extra work weigh least?
  * At a large one | Its products happen once a step, however many tokens it has.
  - At a small one | Then few tokens share the cost of five iterations.
  - It is the same at every batch | The forward and backward pass grow with the tokens; it does not.
A model uses RMSNorm. Where in the block does it stand?
  - Before attention and feed-forward, as in pre-norm | Often, but the formula does not say so.
  * The name does not tell | What is normalised and where are two choices.
  - After the sum with the residual stream, as in 2017 | 2017 had LayerNorm there; either fits.
Grouped queries with 8 heads of keys and values in place of 32. What is certain?
  * The cache takes a quarter of the bytes | It holds keys and values of 8 heads.
  - The scores take a quarter of the multiplications | All 32 heads of queries still have scores.
  - The model writes four times as fast | Nearly all weights are read as before; only the cache is read faster.
A mixture of experts has 47 billion parameters, and 13 billion are active for a token. What does it need?
  - Memory for 13 billion | The next token may need any other expert, so all must be there.
  - The arithmetic of 47 billion | A token passes the chosen experts only.
  * Memory for 47, arithmetic of 13 | It saves computing, not memory.
A new activation lowers the loss by 0.02 at equal steps, and a step takes 10 % longer. Is it worth it?
  - Yes, a lower loss is a lower loss | The old model could use that time for more steps.
  - No, 10 % is more than 0.02 | These are different units and cannot be compared.
  * Compare at equal seconds, with several seeds | Then both spend the same, and chance shows.
""")
