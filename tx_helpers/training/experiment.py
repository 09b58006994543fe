"""An experiment that takes too long for a notebook: run once, its result kept in a JSON file beside its lesson.

    PETS = Experiment(Path(__file__).with_suffix(".json"), run, "a minute", {"seeds": SEEDS})
    PETS.read()      # the content of the file
    PETS.write()     # runs the experiment, and writes the file

`python -m tx_helpers record` lists the experiments of all lessons, `python -m tx_helpers record adapting/facts` runs
one of them.
"""

import inspect
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from tx_helpers.training.contexts import cpu_threads

PACKAGE = Path(__file__).parents[1]


class Experiment:
    """A file, how its content is made, how long that takes on a quiet core, and the settings that it depends on.

    make      a function without arguments that returns the content. Or a generator function, which can be stopped and
              goes on: it is given what the file holds ({}: nothing), and yields the content whenever it has grown.
              Or "module:function", for one that is loaded only then
    settings  name -> value, as the file must have them, under "about" if it has that, else at its top. They are written
              with the content, with the machine, the date and the seconds of work. None: the content alone is written
    """

    def __init__(
        self, file: Path, make: Callable[..., Any] | str, takes: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.file, self.make, self.takes, self.settings = file, make, takes, settings
        self.name = f"{file.parent.name}/{file.stem}"
        self._content: Any = None

    def read(self, file: str | Path | None = None) -> Any:
        """The content of the experiment's own file, read once; or of another one.

        Raises FileNotFoundError, and ValueError where the file was made with other settings than today's.
        """
        if file is not None:
            return self._checked(Path(file))
        if self._content is None:
            self._content = self._checked(self.file)
        return self._content

    def write(self, file: str | Path | None = None, *, anew: bool = False) -> None:
        """Run the experiment on one thread, and write the file; go on from what it holds, unless `anew`."""
        file, self._content = Path(file or self.file), None
        make = self.make
        if isinstance(make, str):
            module, _, name = make.partition(":")
            make = getattr(import_module(module), name)
        goes_on = inspect.isgeneratorfunction(make)
        with cpu_threads(1):
            began = time.process_time()
            begun = self._checked(file) if goes_on and file.exists() and not anew else {}
            for content in make(begun) if goes_on else [make()]:
                now = time.process_time()
                self._stamp(content, now - began)
                save(content, file)
                began = now

    def _checked(self, file: Path) -> Any:
        again = f"`python -m tx_helpers record {self.name}"
        if not file.exists():
            raise FileNotFoundError(f"{self.name}: {file} is missing; {again}` makes it: {self.takes}")
        content = json.loads(file.read_text(encoding="utf-8"))
        for name, value in json.loads(json.dumps(self.settings or {})).items():
            if (found := content.get("about", content).get(name)) != value:
                raise ValueError(
                    f"{self.name}: {file.name} was made with {name}={found}, expected {value} as in the code; "
                    f"{again} --anew` makes it again: {self.takes}"
                )
        return content

    def _stamp(self, content: Any, seconds: float) -> None:
        if self.settings is not None:
            about = content.get("about", content)
            for name, value in {**self.settings, **machine(), "seconds": 0.0}.items():
                about.setdefault(name, value)
            about["seconds"] = round(about["seconds"] + seconds, 1)


def experiments() -> dict[str, Experiment]:
    """name -> each experiment of the lessons; imports the modules that have one."""
    found: dict[str, Experiment] = {}
    for path in sorted(PACKAGE.glob("lessons/*/**/*.py")):
        if re.search(r"= Experiment\(", path.read_text(encoding="utf-8")):
            module = import_module(".".join(("tx_helpers", *path.relative_to(PACKAGE).with_suffix("").parts)))
            found |= {one.name: one for one in vars(module).values() if isinstance(one, Experiment)}
    return found


def machine() -> dict[str, Any]:
    """The commit of the code, the cores, PyTorch's version, and today's date."""
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE).stdout.strip()
    return {"cores": os.cpu_count(), "commit": commit, "torch": torch.__version__, "date": date.today().isoformat()}


def save(content: Any, file: Path) -> None:
    """Write the whole file or none of it; a list of numbers stands on one line."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    text = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    unfinished = file.with_name(f".{file.name}.unfinished")
    unfinished.write_text(text + "\n", encoding="utf-8")
    os.replace(unfinished, file)
