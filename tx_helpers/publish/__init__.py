"""Your own model as one page that anybody can open, without a server and without a network.

publish(model, tokenizer, "mine.html", title="Small talk", card={"Trained on": "my own letters"})
"""

from tx_helpers.publish.page import Chat, Published, publish
from tx_helpers.publish.saved import load_model, save_model

__all__ = ["Chat", "Published", "load_model", "publish", "save_model"]
