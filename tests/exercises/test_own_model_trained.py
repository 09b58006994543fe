"""A learner who types every class of notebook 08 ends with a translator and a writer made of these classes alone."""

from pathlib import Path

import nbclient
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from notebook_frame import ROOT
from tx_helpers.exercises import kept
from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.own import your_own
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.number_words import number_pairs
from tx_helpers.text.stories import stories
from tx_helpers.zoo.recipes import train_translator, train_writer

pytestmark = pytest.mark.thorough
STEPS = 300  # of the writer


@pytest.fixture(scope="module", autouse=True)
def typed(tmp_path_factory) -> Path:
    """The folder of a learner who has run notebook 08 in a kernel, with each class typed as its solution has it."""
    folder = tmp_path_factory.mktemp("learner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TX_PROGRESS", str(folder / "progress.json"))
        notebook = new_notebook(cells=[new_code_cell(source) for source in cells()])
        nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute(cwd=str(ROOT / "notebooks"))
        yield folder


def cells() -> list[str]:
    """Notebook 08's code up to its last inline exercise, without explorers; the package's own classes never appear."""
    (path,) = (ROOT / "notebooks").glob("08_*.ipynb")
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    names = {f"exercise-{name}": name for name in kept.PARTS}
    last = max(place for place, cell in enumerate(code) if cell.id in names)
    sources = []
    for cell in code[: last + 1]:
        source = cell.source
        if name := names.get(cell.id):
            answer = find(name).solution_source().split("\n\n\n")[-1]
            source = f'{answer}\n\n\n{name} = your_turn("{name}", {name})'
        sources.append(source)
    return sources


def own(name: str, capsys) -> type:
    made = your_own(name)
    assert capsys.readouterr().out == f"{name}: yours, as you wrote it in notebook 08.\n"
    parts = {type(part).__module__ for part in made(9, 9).modules()} if name == "Transformer" else {made.__module__}
    assert {part.partition(".")[0] for part in parts if not part.startswith("torch.nn")} == {"my_model"}
    return made


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_learners_translator_translates(seed, capsys):
    Transformer = own("Transformer", capsys)
    translator = train_translator(
        seed=seed,
        new_model=lambda data: Transformer(len(data.source_tokenizer), len(data.target_tokenizer)),
        progress=False,
    )
    assert translator.exact_match(number_pairs().held_out) >= 0.99


def test_the_learners_writer_is_as_good_as_the_packages_of_the_same_sizes(capsys):
    """Equal: sizes, text, steps, batches, optimizer and seed. The first values differ."""
    GPT = own("GPT", capsys)
    text, unseen = stories(2000, seed=0), stories(200, seed=1)
    plan = dict(steps=STEPS, progress=False)
    mine = train_writer(text, new_model=lambda tokenizer: GPT(len(tokenizer)), **plan)
    package = train_writer(
        text,
        new_model=lambda tokenizer: DecoderOnly(TransformerConfig(len(tokenizer), d_model=128, n_layers=4)),
        **plan,
    )
    assert abs(mine.loss(unseen) - package.loss(unseen)) < 0.05
    assert len(mine.write("One day", 100)) > 50
