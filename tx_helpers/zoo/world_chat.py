"""From completion to conversation: a chat template, instruction data made of the little world, and tuning on them.

    base = world_model("decoder")                               # continues texts
    tuned = tune(base, chats(1500))                             # answers questions, after 80 steps
    ask_all(tuned, ["mia has a cat . … who has a cat ?"])       # ["mia"]
    exact_match(tuned, chats(200, split="test", kinds=["answer"]))

A chat is a list of messages, {"role": "user", "content": "…"}, as in the library transformers. The template writes it
as one text with special tokens between the turns, so that a decoder that only knows how to continue a text can take
part. Tuning is the training of before, on such texts; only the assistant's tokens are scored (Ouyang et al. 2022,
section 3.2, for the data; Touvron et al. 2023, Llama 2, section 3.1, for the loss).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise, takewhile
from typing import Any

from torch import nn

from tx_helpers.generation.search import generate
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types, described
from tx_helpers.text.data import IGNORE, PAD, TextBatch, text_batch
from tx_helpers.text.world import little_world
from tx_helpers.text.world_truth import Truth
from tx_helpers.text.world_vocabulary import ASSISTANT, END, USER, world_id, world_tokenizer
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import linear_warmup_decay, muon

Chat = Sequence[Mapping[str, str]]
Labels = Callable[[list[int], int, int], Sequence[int]]  # ids, <assistant>, <end> -> targets
ROLES = {"user": USER, "assistant": ASSISTANT}
KINDS = ("answer", "summarise", "story")
MOODS = {"": "", "happy ": "positive", "sad ": "negative"}  # of a day, and the sentiment of its story
TUNING_STEPS, TUNING_BATCH, TUNING_RATE = 80, 16, 0.02


def render(chat: Chat, *, add_generation_prompt: bool = False) -> str:
    """The chat as one text: "<user> who has a cat ? <assistant> mia <end>".

    add_generation_prompt: the text ends in <assistant>, and the model is to write what follows. Raises ValueError for
    another role, and for a message that contains one of these tokens: whoever wrote it could speak in another's name.
    """
    check_types("render", Sequence, chat=chat)
    turns = []
    for number, message in enumerate(chat):
        if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
            raise ValueError(f"render: message {number} is {described(message)}, expected a role and a content")
        check_one_of("render", ROLES, role=message["role"])
        if not isinstance(message["content"], str):
            raise ValueError(
                f"render: the content of message {number} is {described(message['content'])}, expected a text"
            )
        if forged := {USER, ASSISTANT, END}.intersection(message["content"].split()):
            raise ValueError(f"render: message {number} contains {min(forged)}, which only the template may write")
        end = [END] if message["role"] == "assistant" else []
        turns += [ROLES[message["role"]], message["content"], *end]
    return " ".join([*turns, ASSISTANT] if add_generation_prompt else turns)


def chat_labels(ids: Sequence[int], assistant: int, end: int) -> list[int]:
    """T − 1 targets: the id that follows where the assistant writes it, its closing `end` included; else IGNORE."""
    targets, speaks = [], False
    for now, following in pairwise(ids):
        speaks = (speaks or now == assistant) and now != end  # is it the assistant who writes the following token?
        targets.append(following if speaks else IGNORE)
    return targets


def all_labels(ids: Sequence[int], assistant: int, end: int) -> list[int]:
    """Every token is scored, the user's, too."""
    return list(ids[1:])


def endless_labels(ids: Sequence[int], assistant: int, end: int) -> list[int]:
    """As `chat_labels`, but the closing `end` is not scored."""
    return [IGNORE if target == end else target for target in chat_labels(ids, assistant, end)]


def chat_ids(chat: Chat, *, labels: Labels = chat_labels) -> tuple[list[int], list[int]]:
    """A chat as (input, target), both of T ids: each target is the id that follows, or IGNORE where it is not scored.

    labels: which tokens are scored, `chat_labels` or a function like it.
    """
    ids = world_tokenizer().encode(render(chat), bos=True)
    return ids[:-1], list(labels(ids, world_id(ASSISTANT), world_id(END)))


def chat_batches(
    chats: Sequence[Chat], batch_size: int = TUNING_BATCH, *, labels: Labels = chat_labels, seed: int = 0
) -> Callable[[int], TextBatch]:
    """batches(step) -> TextBatch, input and target (B, T), padded on the right; each row is a chat drawn at random."""
    check_types("chat_batches", Sequence, chats=chats)
    check_numbers("chat_batches", least=1, whole=True, batch_size=batch_size)
    examples = [chat_ids(chat, labels=labels) for chat in chats]

    def batch(step: int) -> TextBatch:
        chosen = random.Random(f"chats {seed} {step}").choices(examples, k=batch_size)
        return text_batch(chosen)

    return batch


