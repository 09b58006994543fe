"""The course's order, in one table: a notebook's number and its lesson, the folder in `tx_helpers.lessons`.

The notebook of a lesson is the file notebooks/NN_<lesson>.ipynb.
"""

LESSONS: dict[str, str] = {
    "00": "start_here",
    "01": "limits_of_recurrence",
    "02": "tokens_and_embeddings",
    "03": "positional_encodings",
    "04": "self_attention",
    "05": "multi_head_attention",
    "06": "masking",
    "07": "feed_forward",
    "08": "full_model",
    "09": "training",
    "10": "debugging",
    "11": "decoding",
    "12": "a_model_that_writes",
    "13": "positions_inside_attention",
    "14": "families",
    "15": "modern_transformers",
    "16": "scaling_up",
    "18": "reference",
}
