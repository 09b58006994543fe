"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

from answer_tables import edits

UNLIKE = edits("""
rank_one.rank_one_by_the_diagonal    torch.linalg.solve(C, k) → k / C.diagonal()
rank_one.rank_one_with_the_root    torch.linalg.solve(C, k) → torch.linalg.solve(torch.linalg.cholesky(C), k)
rank_one.rank_one_half_way    / (u @ k) → / (u @ k + 1)
""")
