from claims import Break, claim

CLAIMS = [
    claim(
        "The encoder of 2017 is unidirectional",
        "only its decoder is: in the encoder every position influences every other",
        "encoder_2017[later].min() > 1e-3",
        Break("through(original.encoder.blocks)", "through(original.encoder.blocks, causal=True)"),
        Break(
            "through(original.decoder.blocks, memory5[None])",
            "through(original.decoder.blocks, memory5[None], causal=False)",
        ),
    ),
    claim(
        "No mask is needed at inference",
        "not with a cache, and not with one layer; else the last token's logits change",
        "off[1][0] < 1e-12 and off[2][0] > 1e-3",
        Break("model.decoder.causal = False\n        again", "model.decoder.causal = True\n        again"),
        Break("model.decoder.blocks[:n_blocks]", "model.decoder.blocks[:2]"),
        Break("model.start(one[0])", "model.start(one[0], cached=False)"),
    ),
    claim(
        "The mask's row gives the weights: softmax(0, 0, −∞, −∞)",
        "it is added to the scores; alone it always gives ½ and ½",
        "(both.softmax(-1)[:2] - 0.5).abs().min() > 0.2",
        Break("torch.tensor(other_scores) + row", "0 * torch.tensor(other_scores) + row"),
    ),
    claim(
        "A late mask only spoils the sums",
        "it leaks: the forbidden scores sit in the denominator",
        "late_leak.weights.sum(-1).min() < 0.5",
        Break('leak("after the softmax", 1)', 'leak("after the softmax, rows divided by their sums", 1)'),
        Break('leak("after the softmax", 1)', 'leak("no mask", 1)'),
    ),
    claim(
        "Divide each row by its sum, and all is well",
        "on paper; where a masked score is far larger than the others, all allowed weights are rounded to 0: NaN",
        "divided.isnan().all()",
        Break("torch.tensor([2.0, 1.0, 200.0])", "torch.tensor([2.0, 1.0, 20.0])"),
        Break("kept = scores6.softmax(-1) * rows", "kept = scores6.softmax(-1)"),
    ),
    claim(
        "Masked attention unmasks word by word",
        "all rows are there at once, in one pass under one mask, and their order makes no difference",
        "max(gaps.values()) < 1e-6 and len(decoder_runs) == 1",
        Break("causal[t : t + 1])[0]", "causal[t : t + 1] & (torch.arange(T) <= list(order).index(t)))[0]"),
        Break(
            "F.cross_entropy(exact(one[0], one[1])[0, :length]",
            "[exact(one[0], one[1][:, :n]) for n in range(1, length)]\n"
            "F.cross_entropy(exact(one[0], one[1])[0, :length]",
        ),
    ),
    claim(
        "The mask hides the words that came before",
        "the wrong way round: every earlier input influences an output, and no later one",
        "before == T * (T - 1) // 2 and after == 0",
        Break("(on_decoder.tril(-1) > TINY)", "(on_decoder.mT.tril(-1) > TINY)"),
        Break(
            "through(exact.decoder.blocks, memory, memory_mask=words_only)",
            "through(exact.decoder.blocks, memory, memory_mask=words_only, causal=False)",
        ),
    ),
    claim(
        "−1e9 equals −inf",
        "not in a fully masked row: NaN, uniform weights, or (added, in float64) no mask at all",
        "torch.equal(replaced, uniform) and torch.equal(added32.double(), uniform)",
        Break("nothing = torch.zeros(8, dtype=torch.bool)", "nothing = torch.arange(8) < 1"),
        Break("(row.float() - 1e9)", "(row.float() - 1e3)"),
    ),
    claim(
        "−1e9 never equals −inf",
        "in float32, where a row may look at something, it does, to the last bit",
        "torch.equal(inf, large)",
        Break("masked_fill(~causal_mask(8), -1e9)", "masked_fill(~causal_mask(8), -10)"),
        Break(
            "scores32.masked_fill(~causal_mask(8), -torch.inf)",
            "scores32.masked_fill(causal_mask(8) < 2, -torch.inf)",
        ),
    ),
    claim(
        "−1e9 is safe in every precision",
        "in float16 it is refused, or becomes −inf on the way; bfloat16 has room for it",
        "converted.isinf().all()",
        Break("torch.full((8,), -1e9).half()", "torch.full((8,), -1e4).half()"),
    ),
    claim(
        "A causal mask halves the work",
        "not where the whole table is computed and then masked; in blocks that skip masked cells it saves nearly all",
        "len({counted[name] for name in masks256}) == 1",
        Break("sliding_window_mask(256, window=16)", "sliding_window_mask(256, window=256)"),
        Break("v256, mask=m)) for", "v256, mask=m) if m is None else q256 @ k256.mT) for"),
        Break("lambda: windowed_in_blocks(q256, k256, v256, 16)", "lambda: eager_attention(q256, k256, v256)"),
    ),
    claim(
        "Training needs a pass for each prefix",
        "one pass under a causal mask gives all answers; without a mask it gives none of them",
        "assert at_once_gaps[0] < 1e-9 < 1e-3 < at_once_gaps[1]",
        Break('reader(tokens)[0], "without', 'without_mask(reader, tokens), "without'),
        Break("without_mask(reader, tokens)}", "reader(tokens)[0]}"),
    ),
    claim(
        "Texts in one row stay apart by themselves",
        "under a causal mask alone each text reads those before it; the packed mask and positions anew keep them apart",
        "assert packed_gaps[2] < 1e-9",
        Break('row | {"positions": torch.arange(9)}', "row"),
        Break('row | {"mask": no_look_ahead(9)}', "row"),
        Break(
            '    "packed mask, positions anew": row,',
            '    "packed mask, positions anew": row | {"mask": no_look_ahead(9)},',
        ),
    ),
]
