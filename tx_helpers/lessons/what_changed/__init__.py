"""What the notebook "What changed since 2017" alone uses.

balance_picture    the bias that decides the routing
costs              what a recipe of the ladder costs, by formula: FLOPs of training, and bytes of the cache
dense              experts beside dense models of equal computing, and of equally many parameters
duel               2017 against today: two decoders, the same stories, the same seconds on one processor core
exercises          the quiz on modern Transformers
exercises_balance  the exercise that balances experts, in two steps
exercises_experts  exercises on mixtures of experts: the router, and the loss that keeps the experts busy
exercises_muon     the exercise that builds Muon, in two steps: Newton–Schulz, and the step with it
facts              a memory that learns facts, a few often and most seldom
ladder             the ladder: from the decoder of 2017 to today's, one change at a time
ladder_explorer    the ladder from 2017 to today: tick changes, and see what the model loses and costs
ladder_plot        the ladder as a picture
ladder_runs        every rung of the ladder, trained
muon_explorer      what Muon's five iterations do to a matrix
pairs              two changes at once, and two ways to keep fewer keys and values: beside the ladder
products           a small network learns to multiply: what a gate is for
record             the record: tinyshakespeare by characters below the published loss of nanoGPT on a GPU
record_runs        the record: a small model in lean code and nanoGPT's own recipe for a CPU, trained on the same core
router             which experts each word of a text uses: a small mixture of experts at work, block by block
rungs              the rungs of the ladder from the decoder of 2017 to today's, as data
specialists        a small mixture of experts on the little world
token_values       value embeddings: every token has a vector of its own in each layer, which is added to its values
verdicts           what the ladder's figures say about sentences that people repeat
"""
