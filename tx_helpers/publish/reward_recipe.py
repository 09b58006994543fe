"""A training on a checker of one's own as a file: `python -m tx_helpers train RECIPE`, where the recipe has `checker`.

    checker = "my_checker.py"       # a Python file with  def reward(prompt, answer) -> float
    base = "mine.safetensors"       # a decoder that `publish.saved.save_model` wrote
    prompts = "prompts.txt"         # one a line
    result = "trained.safetensors"  # written at the end
    updates = 40

All keys are those of `RewardRecipe`; files are looked for beside the recipe. Each update lets the model write `group`
answers to each of `problems` prompts; `reward` is given both as texts, the answer without `stop`, and the group
objective of `training.reward` does the rest. The file of the checker is run as the Python that it is: use your own.
"""

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_types, described
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.publish.saved import load_model, save_model
from tx_helpers.training.reward import train_on_reward
from tx_helpers.zoo.recipe_file import read_text, read_toml, with_values

Judge = Callable[[str, str], float]


@dataclass(frozen=True)
class RewardRecipe:
    """What the file says; the sizes are those of `train_on_reward`."""

    checker: Path
    base: Path
    prompts: Path
    result: Path
    stop: str = "\n"  # one token, which ends an answer
    max_new: int = 32
    updates: int = 40
    problems: int = 8
    group: int = 8
    rate: float = 1e-4
    kl_weight: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = dict(max_new=self.max_new, updates=self.updates, problems=self.problems)
        check_numbers("recipe", sizes, least=1, whole=True)
        check_numbers("recipe", least=2, whole=True, group=self.group)
        check_numbers("recipe", least=0, whole=True, seed=self.seed)
        check_numbers("recipe", least=0, less_than=math.inf, rate=self.rate, kl_weight=self.kl_weight)
        check_types("recipe", str, stop=self.stop)


def read_reward_recipe(file: str | Path) -> RewardRecipe:
    """Read a recipe. Raises ValueError that names the key which is unknown, wrong or missing, and FileNotFoundError."""
    file = Path(file)
    found, files = read_toml(file), {}
    for name in ("checker", "base", "prompts", "result"):
        if name not in found:
            raise ValueError(f"{file}: has no {name}, expected a file beside the recipe")
        check_types("recipe", str, **{name: found[name]})
        files[name] = file.parent / found[name]
    return with_values(RewardRecipe(**files), found | files, "recipe")


def train_by_checker(recipe: RewardRecipe, *, progress: bool = True) -> list[dict[str, float]]:
    """Train, write `result`, and return a record of each update, as `train_on_reward` does.

    Raises ValueError: no function `reward`, a reward that is no finite number, prompts that the model cannot read.
    """
    judge, known = checker_of(recipe.checker), load_model(recipe.base)
    model, tokenizer = known.model, known.tokenizer
    if not isinstance(model, DecoderOnly):
        raise ValueError(f"recipe: base={str(recipe.base)!r} holds an {type(model).__name__}, expected a DecoderOnly")
    stop = tokenizer.encode(recipe.stop)
    if len(stop) != 1 or tokenizer.decode(stop) != recipe.stop:
        raise ValueError(f"recipe: stop={recipe.stop!r} is {len(stop)} tokens of the base model, expected 1")
    texts = [line for line in read_text(recipe.prompts).splitlines() if line]
    ids = [torch.tensor(tokenizer.encode(text)) for text in texts]
    if not ids:
        raise ValueError(f"recipe: {recipe.prompts.name} has no line, expected a prompt on each")
    longest, room = max(map(len, ids)) + recipe.max_new, model.config.context_length
    if room is not None and longest > room:
        needed = f"the longest prompt and max_new={recipe.max_new} are {longest} tokens"
        raise ValueError(f"recipe: {needed}, but the base model reads {room}")

    def draw(count: int, generator: torch.Generator) -> Tensor:
        """Prompts as long as one that is drawn first."""
        length = len(ids[int(torch.randint(len(ids), (1,), generator=generator))])
        alike = torch.stack([row for row in ids if len(row) == length])
        return alike[torch.randint(len(alike), (count,), generator=generator)]

    def reward(rows: Tensor, answer: Tensor) -> Tensor:
        found, start = [], int(answer[0].int().argmax())
        for row, own in zip(rows, answer, strict=True):
            prompt = tokenizer.decode(row[:start].tolist())
            said = tokenizer.decode(row[own].tolist()).removesuffix(recipe.stop)
            found.append(_paid(judge, recipe.checker, prompt, said))
        return torch.tensor(found)

    def told(update: int, record: dict[str, float]) -> None:
        if progress and (update % 10 == 0 or update in (1, recipe.updates)):
            print(f"update {update}: reward {record['reward']:.3f}, length {record['length']:.1f}")

    sizes = ("max_new", "updates", "problems", "group", "rate", "kl_weight", "seed")
    options: dict[str, Any] = {name: getattr(recipe, name) for name in sizes}
    records = train_on_reward(model, draw, reward, stop=stop[0], after=told, **options)
    card = known.card | {"Trained on reward": f"{recipe.checker.name}, {len(records)} updates"}
    save_model(recipe.result, model, tokenizer, card)
    return records


def checker_of(file: Path) -> Judge:
    """The function `reward` of a Python file. Raises ValueError, and FileNotFoundError."""
    if file.suffix != ".py":
        raise ValueError(f"recipe: checker={str(file)!r}, expected a Python file, .py")
    read_text(file)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"recipe: {file.name} cannot be run: {type(error).__name__}: {error}") from error
    judge = getattr(module, "reward", None)
    if not callable(judge):
        names = [name for name in vars(module) if not name.startswith("_")]
        has = ", ".join(names) or "nothing"
        raise ValueError(f"recipe: {file.name} has {has}, expected a function reward(prompt, answer)")
    return judge


def _paid(judge: Judge, file: Path, prompt: str, answer: str) -> float:
    asked = f"recipe: {file.name}: reward({prompt!r}, {answer!r})"
    try:
        found: Any = judge(prompt, answer)
    except Exception as error:
        raise ValueError(f"{asked} failed: {type(error).__name__}: {error}") from error
    if not isinstance(found, (bool, int, float)) or not math.isfinite(found):
        raise ValueError(f"{asked} returned {described(found)}, expected a finite number")
    return float(found)
