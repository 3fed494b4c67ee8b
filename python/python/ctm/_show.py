"""What Jupyter shows: listings in colours, arrays as pictures."""

from __future__ import annotations

import html
import os
import re
import struct
import zlib

import numpy as np

from . import _native

_WORD = re.compile(
    r"(?P<comment>;.*)|(?P<directive>\.[a-z_]+)|(?P<number>\b0x[0-9a-fA-F]+\b|\b\d+(?:\.\d+)?f?\b)"
    r"|(?P<register>\b(?:[rcsoibRCT]|PV|PS|KC[01]?|CB|PIX|POS|PARAM)\d*(?:\[[^\]]*\])?(?:\.[rgbaxyzw01_]+)?\b)"
    r"|(?P<op>\b[A-Za-z_][A-Za-z0-9_]*\b)"
)
_COLOURS = {"comment": "#6a737d", "directive": "#6f42c1", "number": "#005cc5", "register": "#22863a", "op": "#d73a49"}


def highlight(text):
    """Assembly as HTML."""
    out, at = [], 0
    for match in _WORD.finditer(text):
        out.append(html.escape(text[at : match.start()]))
        out.append(f'<span style="color:{_COLOURS[match.lastgroup]}">{html.escape(match.group())}</span>')
        at = match.end()
    out.append(html.escape(text[at:]))
    return '<pre style="line-height:1.3">' + "".join(out) + "</pre>"


def png(array):
    """The bytes of a PNG file of an array (rows, columns) or (rows, columns, 1 to 4): numbers 0 to 1 (``uint8``: 0 to 255), NaN black.

    Two channels are red and green. Arrays of other dtypes are stretched from their smallest to their largest number.
    """
    array = np.asarray(array)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or 0 in array.shape:
        raise ValueError(f"an array of shape {array.shape} is no picture; (rows, columns) and (rows, columns, 1 to 4) are")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"an array of dtype {array.dtype} is no picture; numbers are")
    if array.dtype.kind in "iub" and array.dtype != np.uint8:
        low, high = int(array.min()), int(array.max())
        array = (array.astype(np.float64) - float(low)) / float(max(high - low, 1))
    if array.dtype != np.uint8:
        with np.errstate(invalid="ignore", over="ignore"):
            array = np.nan_to_num(np.clip(array.astype(np.float32), 0, 1))
        array = (array * 255 + 0.5).astype(np.uint8)
    rows, columns, channels = array.shape
    if channels == 2:
        array = np.concatenate([array, np.zeros((rows, columns, 1), np.uint8)], axis=2)
    kind = {1: 0, 2: 2, 3: 2, 4: 6}[channels]
    lines = np.zeros((rows, 1 + columns * array.shape[2]), np.uint8)
    lines[:, 1:] = array.reshape(rows, -1)

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", columns, rows, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")


class Picture:
    """An array that shows itself as a picture in Jupyter.

    >>> import numpy as np, ctm
    >>> picture = ctm.Picture(np.zeros((2, 3, 4), np.float32))
    >>> picture.png()[:4]
    b'\\x89PNG'
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     picture.save(os.path.join(folder, "black.png"))
    ...     os.listdir(folder)
    ['black.png']
    """

    def __init__(self, array):
        self.array = np.asarray(array)
        self._png = png(self.array)

    def png(self):
        """The bytes of a PNG file."""
        return self._png

    def save(self, path):
        """Writes the PNG file. An old file is replaced by the whole new one, or stays."""
        _native.save_file(os.fspath(path), self._png)

    def _repr_png_(self):
        return self._png

    def __repr__(self):
        return f"<ctm.Picture {self.array.shape[1]} x {self.array.shape[0]}>"
