"""The course's command line.

`python -m tx_helpers check` says what the course lacks on this machine and how to get it.
`python -m tx_helpers diagnose module:factory` probes a model: what `factory` makes, or the model of this name, in a
module that can be imported where the command is given.
`python -m tx_helpers train RECIPE` trains as a file says, also under torchrun; `--dry-run` says what it will need. A
recipe with a checker trains a saved model on the reward of its own answers.
`python -m tx_helpers record NAME …` runs recorded experiments of the lessons; without a name it lists them.
`python -m tx_helpers publish FILE PAGE` makes a page that writes, of what `tx_helpers.publish.save_model` wrote.
`python -m tx_helpers tidy NOTEBOOK …` puts pictures in place of widgets whose kernel is gone, and takes out the answers
to open predictions: for an editor that reads notebooks by itself, such as VS Code. JupyterLab needs no such help.
`python -m tx_helpers class FOLDER` makes a page of learners' files of progress, and files for gradebooks and graders.
"""

import argparse
import importlib
import inspect
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

from tx_helpers.environment import printable, report

COMMANDS = "check | diagnose module:factory [--help] | train RECIPE [--help] | record [NAME ...] "
COMMANDS += "| publish FILE PAGE [--help] | tidy NOTEBOOK ... | class FOLDER [--help]"
USAGE = f"usage: python -m tx_helpers {COMMANDS}"


def main(arguments: list[str]) -> int:
    """The exit code. `check`: 1 if something is missing; `diagnose`: 1 if a probe finds a mistake; 2: a wrong call.

    `train`: 1 if it was interrupted; `record`: 1 if a file was made with other settings, or a text is missing;
    `publish`: 2 if the file is no model; `tidy`: 1 if a file is no notebook; `class`: 2 if nothing is read.
    """
    name, *rest = arguments or [""]
    if arguments == ["check"]:
        return check()
    if name == "tidy" and rest:
        return tidy(rest)
    commands = {"diagnose": diagnose, "train": train, "record": record, "publish": publish, "class": class_work}
    if name not in commands:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        return commands[name](rest)
    except SystemExit as stop:  # --help, or a wrong call that argparse has reported
        if isinstance(stop.code, str):  # the last words of somebody's own code, such as a checker's
            raise
        return int(stop.code or 0)


def check() -> int:
    """Print what the course needs and what is here."""
    try:
        text, well = report()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(printable(text))
    return 0 if well else 1


def diagnose(arguments: list[str]) -> int:
    """Print the report of `tx_helpers.diagnose` about a model."""
    parser = argparse.ArgumentParser(
        "python -m tx_helpers diagnose",
        description="Find the classic mistakes in anybody's Transformer, without reading its code.",
        epilog="Exit code: 0 no probe finds a mistake, 1 a probe finds one, 2 the model could not be probed.",
    )
    parser.add_argument("model", metavar="module:factory", help="the model, or a function or class that makes it")
    parser.add_argument("--kind", choices=("decoder", "encoder", "seq2seq"), help="default: by the model's arguments")
    parser.add_argument("--length", type=int, default=16, help="positions to probe (default: 16)")
    parser.add_argument("--pad-id", type=int, help="the id of padding, if the model knows one")
    parser.add_argument("--source-pad-id", type=int, help="the source's, if it is another one")
    parser.add_argument("--pad-side", choices=("right", "left"), default="right", help="where padding stands")
    parser.add_argument("--forward", metavar="module:name", help="a function: (model, ids) -> logits (B, T, V)")
    parser.add_argument("--data", metavar="module:name", help="a function that makes a batch")
    parser.add_argument("--loss", metavar="module:name", help="the loss function of logits and targets")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--trained", action="store_const", const=True, help="leave out what only fresh models must keep")
    state.add_argument(
        "--fresh", dest="trained", action="store_const", const=False, help="count that as a mistake, too"
    )
    options = vars(parser.parse_args(arguments))
    try:
        from tx_helpers.diagnose.diagnosis import diagnose as probed  # needs torch, without which `check` must work

        for name in ("forward", "data", "loss"):
            options[name] = options[name] and imported(options[name])
        report_of_model = probed(made(imported(options.pop("model"))), **options)
    except (Exception, SystemExit) as error:  # a factory that ends the process has made no model
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(report_of_model)
    return 1 if report_of_model.wrong else 0


