"""A matrix as the pixels of one SVG element: thousands of cells that cost no more than one.

The image is a PNG that is stored, not compressed: compressed bytes differ from one zlib to another, and the strict
comparison of notebooks reads this text. Format: https://www.w3.org/TR/png-3
"""

import base64
import struct
import zlib

import numpy as np

from tx_helpers.show.shapes import rgb, shape

MOST = 0xFFFF  # bytes of a block that is stored


def png(levels: np.ndarray, palette: np.ndarray) -> bytes:
    """Levels (T, S), each a row of the palette (up to 256, 3), or (…, 4) with its opacity, both of bytes.

    ValueError for more than 65,535 cells.
    """
    rows = np.insert(levels.astype(np.uint8), 0, 0, axis=1).tobytes()  # 0: a row without filter
    if len(rows) > MOST:
        raise ValueError(f"pixels: {levels.shape} makes {len(rows):,} bytes, expected at most {MOST:,}")
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ MOST) + rows
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", levels.shape[1], levels.shape[0], 8, 3, 0, 0, 0),
        b"PLTE": palette[:, :3].astype(np.uint8).tobytes(),
        b"tRNS": palette[:, 3:].astype(np.uint8).tobytes(),
        b"IDAT": stored + struct.pack(">I", zlib.adler32(rows)),
        b"IEND": b"",
    }
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in chunks.items():
        if kind == b"tRNS" and not content:
            continue
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return data


def pixel_image(levels: np.ndarray, palette: np.ndarray, *, x: float, y: float, width: float, height: float) -> str:
    """The matrix, stretched over a rectangle without blurring its cells."""
    href = "data:image/png;base64," + base64.b64encode(png(levels, palette)).decode()
    place = dict(x=x, y=y, width=width, height=height, preserveAspectRatio="none")
    return shape("image", **place, style="image-rendering: pixelated", href=href)


def two_sided(low: str, high: str) -> np.ndarray:
    """A palette of 255 colours like "#0072B2" from `low` over white, its middle, to `high`."""
    level = np.linspace(-1, 1, 255)[:, None]
    return np.rint(255 + abs(level) * (np.where(level < 0, rgb(low), rgb(high)) - 255)).astype(np.uint8)


def transparent_to(colour: str) -> np.ndarray:
    """A palette (256, 4) of one colour like "#0072B2", from fully transparent to opaque, for pictures on any theme."""
    return np.array([[*rgb(colour), opacity] for opacity in range(256)], dtype=np.uint8)


def strongest(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` rows and columns of a matrix (T, S): each cell is the strongest of those it stands for."""
    for axis, size in enumerate(values.shape):
        if size > most:
            starts = np.arange(most) * size // most
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values
