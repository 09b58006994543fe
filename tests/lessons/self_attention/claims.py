from claims import Break, Claim

HERE = "04_self_attention"

CLAIMS = [
    Claim(
        "Scores have variance d_k (the proof, over all cases)",
        "mean 0 and variance d_k exactly, for numbers of mean 0 and variance 1",
        HERE,
        "assert products.mean() == 0 and products.var(correction=0) == d",
        (
            Break("signs = torch.tensor([-1.0, 1.0]", "signs = torch.tensor([0.0, 1.0]"),
            Break("(cases[:, :d] * cases[:, d:])", "(cases[:, :d] * cases[:, :d])"),
        ),
    ),
    Claim(
        "The gradient of the softmax is diag(a) − a aᵀ",
        "PyTorch's derivative is the same on 200 rows of scores",
        HERE,
        "assert max(gaps) < 1e-12",
        (Break("return torch.diag_embed(a) - a[", "return torch.diag_embed(a) + a["),),
    ),
    Claim(
        "Without √K training fails",
        "not at d_k = 8; at 256 it does",
        HERE,
        "found[False][-1] < 0.6",
        (
            Break("scale=d**-0.5 if scaled else 1.0", "scale=d**-0.5"),
            Break("W_k.requires_grad_()], lr=1e-2)", "W_k.requires_grad_()], lr=0.0)"),
        ),
    ),
    Claim(
        "Self-attention is permutation-invariant",
        "equivariant: the outputs come in the new order",
        HERE,
        "assert (moved - out[order]).abs().max() < 1e-12",
        (
            Break("order = [2, 0, 1]", "order = [0, 1, 2]"),
            Break("X[order] @ W_K, X[order] @ W_V)", "X @ W_K, X[order] @ W_V)"),
        ),
    ),
    Claim(
        "Attention is a symmetric similarity",
        "W_Q and W_K differ: scores are not symmetric, by hand and in a trained encoder",
        HERE,
        "assert scores[2, 1] != scores[1, 2]",
        (
            Break("scores = Q @ K.T  # (T, T)", "scores = Q @ Q.T  # (T, T)"),
            Break("asymmetry(W_q.T @ W_k)", "asymmetry(W_q.T @ W_q)"),
        ),
    ),
    Claim(
        "Symmetric scores give symmetric weights",
        "each row is divided by a sum of its own",
        HERE,
        "assert torch.equal(shared_scores, shared_scores.T)",
        (
            Break('"td,sd->ts", same, same)', '"td,sd->ts", same, K)'),
            Break("same = X @ W_Q  # one", "same = X @ W_K  # one"),
        ),
    ),
    Claim(
        "With q = k two tokens can prefer each other to themselves",
        "never: q_t · q_s is at most the mean of the two own scores",
        HERE,
        "assert prefer_each_other(scores) and not",
        (
            Break("scores = Q @ K.T  # (T, T)", "scores = Q @ Q.T  # (T, T)"),
            Break("own[..., :, None] + 1e-9", "own[..., :, None] - 9"),
        ),
    ),
    Claim(
        "One matrix for queries and keys will do for every task",
        "not where two tokens have to look at each other",
        HERE,
        'assert right["two matrices"] > 0.9',
        (
            Break("W_k = W_q if shared else W_k", "W_k = W_q"),
            Break("    W_k = W_q if shared else W_k\n", ""),
        ),
    ),
    Claim(
        "Separate Q and K are needed to tell tokens apart",
        "the translator does without; a directed look does not",
        HERE,
        "assert layer.key is layer.query",
        (Break("block.self_attention.key = block.self_attention.query", "pass"),),
    ),
    Claim(
        "A model with one matrix for both looks as one with two does",
        "its heads look mostly at the word itself",
        HERE,
        "assert apart < 0.5 and together > 0.7",
        (Break("block.self_attention.key = block.self_attention.query", "pass"),),
    ),
    Claim(
        "Attention is linear",
        "linear in V alone; the softmax is not linear in x",
        HERE,
        "assert mixing < 1e-12 and whole > 1",
        (
            Break("return attention(x @ W_Q, x @ W_K, x @ W_V)", "return x @ W_V"),
            Break("mixing = (A @ (2 * V + 3", "mixing = (A @ (2 * V.exp() + 3"),
        ),
    ),
    Claim(
        "The quadratic term dominates",
        "4, 14, 40, 73 % of a block at n = 128, 512, 2k, 8k; half of the pairs saved where a kernel is causal",
        HERE,
        "assert counted_share(512) < 0.2",
        (
            Break("FeedForward(512, 2048)", "FeedForward(512, 1024)"),
            Break("formula, causal = n / (6 * 512 + n)", "formula, causal = n / (3 * 512 + n)"),
        ),
    ),
    Claim(
        "A causal kernel does as much work as a full one",
        "about half",
        HERE,
        "0.5 < ratio < 0.53",
        (
            Break("ahead = torch.arange(end) > ", "ahead = torch.arange(end) >= "),
            Break("scores = q[start:end] @ k[:end].T", "scores = (q[start:end] @ k.T)[:, :end]"),
        ),
    ),
    Claim(
        "FlashAttention approximates",
        "equal to 1e-12 in double precision, and as near to the truth as the formula in single",
        HERE,
        "assert (flash64 - truth)",
        (
            Break("flash64, flash32 = fused(*exactly)", "flash64, flash32 = fused(*exactly.bfloat16().double())"),
            Break("= attention(*exactly), attention(", "= attention(*(2 * exactly)), attention("),
        ),
    ),
    Claim(
        "Rows sum to 1, in training too",
        "with dropout 0.1 from about 0.8 to 1.1",
        HERE,
        "assert (evaluation - 1)",
        (
            Break("ones, dropout=0.1)", "ones, dropout=0.0)"),
            Break("ones = torch.ones(1, 40, 1", "ones = 2 * torch.ones(1, 40, 1"),
        ),
    ),
    Claim(
        "The memory of attention must grow with T²",
        "written out it does; the fused kernel never holds the matrix",
        HERE,
        "assert (written, kernel)",
        (Break("fused = torch.nn.functional.scaled_dot_product_attention", "fused = attention"),),
    ),
    Claim(
        "Additive attention costs as much as the dot product",
        "A times the memory, A the width of its network",
        HERE,
        "assert (by_network.numbers, by_product.numbers)",
        (Break("additive_attention(q, k, v, weight=w)", "attention(q, k, v)"),),
    ),
    Claim(
        "Mixing by likeness finds whatever a word needs",
        "a word is most like itself: no better than guessing where another one is needed",
        HERE,
        "assert likeness < 0.2 < 0.9 < own",
        (Break("[mix(children) for children in x]", "[mix(children.roll(4, 0)) for children in x]"),),
    ),
    Claim(
        "A query that asks for something else than its word finds it",
        "one changed sign between W_Q and W_K is enough",
        HERE,
        "assert asking > 0.9",
        (Break("W_Q[8, 8] = -1", "W_Q[8, 8] = 1"),),
    ),
    Claim(
        "The formula's output is 5 × 5",
        "the weights are; the output has a row for each word, as wide as a value",
        HERE,
        "assert table_of_weights.shape == (5, 5) and result.shape == (5, 48)",
        (
            Break("result = attention(pizza @ to_q, pizza @ to_k, pizza @ to_v)", "result = table_of_weights"),
            Break("to_v = torch.randn(512, 48,", "to_v = torch.randn(512, 5,"),
        ),
    ),
]
