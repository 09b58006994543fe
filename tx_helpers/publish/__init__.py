"""Your own model as one page that anybody can open, without a server and without a network.

publish(model, tokenizer, "mine.html", title="Small talk", card={"Trained on": "my own letters"})
"""

from tx_helpers.publish.page import Chat, Published, publish

__all__ = ["Chat", "Published", "publish"]
