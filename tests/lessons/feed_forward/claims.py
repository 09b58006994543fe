"""The claims that the notebook tests."""

from claims import Break, claim

CLAIMS = [
    claim(
        "Post-norm needs warm-up",
        "not at four blocks; at twelve it learns faster with it, at the same rate; pre-norm is faster without",
        'assert end["post-norm"] < 1.4 and cold - warm > 0.15',
        Break("twelve(post_norm, warmup=0)", "twelve(pre_norm, warmup=0)"),
        Break("warmup=100)", "warmup=0)"),
    ),
    claim(
        "Add & Norm allows 100 layers",
        "not as the paper has it: 100 post-norm sub-layers hardly learn, even with warm-up; 100 pre-norm ones do",
        "assert norm_in_the_branch < 2.55",
        Break("fifty(pre_norm), fifty(post_norm)", "fifty(post_norm), fifty(post_norm)"),
        Break("fifty(pre_norm), fifty(post_norm)", "fifty(pre_norm), fifty(pre_norm)"),
    ),
    claim(
        "RMSNorm is pre-norm",
        "one is what the norm computes, the other where it is: all four combinations learn",
        "assert max(four.values()) < 1.4 and len(set(four.values())) == 4",
        Break("RMSNorm(32))", "nn.Identity())"),
        Break("isinstance(child, nn.LayerNorm)", "isinstance(child, RMSNorm)"),
    ),
    claim(
        "Residuals only help gradients",
        "without them all tokens are alike after three blocks, though the norms keep the gradient",
        "alike[3] > 0.99 > 0.8 > with_shortcut[3]",
        Break(
            "no_shortcut = ToyEncoder(pre_norm_without_residual, n_layers=24)",
            "no_shortcut = ToyEncoder(pre_norm, n_layers=24)",
        ),
        Break(
            "with_shortcut = token_similarity_by_block(ToyEncoder(residual, n_layers=24)",
            "with_shortcut = token_similarity_by_block(ToyEncoder(plain, n_layers=24)",
        ),
    ),
    claim(
        "The FFN stores the knowledge",
        "partly: a trained model needs both its FFNs and its attention, and can be trained without FFNs",
        'assert cut["all FFNs"] < 0.05',
        Break('exact_without("*feed_forward.output")', "exact_without()"),
        Break('exact_without("*cross_attention.output")', "exact_without()"),
    ),
]
