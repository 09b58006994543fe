"""A model inside a page: its weights as text, the script that may run there, and data that can run nothing."""

import base64
import hashlib
import json
import zlib
from pathlib import Path

import numpy as np

from tx_helpers.show.stored import default_export

OPEN = (Path(__file__).parent / "open.js").read_text("utf-8")


def packed(data: bytes, width: int = 2) -> str:
    """Numbers of `width` bytes as text: the first bytes of all before the second ones, deflated, in base 64."""
    return base64.b64encode(zlib.compress(np.frombuffer(data, np.uint8).reshape(-1, width).T.tobytes(), 9)).decode()


def unpacked(text: str, width: int = 2) -> bytes:
    """What `packed` was given."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return planes.reshape(width, -1).T.tobytes()


def inert(value: object) -> str:
    """JSON that may stand inside a <script type="application/json">, whatever texts it holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).replace("<", "\\u003c")


def opening(module: str) -> tuple[str, str]:
    """The script of a page that draws with this module, and the Content-Security-Policy that lets it alone run."""
    script = f"{{\nconst stage = {default_export(module)};\n{OPEN}}}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return script, f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src 'self'"


def in_whole_numbers(shapes: list[tuple[int, tuple[int, ...]]], numbers: np.ndarray) -> tuple[bytes, bytes, np.ndarray]:
    """Matrices as whole numbers from −127 to 127 with one scale a row.

    shapes  (offset, shape) of each tensor in `numbers`, float32, in order
    -> the whole numbers (int8), the scales and vectors (float32), and all numbers as the page will have them
    """
    whole, rest, rounded = [], [], numbers.copy()
    for offset, shape in shapes:
        part = numbers[offset : offset + int(np.prod(shape))]
        if len(shape) == 1:
            rest.append(part)
            continue
        rows = part.reshape(shape[0], -1)
        scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(127)
        steps = np.rint(rows / np.where(scales, scales, 1)).astype(np.int8)
        whole.append(steps)
        rest.append(scales)
        rounded[offset : offset + part.size] = (steps * scales).ravel()
    return b"".join(a.tobytes() for a in whole), b"".join(a.astype("<f4").tobytes() for a in rest), rounded
