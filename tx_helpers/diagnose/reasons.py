"""The texts of the report as one table: what each probe asks, the likely causes of a mistake, and what to try."""

from tx_helpers.diagnose.report import Reasons

MIXED = (
    "tokens are mixed outside of the attention weights: heads split or merged by view without transpose, a norm over "
    "the positions, a convolution without its shift"
)
TRAINED = "the model is trained: then say trained=True"

REASONS: dict[str, Reasons] = {
    # probes/answers.py
    "numbers": Reasons(
        "Are all logits finite?",
        {
            "kernel": "a mask of numbers: PyTorch adds it to the scores in training, but its fused kernel for "
            "evaluation hides every number except 0. Use a boolean mask, True where nothing may be seen",
            "masked row": "a row of the scores is masked entirely, and a softmax over −∞ alone is 0/0: "
            "the mask is inverted, or it also excludes the diagonal",
            "axis": "the softmax runs over the wrong axis, where all is −∞ (over the heads: dim=1 instead of -1)",
            "size": "numbers too large for the precision (float16 ends at 65,504), a root or logarithm of 0, or 0/0",
            "diverged": "parameters that are NaN themselves, after a training that diverged",
        },
        "print the mask of 4 positions: row t shows what t may see, and the diagonal is open",
    ),
    "repeat": Reasons(
        "Do two evaluations of the same ids agree?",
        {
            "dropout": "dropout is active in evaluation: no model.eval(), or F.dropout without training=self.training",
            "random": "the forward pass draws random numbers: position ids, noise, or something for training only",
            "memory": "the model stores something from call to call: a cache that is not emptied, running statistics",
        },
        "call model.eval() before every evaluation, and model.train() after it",
    ),
    "order": Reasons(
        "Does the order of the tokens matter?",
        {
            "alike": "positions {alike} are encoded alike: position ids are clamped, or rows of the table are equal",
            "never": "positions are never added, or added and then overwritten",
            "equal": "the position table is all zero, or all its rows are equal",
            "rotary": "rotary: queries and keys are rotated by the same angle at all positions",
            "meant": "it is meant: causal models can learn without positions, but not as well (NoPE)",
        },
        "compare the last logits of 'a b c' and 'b a c'",
        {"alike": "print the vectors of these positions side by side"},
    ),
    "start": Reasons(
        "Is the loss on random tokens about ln V?",
        {
            "leak": "the model sees the token that it should predict: a leak from the future",
            "trained": TRAINED,
            "large": "the first logits are too large: their deviation σ adds about σ²/2; nn.Embedding is initialised "
            "with deviation 1, which is too much for a tied output",
            "scale": "a scale at the output (√D) that belongs to the input",
        },
        "print logits.std() of the fresh model: it should be near 1 or below",
        {"leak": "read the results of the probes future and prefix"},
    ),
    "logits": Reasons(
        "Are the logits free of a softmax?",
        {
            "softmax": "a softmax at the model's end: the loss applies another one, starts at ln V, and can hardly "
            "fall (not below {least:.2f} here)"
        },
        "return the logits themselves; F.cross_entropy expects those",
    ),
    "echo": Reasons(
        "Does it do more than repeat the token it reads?",
        {
            "unshifted": "trained on targets that are not shifted: it learned to repeat what it reads, and the "
            "loss fell to 0",
            "tied": "an untrained model with a tied output and large embeddings: each position still contains mostly "
            "its own token",
        },
        "check the batches: diagnose(model, data=batches) compares inputs and targets",
    ),
    # probes/leaks.py
    "future": Reasons(
        "Do logits stay the same when only later tokens change?",
        {
            "training": "the mask is used in evaluation only: in training mode the model reads the answers "
            "(if self.training, or a default that only eval() changes)",
            "weak for large": "the mask's fill is too weak for large scores: fill with −∞",
            "axis": "the softmax runs over dim={axis} of (B, H, T, S), {axis_name}{at}: it must run over the keys, "
            "dim=-1",
            "nothing": "nothing hides the future: no causal mask, or a turned or late one",
            "next": "the keys or values are those of the next position (rolled by one), or a convolution looks one "
            "position ahead",
            "mixed": MIXED,
            "both ways": "a layer that reads both ways (bidirectional=True), or experts that choose their tokens",
            "missing": "the mask is missing in {module}, and right in the layers before it",
            "other place": "the keys or values are those of another position (rolled, flipped, or offset by one)",
            "weak": "the mask's fill is too weak{at}: fill with −∞ or the smallest number of the precision",
            "inverted": "the mask is inverted or transposed{at}: the future is open and the past is closed",
            "one too far": "the mask reaches one position too far{at}: tril(diagonal=1) instead of 0",
            "first row": "row 0 is masked entirely{at}: the diagonal is excluded, and its softmax is even",
            "even": "all weights are equal{at}: the mask is multiplied into the scores, or its fill is 0 or 1e-9",
            "no mask": "no mask, or one applied after the softmax{at}: the scores of the future are part of the sum",
            "multiplied": "the mask is multiplied into the scores, or its fill is near 0 instead of −∞",
            "encoder": 'the model is meant to see both sides, as BERT is: then say kind="encoder"',
        },
        "print the attention weights of 4 positions: all must be 0 above the diagonal, and every row must sum to 1",
        {"training": "compare model.train() with model.eval(), dropout set to 0"},
    ),
    "prefix": Reasons(
        "Does a prefix get the same logits alone as in the full sequence?",
        {
            "short": "a mask or a table made for fewer than {length} positions",
            "leak": "the leak from the future, see above: a prefix has no future to look at",
            "view": "heads are split and merged by view without transpose: each head then attends within a part of "
            "the sequence, and the parts depend on the length",
            "norm": "something depends on the length: a norm or a softmax over the positions, positions counted from "
            "the end",
            "cut": "the mask is cut for the full length: mask[-t:] where mask[:t, :t] is meant",
        },
        "compare model(ids)[:, :3] with model(ids[:, :3])",
    ),
    "neighbours": Reasons(
        "Do the rows of a batch leave each other alone?",
        {
            "norm": "a norm over the batch: dim=0, or BatchNorm, where the width is meant",
            "axes": "the axes are mixed up: nn.MultiheadAttention, nn.Transformer, nn.GRU or nn.LSTM without "
            "batch_first=True, or a view (if the model is meant to read (T, B), say so by forward=)",
            "experts": "experts of limited capacity, for which rows compete",
            "positions": "positions added along the batch: the table's rows must meet axis 1 of (B, T, D)",
            "BatchNorm": "BatchNorm: in training its mean runs over the batch and all positions, the future among them",
            "meant": "it is meant: experts of limited capacity, for which rows compete",
        },
        "compare model(ids)[1:2] with model(ids[1:2])",
        {"BatchNorm": "use nn.LayerNorm, which normalises each vector alone"},
    ),
    # probes/padding.py
    "padding": Reasons(
        "Does padding leave the real tokens alone?",
        {
            "training": "the padding mask is used in evaluation only, and missing in training mode",
            "other id": "the padding mask compares with another id: source and target may each have their own",
            "said": "this is the id of padding: say pad_id=, and source_pad_id= where the source has another one",
            "row": "the padding mask of one row (mostly row 0) is used for all rows of the batch",
            "empty": "a row at padding sees nothing, and −∞ makes it NaN, which spreads in the next layer: give it "
            "zeros{at}",
            "inverted": "the padding mask is inverted: nn.MultiheadAttention's True hides, the course's True shows{at}",
            "missing": "the padding mask is missing in an attention layer (the cross-attention needs the source's "
            "mask, too){at}",
            "positions": "padding counts as a position: with padding at the left, real tokens must still start at 0",
            "mixed": MIXED,
            "mean": "padding enters a mean or a norm over the positions",
            "no mask": "the model takes no padding mask: a recurrent layer, a convolution or a Fourier transform mixes "
            "all positions. Give it rows of equal length, or accept it",
        },
        "compare the logits of a short row alone with those beside a long one",
    ),
    "empty row": Reasons(
        "Does a row of nothing but padding do harm?",
        {
            "masked": "all of its keys are masked by −∞, and the softmax of that is 0/0. This is harmless only if your "
            "batches have no such row, because a NaN in one row makes every gradient NaN"
        },
        "set the weights of a fully masked row to 0, or fill with a large finite number",
    ),
    # probes/context.py
    "context": Reasons(
        "Does each part of the input matter?",
        {
            "unused": "the output of an attention layer is not used: a forgotten sum, or a result that is overwritten",
            "closed": "the mask closes what should be open (it is inverted, or only the diagonal is open)",
            "memory": "cross-attention gets the target instead of the memory",
            "causal": "an encoder runs with a causal mask",
            "late": "the logits come one position late: the input is shifted in the model, or the output is rolled",
            "diagonal": "the diagonal is masked, and no residual connection carries the token itself",
            "wrapped": "ids are cut or wrapped before the embedding: clamp, %, an integer type that is too small",
            "equal rows": "rows of the embedding are equal: filled with one number, or overwritten",
            "unused ids": "it is meant: ids that no text contains, added to round up the size of the vocabulary",
            "lost keys": "keys are lost on the way: attention gets only one position, or every second one",
            "strided": "it is meant: strided attention, or convolutions with gaps",
            "causal encoder": "the encoder runs with the decoder's causal mask{at}",
            "one direction": "it is meant: the source is read in one direction",
        },
        "print the attention weights: every row must reach what its position may see",
        {
            "late": "change only the last id, and look at the last logits",
            "wrapped": "compare the logits of [[0, 1, 2]] and [[0, 1, 3]]",
            "equal rows": "compare these rows of the embedding",
            "lost keys": "print the last row of the attention weights",
            "causal encoder": "give the encoder no mask except that of the padding",
        },
    ),
    # probes/training.py
    "gradients": Reasons(
        "Does every parameter get a gradient?",
        {
            "none": "made in __init__ and not used in the forward, or cut off by detach(), .data or no_grad",
            "zero": "two factors that are both 0 at first (W_q = W_k = 0: neither can ever change), a ReLU "
            "that is always 0, or an output that is multiplied by 0",
            "expert": "experts that none of these few tokens chose: right if others choose them, a collapsed router if "
            "none ever does",
            "broken": "the root or the logarithm of 0, or a fully masked row hidden in the forward alone",
            "equal": "a matrix filled with one number: its rows get the same gradient, and stay equal for ever",
            "meant": "it is meant: used with other inputs only ({inputs})",
        },
        "after loss.backward() print the names of parameters whose .grad is None or all 0",
    ),
    "parameters": Reasons(
        "Does model.parameters() contain everything that the logits depend on?",
        {
            "list": "layers in a Python list or dict: optimizers, .to(device) and state_dict leave them out",
            "tensor": "tensors with requires_grad=True that are not nn.Parameter",
        },
        "use nn.ModuleList, nn.ModuleDict and nn.Parameter, and count the parameters against the formula",
    ),
    "attention": Reasons(
        "Is attention soft, and does it sum to 1 over the keys?",
        {
            "axis": "over the queries (dim=-2) or the heads (dim=-3), where (B, H, T, S) asks for the keys, dim=-1",
            "trained": TRAINED,
            "scale": "the scores are not divided by √K, or multiplied by it: they grow with the width K of a head",
            "large": "queries and keys are large: embeddings of deviation 1 or more, no norm before the attention",
        },
        "print the deviation of the scores before the softmax: about 1 in a fresh model",
        {"axis": "weights.sum(dim=-1) must be 1 everywhere"},
    ),
    # probes/caches.py
    "cached": Reasons(
        "Do cached and uncached logits agree?",
        {
            "leak": "the leak from the future, see above: a cache has no future to look at",
            "lost": "the first piece is read wrongly, or keys go missing: the cache is not empty at first, or loses "
            "tokens",
            "padding": "the cache forgets the padding: later steps see the padding of the first piece, or count it as "
            "positions",
            "mask": "the causal mask is aligned top-left: with S > T keys the last query must see all of them",
            "order": "the cached keys or values are in another order (rolled, flipped), or belong to another layer "
            "or row",
            "position": "the position of a new token starts at 0 again: add the number of tokens that are in the cache",
            "rotary": "keys are cached before rotary turns them by their own position, or turned twice",
            "shared": "the cache is shared between layers or calls",
            "pieces": "a step can take only one token: a recurrent state, or a mask that is left out while decoding",
        },
        "feed one token at a time, and find the first position that differs",
    ),
    "prefill": Reasons(
        "Do cached logits agree however many tokens come first?",
        {
            "longer": "the first piece is longer than the window: the cache must keep only its last keys, and every "
            "query of the piece needs its own window",
            "window": "the cache drops a key too early or too late when it reaches the length of the window",
            "first": "the first piece is treated as if it had a fixed length: positions or a mask of that length",
        },
        "decode with first pieces shorter than, equal to and longer than the window, and compare",
    ),
    "reorder": Reasons(
        "Does the cache follow when the rows of the batch are reordered?",
        {
            "keys": "keys and values stay in their old rows (`select`, `reorder_cache`): beam search then continues "
            "the wrong sentences",
            "memory": "the encoder's memory or its mask is not reordered with them",
        },
        "reorder the rows, take a step, and compare with the reordered ids without a cache",
    ),
    # probes/data.py
    "shift": Reasons(
        "Are the targets the inputs, shifted by one position?",
        {
            "none": "the targets are not shifted: each position must predict the token that it reads, and the loss "
            "falls to 0",
            "backwards": "shifted backwards: each position must predict the token before, which it has already seen",
            "twice": "shifted twice: the batch is shifted, and the loss shifts once more",
            "far": "shifted by {shift} positions instead of 1",
            "different": "inputs and targets come from different rows or texts",
            "special": "only one of them contains special tokens",
        },
        "input = text[i : i + T], target = text[i + 1 : i + T + 1]; print one row of both as words",
    ),
    "loss": Reasons(
        "Does the loss compare the logits with the target, and ignore padding?",
        {
            "softmax": "a softmax before the cross-entropy, which has its own",
            "sign": "its sign: it is the log-likelihood, which grows as the model learns",
            "shifts": "it shifts the targets by itself: this is a second shift if the batches are already shifted",
            "meant": "it is meant: the batches are not shifted (then pass them, too, as data=)",
            "far": "each position is compared with the target {shift} positions later",
            "transposed": "logits and targets belong to different places: one of them was transposed, or a view mixed "
            "up its axes",
            "other": "the loss compares the logits with something other than the targets",
            "part": "the loss uses only a part of the logits",
            "prompt": "it is meant: a prompt whose tokens are given",
            "padding": "padding counts as a target: it is easy to predict and lowers the loss",
            "divided": "the sum is divided by all positions, including padding: padded rows then count less",
        },
        "give it logits that name the target, 9.0 * F.one_hot(target, V): it must be near 0",
        {
            "softmax": "give the logits to F.cross_entropy",
            "part": "reshape all logits to (B T, V) and all targets to (B T)",
            "padding": "F.cross_entropy(…, ignore_index=pad_id)",
            "divided": "divide by the number of real targets",
        },
    ),
}
