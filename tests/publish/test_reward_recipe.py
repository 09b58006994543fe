"""`python -m tx_helpers train` with a checker of one's own: it learns what is paid, and names what is wrong."""

import pytest
import torch

from tx_helpers.__main__ import main
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.publish import load_model, save_model
from tx_helpers.publish.reward_recipe import RewardRecipe, read_reward_recipe, train_by_checker
from tx_helpers.text.tokenizers import CharTokenizer

SMALL = """
checker = "pays_b.py"
base = "base.safetensors"
prompts = "prompts.txt"
result = "trained.safetensors"
stop = "."
max_new = 4
updates = 25
rate = 0.01
"""
PAYS_B = "def reward(prompt, answer):\n    assert set(prompt) <= set('abc') and '.' not in answer\n"
PAYS_B += "    return answer.count('b') / max(1, len(answer))\n"


@pytest.fixture
def recipe(tmp_path):
    torch.manual_seed(0)
    letters = CharTokenizer.train(".abc")
    config = TransformerConfig(len(letters), 16, n_layers=1, context_length=8, dropout=0.0)
    save_model(tmp_path / "base.safetensors", DecoderOnly(config), letters)
    (tmp_path / "prompts.txt").write_text("a\nb\nca\n")
    (tmp_path / "pays_b.py").write_text(PAYS_B)
    file = tmp_path / "recipe.toml"
    file.write_text(SMALL)
    return file


def test_a_tiny_model_learns_to_write_what_is_paid(recipe, capsys):
    assert main(["train", str(recipe)]) == 0
    said = capsys.readouterr().out
    assert "update 1: reward 0." in said and "25 updates: reward" in said and "trained.safetensors" in said
    model, tokenizer, card = load_model(recipe.parent / "trained.safetensors")
    p = model(torch.tensor([tokenizer.encode("ca")]))[0, -1].softmax(-1)
    assert p[tokenizer.encode("b")[0]] > 0.8 and card["Trained on reward"] == "pays_b.py, 25 updates"


def test_the_same_recipe_gives_the_same_records(recipe):
    found = read_reward_recipe(recipe)
    assert isinstance(found, RewardRecipe) and found.checker == recipe.parent / "pays_b.py"
    one, other = (train_by_checker(found, progress=False) for _ in range(2))
    assert one == other and one[-1]["reward"] > one[0]["reward"] + 0.3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('checker = "pays_b.py"', 'checker = "none.py"', "No such file"),
        ('checker = "pays_b.py"', 'checker = "prompts.txt"', "prompts.txt', expected a Python file, .py"),
        ('checker = "pays_b.py"', "checker = 3", "recipe: checker is 3, expected a text"),
        ('base = "base.safetensors"', "", "recipe.toml: has no base, expected a file beside the recipe"),
        ('base = "base.safetensors"', 'base = "prompts.txt"', "prompts.txt"),
        ("max_new = 4", "max_new = 9", "the longest prompt and max_new=9 are 11 tokens, but the base model reads 8"),
        ("max_new = 4", "group = 1", "recipe: group=1, expected at least 2"),
        ("max_new = 4", "most = 4", "recipe: recipe has no 'most', expected one of checker, base, prompts"),
        ('stop = "."', 'stop = "ab"', "recipe: stop='ab' is 2 tokens of the base model, expected 1"),
        ("rate = 0.01", 'rate = "x"', "recipe: rate is 'x', expected a number"),
    ],
)
def test_a_wrong_recipe_is_named(recipe, capsys, old, new, said):
    assert SMALL.count(old) == 1
    recipe.write_text(SMALL.replace(old, new))
    assert main(["train", str(recipe)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("checker", "said"),
    [
        ("def judge(prompt, answer): return 1\n", "pays_b.py has judge, expected a function reward(prompt, answer)"),
        ("", "pays_b.py has nothing, expected a function reward(prompt, answer)"),
        ("def reward(prompt, answer): return 'good'\n", "returned 'good', expected a finite number"),
        ("def reward(prompt, answer): return float('nan')\n", "returned nan, expected a finite number"),
        ("def reward(prompt): return 1\n", "reward() takes 1 positional argument but 2 were given"),
        ("def reward(", "pays_b.py cannot be run: SyntaxError"),
    ],
)
def test_a_wrong_checker_is_named(recipe, capsys, checker, said):
    (recipe.parent / "pays_b.py").write_text(checker)
    assert main(["train", str(recipe)]) == 2
    assert said in capsys.readouterr().err


def test_prompts_that_are_none_and_a_plan_are_refused(recipe, capsys):
    assert main(["train", str(recipe), "--dry-run"]) == 2
    assert "but this recipe has a checker" in capsys.readouterr().err
    for text, said in (("\n", "prompts.txt has no line"), ("axe\n", "'x'")):
        (recipe.parent / "prompts.txt").write_text(text)
        assert main(["train", str(recipe)]) == 2
        assert said in capsys.readouterr().err