def train(arguments: list[str]) -> int:
    """Train as a recipe says, or print what that will need.

    SIGTERM, as Slurm sends it, ends the training as a Ctrl-C does, after its step; a second SIGTERM changes nothing.
    """
    parser = argparse.ArgumentParser(
        "python -m tx_helpers train",
        description="Train a language model as a TOML file says; go on where its last checkpoint is.",
        epilog="Several processes: torchrun --nproc-per-node N -m tx_helpers train RECIPE. "
        "Exit code: 0 all steps are done, 1 it was interrupted and has a checkpoint, 2 the recipe is wrong.",
    )
    parser.add_argument("recipe", metavar="RECIPE", help="its keys: tx_helpers.zoo.recipe_file.Recipe, or RewardRecipe")
    parser.add_argument("--dry-run", action="store_true", help="print memory, FLOPs, tokens and time, and do not train")
    fewest = "with --dry-run: for so many processes (default: the fewest that the recipe allows)"
    parser.add_argument("--processes", type=int, help=fewest)
    options = parser.parse_args(arguments)
    from tx_helpers.zoo.recipe_file import plan, read_recipe, read_toml
    from tx_helpers.zoo.recipe_file import train as trained

    try:
        if "checker" in read_toml(Path(options.recipe)):
            return train_on_checker(options.recipe, options.dry_run)
        recipe = read_recipe(options.recipe)
        if options.dry_run:
            processes = recipe.parallel.fewest if options.processes is None else options.processes
            print(printable(plan(recipe, processes=processes)))
            return 0
        before = signal.signal(signal.SIGTERM, _interrupt_once)
        try:
            run = trained(recipe)
        finally:
            signal.signal(signal.SIGTERM, before)
    except (ValueError, FileNotFoundError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    if run.layout.first and run.losses:
        print(f"step {run.step}: loss {run.losses[-1]:.4f}; checkpoints in {recipe.checkpoint}")
    return 1 if run.interrupted else 0


def train_on_checker(file: str, dry_run: bool) -> int:
    """Train on the reward of the user's own checker."""
    from tx_helpers.publish.reward_recipe import read_reward_recipe, train_by_checker

    recipe = read_reward_recipe(file)
    if dry_run:
        raise ValueError(f"{file}: --dry-run plans a training on texts, but this recipe has a checker")
    records = train_by_checker(recipe)
    print(f"{len(records)} updates: reward {records[-1]['reward']:.3f}; the model is in {recipe.result}")
    return 0 if len(records) == recipe.updates else 1


def record(arguments: list[str]) -> int:
    """Run recorded experiments and write their files, or list them."""
    parser = argparse.ArgumentParser(
        "python -m tx_helpers record",
        description="Run recorded experiments of the lessons, and write their files; without a name, list them.",
        epilog="A long one can be stopped, and goes on from what its file holds.",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="as listed: the lesson and the file, adapting/facts")
    parser.add_argument("--anew", action="store_true", help="do not go on from what the file holds")
    parser.add_argument("--to", metavar="FILE", type=Path, help="write the one that is named there")
    options = parser.parse_args(arguments)
    from tx_helpers.training.experiment import experiments

    known = experiments()
    for name, one in known.items() if not options.names else ():
        print(f"{name:40} {one.takes:20} {one.file}")
    if unknown := [name for name in options.names if name not in known]:
        print(f"record: no experiment is called {', '.join(unknown)}, expected {', '.join(known)}", file=sys.stderr)
        return 2
    if options.to and len(options.names) != 1:
        print("record: --to goes with one NAME", file=sys.stderr)
        return 2
    try:
        for name in options.names:
            known[name].write(options.to, anew=options.anew)
    except (ValueError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def publish(arguments: list[str]) -> int:
    """Make the page of a saved model."""
    parser = argparse.ArgumentParser(
        "python -m tx_helpers publish",
        description="Make one file in which a trained model writes, without a server and without a network.",
        epilog="Exit code: 0 the page is written, 2 the file is no model that a page can compute.",
    )
    parser.add_argument("file", metavar="FILE", help="a .safetensors file that tx_helpers.publish.save_model wrote")
    parser.add_argument("page", metavar="PAGE", help="the file to write: mine.html")
    parser.add_argument("--title", default="My model", help="its heading")
    parser.add_argument("--prompt", default="", help="what stands in the text field at first")
    parser.add_argument("--weights", choices=("float32", "float16", "int8"), default="float16", help="default: float16")
    options = vars(parser.parse_args(arguments))
    from tx_helpers.publish.page import publish as published
    from tx_helpers.publish.saved import load_model

    try:
        model, tokenizer, card = load_model(options.pop("file"))
        print(published(model, tokenizer, options.pop("page"), card=card, **options))
    except (ValueError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


def tidy(files: list[str]) -> int:
    """Put notebooks to sleep in their files; all are tried, also where one of them cannot be read."""
    from tx_helpers import opening

    code = 0
    for file in files:
        try:
            changed = opening.tidy(Path(file))
            print(f"{file}: {'tidied' if changed else 'nothing to do'}")
        except (OSError, ValueError) as error:
            print(f"{file}: {error}", file=sys.stderr)
            code = 1
    return code


def class_work(arguments: list[str]) -> int:
    """Report on a folder of learners' files, or write a notebook's exercises for a grader into it."""
    about = 'Make class.html and class.csv of learners\' files of progress, export("progress.json").'
    parser = argparse.ArgumentParser("python -m tx_helpers class", description=about)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the files are; with a grader: to write to")
    parser.add_argument("--to", metavar="FOLDER", type=Path, default=Path(), help="where to write (default: here)")
    for tool in ("Moodle", "Canvas"):
        parser.add_argument(f"--{tool.lower()}", metavar="FILE", type=Path, help=f"also a CSV for {tool}'s gradebook")
    grader = parser.add_mutually_exclusive_group()
    for tool in ("otter", "nbgrader"):
        grader.add_argument(f"--{tool}", metavar="NN", help=f"instead: the exercises of notebook NN for {tool}")
    options = parser.parse_args(arguments)
    from tx_helpers.exercises import class_page, class_work, graders

    try:
        if options.otter or options.nbgrader:
            number, otter = options.otter or options.nbgrader, bool(options.otter)
            told = list(map(str, graders.write_exercises(number, options.folder, otter=otter)))
        else:
            students, told = class_work.read_class(options.folder)
            told += map(str, class_page.write_class(students, told, options.to))
            for file in filter(None, (options.moodle, options.canvas)):
                told.append(str(class_page.write_gradebook(students, file, canvas=file is options.canvas)))
    except (ValueError, OSError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    print(printable("\n".join(told)))
    return 0


def _interrupt_once(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.raise_signal(signal.SIGINT)


def imported(name: str) -> Any:
    """module:name -> what has this name; modules are looked for in the current folder first."""
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        raise ValueError(f"diagnose: {name!r}, expected module:name")
    if module.endswith(".py") or "/" in module or "\\" in module:
        form = f"{Path(module).stem}:{attribute}"
        raise ValueError(f"diagnose: {name!r} is a path, expected module:name, as in {form}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    found = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


def made(thing: Any) -> Any:
    """The model that a function or class without required arguments makes; anything else is the model itself."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing) or isinstance(thing, partial)):
        return thing
    parameters = inspect.signature(thing).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needs = [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in variable]
    if needs and inspect.isclass(thing):
        raise ValueError(f"diagnose: {thing.__name__} needs {', '.join(needs)}: name a function that makes it")
    return thing if needs else thing()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
