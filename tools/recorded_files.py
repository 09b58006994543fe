"""What the tools that record training runs share: where a file was made, how it goes on, how it is written."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import torch

from notebook_frame import ROOT


def machine() -> dict[str, Any]:
    """The commit of the code, the cores, and PyTorch's version."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT)
    return {"cores": os.cpu_count(), "commit": commit.stdout.strip(), "torch": torch.__version__}


def begun(settings: dict[str, Any], file: Path) -> dict[str, Any]:
    """The file, if its runs were made with these settings; otherwise an empty one."""
    old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"about": {}}
    if {name: old["about"].get(name) for name in settings} == settings:
        return old
    return {"about": settings | machine() | {"seconds": 0.0}, "runs": []}


def write(content: dict[str, Any], file: Path) -> None:
    """The whole file or none of it; a list of numbers stands on one line."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    unfinished = file.with_name(f".{file.name}.unfinished")
    unfinished.write_text(_short_lists(text) + "\n", encoding="utf-8")
    os.replace(unfinished, file)


def _short_lists(text: str) -> str:
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
