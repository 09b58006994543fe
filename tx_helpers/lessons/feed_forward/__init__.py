"""What the notebook "Feed-forward, residuals, norms" alone uses.

block_depth      depth, place of the norm, residual on or off
depth            what depth does to gradients and tokens, measured on stacks of blocks with any wiring
exercises        exercises on feed-forward, residuals, normalisation
exercises_stack  two exercises that build a stack
ffn_memory       the feed-forward network as a memory: which words switch a hidden unit on, and which words it writes
hinges           hidden units as hinges: three of them, each a line with one bend, and their sum, a curve
norms            LayerNorm and RMSNorm on a vector of three numbers: drawn in space, and as bars
one_unit         one fact in one hidden unit, built by hand: "a digit was written AND a ten comes" makes *und* likely
stream           the residual stream of the trained translator's decoder
superposition    Superposition: a small network carries five features through two numbers
"""
