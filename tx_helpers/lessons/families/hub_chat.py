"""How a public chat model is loaded and asked with the library transformers (5.23), as text to copy.

    print(HUB_CHAT)

The course itself does not need transformers: the text stands in notebook 14 as a block to copy, and the tests run it on
a tiny chat model that they make on the spot. Much of the code on the web was written for older versions. What changed:

    torch_dtype=…                is now dtype=…; by default the type in which the weights are stored
    device_map="auto"            needs the package accelerate
    apply_chat_template(…)       returns a BatchEncoding (ids and attention mask), no longer a tensor of ids
    sanitize_control_tokens      is new in 5.20: without it, a user who types special tokens can speak as the assistant
"""

HUB_CHAT = """
from importlib.util import find_spec

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "HuggingFaceTB/SmolLM2-135M-Instruct"  # a model of the hub, or a folder on your disk
revision = "main"  # better: the hash of a commit, so that code and weights stay the same
tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
model = AutoModelForCausalLM.from_pretrained(
    name,
    revision=revision,
    dtype="auto",  # the precision in which the weights are stored
    device_map="auto" if find_spec("accelerate") else None,  # with accelerate: on all GPUs; without it: on the CPU
    attn_implementation="sdpa",  # PyTorch's fused attention; "eager" where you need the attention weights
)
messages = [{"role": "user", "content": "Who has a cat?"}]
inputs = tokenizer.apply_chat_template(
    messages,
    add_generation_prompt=True,  # ends where the assistant begins to write
    sanitize_control_tokens=True,  # special tokens inside a message are plain text
    return_tensors="pt",
).to(model.device)
with torch.inference_mode():
    ids = model.generate(**inputs, max_new_tokens=40, do_sample=True, temperature=0.7, top_p=0.9)
written = ids[0, inputs["input_ids"].shape[1] :]  # without the prompt
answer = tokenizer.decode(written, skip_special_tokens=True)
messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "And who else?"}]  # the next turn
print(answer)
""".strip()