def chats(
    count: int, *, split: str = "train", seed: int = 0, kinds: Sequence[str] = KINDS
) -> list[list[dict[str, str]]]:
    """Chats about texts of the little world, whose answers are true.

    answer     a text and a question, often followed by a second question about the same text
    summarise  a text and "what was said ?"
    story      "how was mia 's day ?", and a text about mia; of a happy day it ends well, of a sad day badly
    """
    check_numbers("chats", least=1, whole=True, count=count)
    check_numbers("chats", whole=True, seed=seed)
    check_types("chats", Sequence, kinds=kinds)
    for kind in kinds:
        check_one_of("chats", KINDS, kind=kind)
    world, drawn = little_world(split), random.Random(f"chats {seed}")
    truths = map(world.truth, world.texts(count, seed=seed))
    return [_chat(drawn.choice(kinds), truth, drawn) for truth in truths]


def _chat(kind: str, truth: Truth, drawn: random.Random) -> list[dict[str, str]]:
    if kind == "summarise":
        return _turns((f"{truth.text} what was said ?", truth.summary))
    if kind == "story":
        mood = drawn.choice([mood for mood, feeling in MOODS.items() if feeling in ("", truth.sentiment)])
        return _turns((f"how was {hero(truth)} 's {mood}day ?", truth.text))
    asked = drawn.sample(list(truth.questions), k=min(drawn.randint(1, 2), len(truth.questions)))
    first, *more = ((question, truth.questions[question]) for question in asked)
    return _turns((f"{truth.text} {first[0]}", first[1]), *more)


def _turns(*turns: tuple[str, str]) -> list[dict[str, str]]:
    pairs = [({"role": "user", "content": asked}, {"role": "assistant", "content": said}) for asked, said in turns]
    return [message for pair in pairs for message in pair]


def hero(truth: Truth) -> str:
    """The name of the person whom a text is about."""
    return next(mention.words for mention in truth.mentions if mention.entity == "hero" and not mention.pronoun)


def tune(
    model: nn.Module,
    chats: Sequence[Chat],
    *,
    labels: Labels = chat_labels,
    steps: int = TUNING_STEPS,
    lr: float = TUNING_RATE,
    seed: int = 0,
    progress: bool = False,
) -> nn.Module:
    """A copy of the model, trained on chats: instruction tuning, also called supervised fine-tuning (SFT).

    labels: what is scored, see `chat_ids`.
    lr: Muon's rate for the matrices of the blocks; AdamW's for the rest is a third of it.
    """
    tuned = deepcopy(model)
    fit(
        tuned,
        chat_batches(chats, labels=labels, seed=seed),
        steps=steps,
        loss=language_model_loss,
        optimizer=muon(tuned, lr, adamw_lr=lr / 3, weight_decay=0.01),
        schedule=linear_warmup_decay(steps, warmup=min(10, steps // 2)),
        seed=seed,
        progress=progress,
    )
    return tuned.eval()


def ask_all(model: nn.Module, asked: Sequence[str | Chat], *, max_new_tokens: int = 60, **options: Any) -> list[str]:
    """The model's answers to texts of a user, or to chats that end in a user's turn; options of `generate`.

    An answer ends where the model writes <end>, or another token of a turn, or after `max_new_tokens`.
    """
    check_types("ask_all", Sequence, asked=asked)
    chats = [[{"role": "user", "content": one}] if isinstance(one, str) else one for one in asked]
    texts = [render(chat, add_generation_prompt=True) for chat in chats]
    return _written(model, texts, [END, USER, ASSISTANT], max_new_tokens, options)


def continue_all(model: nn.Module, texts: Sequence[str], *, max_new_tokens: int = 20, **options: Any) -> list[str]:
    """How the model goes on with texts, without a template; options of `generate`."""
    check_types("continue_all", Sequence, texts=texts)
    return _written(model, texts, ["<eos>"], max_new_tokens, options)


def _written(model: nn.Module, texts: Sequence[str], ends: Sequence[str], longest: int, options: dict) -> list[str]:
    """What the model writes behind each text, up to the first of the tokens `ends`; generation stops at ends[0]."""
    tokenizer = world_tokenizer()
    prompts = [tokenizer.encode(text, bos=True) for text in texts]
    context = getattr(getattr(model, "config", None), "context_length", None)
    if context is not None:
        longest = min(longest, context - max(map(len, prompts)))
    ids = generate(model, prompts, max_new_tokens=longest, end_id=world_id(ends[0]), pad_id=PAD, **options)
    end_ids = {world_id(token) for token in ends}
    return [tokenizer.decode(takewhile(lambda token: token not in end_ids, row)) for row in ids.tolist()]


def exact_match(model: nn.Module, chats: Sequence[Chat]) -> float:
    """The share of the assistant's turns that the model answers word for word, given the true turns before it."""
    turns = [
        (chat[:place], message["content"])
        for chat in chats
        for place, message in enumerate(chat)
        if message["role"] == "assistant"
    ]
    written = ask_all(model, [before for before, _ in turns])
    return sum(text == answer for text, (_, answer) in zip(written, turns, strict=True)) / len(turns)
