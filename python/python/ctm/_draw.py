"""Draws: vertex and pixel programs on NumPy arrays."""

from __future__ import annotations

import base64
import os

import numpy as np

from . import _arrays, _native, _show
from ._errors import ArgumentError

FILES = (".gsh", ".psh", ".vsh", ".x1k", ".elf", ".hex")
TARGETS = {"uint8", "float32", "uint32", "int32"}


class Drawn(dict):
    """What a draw gave: its targets by name (``"pix0"``), arrays of shape (rows, columns, 4).

    ``depth`` has the depths, shape (rows, columns), ``None`` without a depth target; ``counts`` a dictionary of counts; ``findings`` what seems wrong and did
    not keep it from being drawn, lines of text.

    >>> drawn = ctm.draw(".output o = o0\\n.const k = c0\\nmov o, k", (4, 4), {"position": np.float32([[-1, -1], [3, -1], [-1, 3]])}, {"k": [1, 0, 0, 1]})
    >>> drawn["pix0"][0, 0], drawn.depth.shape, drawn.counts["pixels"], drawn.findings
    (array([255,   0,   0, 255], dtype=uint8), (4, 4), 16, [])
    """

    def __init__(self, targets, depth, counts, findings):
        super().__init__(targets)
        self.depth = depth
        self.counts = counts
        self.findings = findings

    def _repr_html_(self):
        parts = []
        for name, array in self.items():
            parts.append(f"<p><code>{name}</code>: {array.dtype}, shape {array.shape}</p>")
            if array.dtype.kind != "i" and array.dtype != np.uint32:
                data = base64.b64encode(_show.png(array)).decode()
                parts.append(f'<img style="max-width:100%" src="data:image/png;base64,{data}">')
        return "".join(parts)


def draw(
    programs,
    size,
    attributes=None,
    constants=None,
    textures=None,
    targets=None,
    *,
    indices=None,
    mesh=None,
    depth=1.0,
    topology=None,
    instances=1,
    samples=1,
    blend="none",
    cull="none",
    engine=None,
    instructions=None,
    seconds=None,
    check=False,
    progress=None,
):
    """Draws with a vertex and a pixel program, and gives what the targets hold then as NumPy arrays.

    Parameters
    ----------
    programs : (Program, Program), Program, path or bytes
        An R700 vertex and an R700 pixel program, in this order; a GFD container that holds both, as a path (``pathlib.Path("menu.gsh")``, or the text of one that ends
        in ``.gsh``) or as bytes; or an X1K pixel program, whose vertices come transformed (clip space). Other strings are assembled. Attributes, constants
        and textures go by the names that a container gives them.
    size : (rows, columns)
        Of all targets, 1 to 16384 each. Row 0 is the top one.
    attributes : dict
        What the vertex program takes, by the attribute's name or location: arrays of shape ``(vertices,)`` or ``(vertices, channels)`` with 1 to 4 channels,
        all of one length; missing channels are 0, 0, 1. ``float32`` is taken as it is, as is ``uint8`` and ``uint16``, which stand for 0 to 1 (255 of ``uint8`` is
        1.0: ``.astype(np.float32)`` keeps the numbers); ``float64``, ``float16``,
        ``bool`` and lists of numbers are converted to ``float32``. X1K programs take ``position``, ``texcoord``, ``colour`` and ``normal``; their
        temporaries r0 to r3 hold texture coordinate, colour, normal and position at the start.
    constants : dict
        By the uniform's name, ``c7`` or ``cb0[3]``; ``vs:`` or ``ps:`` in front chooses a program. Numbers, four to a constant: a matrix of shape (4, 4) goes
        row by row.
    textures : dict
        By the sampler's name or ``t0``: pictures of shape (rows, columns) or (rows, columns, channels), row 0 first, read linearly and repeating. A
        :class:`Sampler` says otherwise. ``uint8`` and ``uint16`` stand for 0 to 1.
    targets : dict, optional
        ``"pix0"`` to ``"pix7"``: a dtype (``uint8``, which stands for 0 to 1, ``float32``, ``uint32``, ``int32``), or ``(dtype, colour)`` with the colour before the draw.
        Without it ``pix0`` of ``uint8``, black.
    indices : array of integers, optional
        The order of the vertices; one after the other without it.
    mesh : str, optional
        In place of ``attributes`` a built-in mesh (``triangle``, ``quad``, ``cube``, ``sphere``, ``torus``, ``grid``) or a file (OBJ, glTF, NPY).
    depth : float or None
        The depth before the draw; nearer pixels hide farther ones. ``None``: there is no depth target.
    topology : str, optional
        ``triangles`` without it; ``points``, ``lines``, ``line_strip``, ``triangle_strip``, ``triangle_fan``, ``quads``, ... as in ``docs/draw-jobs.md``.
    instances : int
        How often the vertices are drawn.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8. What comes back is their mean.
    blend : {"none", "alpha", "premultiplied", "add", "multiply"}
        How colours go over what is there.
    cull : {"none", "front", "back"}
        Which faces are not drawn.
    engine, instructions, seconds, check, progress
        As for :func:`run`.

    Returns
    -------
    Drawn
        A dictionary of arrays of shape (rows, columns, 4), with ``depth``, ``counts`` and ``findings``.

    Raises
    ------
    ArgumentError, ProgramError
        Something does not fit; nothing has been drawn.
    Fault
        A program did wrong, or used up what it was given.

    >>> corners = np.float32([[-1, -1], [3, -1], [-1, 3]])
    >>> program = ctm.Program(".output o = o0\\n.const k = c0\\nmov o, k")
    >>> drawn = ctm.draw(program, (2, 3), {"position": corners}, {"k": [1, 0.5, 0, 1]})
    >>> drawn["pix0"].shape, drawn["pix0"][0, 0].tolist()
    ((2, 3, 4), [255, 128, 0, 255])
    """
    from . import Program, Sampler, _items, _progress

    programs = list(programs) if isinstance(programs, (tuple, list)) else [programs]
    container = None
    if len(programs) == 1 and _is_file(programs[0]):
        data, name = _file(programs[0])
        if data.startswith(b"Gfx2"):
            container, programs = (data, name), []
    programs = [_program(one) for one in programs]
    for one in programs:
        if not isinstance(one, Program):
            raise TypeError(f"a program is {type(one).__name__}, it must be a ctm.Program or its text")
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ArgumentError(f"the size is {size!r}, it is (rows, columns)")
    rows, columns = (_arrays.integer(n, "a side of the picture", 1, 16384) for n in size)
    vertices = []
    for name, value in _items(attributes, "attributes"):
        array = _arrays.numbers(value, name, "x1k")
        if array.ndim > 2 or array.size == 0 or array.ndim == 2 and array.shape[1] > 4:
            raise ArgumentError(f"attribute `{name}` has shape {array.shape}; (vertices,) and (vertices, 1 to 4 channels) are possible")
        vertices.append((name, array.reshape(-1), 1 if array.ndim == 1 else array.shape[1]))
    pictures = []
    for name, value in _items(textures, "textures"):
        how = None
        if isinstance(value, Sampler):
            how, value = (value.how, [float(b) for b in value.border]), value.array
        array = _arrays.numbers(value, name, "x1k")
        if array.ndim not in (2, 3) or array.size == 0 or array.ndim == 3 and array.shape[2] > 4:
            raise ArgumentError(f"texture `{name}` has shape {array.shape}; (rows, columns) and (rows, columns, 1 to 4 channels) are possible")
        shape = array.shape if array.ndim == 3 else (*array.shape, 1)
        pictures.append((name, array.reshape(-1), shape, how))
    wanted = [_target(name, value) for name, value in _items(targets or {"pix0": np.uint8}, "targets")]
    if len({number for number, *_ in wanted}) != len(wanted):
        raise ArgumentError("a target is named twice")
    arrays, depths, counts, found = _native.draw(
        [one._native for one in programs],
        container,
        (rows, columns),
        None if mesh is None else str(mesh),
        vertices,
        None if indices is None else _order(indices),
        [(name, _numbers(value, name)) for name, value in _items(constants, "constants")],
        pictures,
        wanted,
        None if depth is None else float(depth),
        (
            topology or "",
            _arrays.integer(instances, "`instances`", 0, 1000000),
            str(blend),
            str(cull),
            _arrays.integer(samples, "`samples`", 1, 8),
        ),
        (
            engine,
            None if instructions is None else _arrays.integer(instructions, "`instructions`", 0, 2**63),
            None if seconds is None else float(seconds),
            bool(check),
        ),
        _progress(progress),
    )
    types = {number: np.dtype(dtype) for number, dtype, _ in wanted}
    return Drawn(
        {f"pix{number}": array.view(types[number]).reshape(rows, columns, 4) for number, array in arrays},
        None if depths is None else depths.reshape(rows, columns),
        counts,
        found,
    )


def _is_file(value):
    """Whether a program is given as a path or as a file's bytes: the text of a path is one line that ends in an extension of programs."""
    if isinstance(value, str):
        return "\n" not in value and value.endswith(FILES)
    return isinstance(value, (bytes, bytearray, memoryview, os.PathLike))


def _file(value):
    """Bytes and name."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), "programs"
    return _native.read_file(os.fspath(value), "program"), os.fspath(value)


def _program(value):
    from . import Program

    if _is_file(value):
        return Program.read(*_file(value))
    return Program(value) if isinstance(value, str) else value


def _target(name, value):
    """Number, dtype and colour before the draw."""
    if len(name) != 4 or not name.startswith("pix") or name[3] not in "01234567":
        raise ArgumentError(f"there is no target `{name}`; there are pix0 to pix7")
    dtype, colour = value if isinstance(value, tuple) and len(value) == 2 else (value, (0, 0, 0, 1))
    try:
        dtype = np.dtype(dtype).newbyteorder("=").name
        colour = [float(c) for c in colour]
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"target `{name}`: {error}") from None
    if dtype not in TARGETS:
        raise ArgumentError(f"target `{name}` cannot have dtype {dtype}; uint8, float32, uint32 and int32 are possible")
    if len(colour) != 4:
        raise ArgumentError(f"the colour of target `{name}` has {len(colour)} numbers, it has four")
    return int(name[3]), dtype, colour


def _order(indices):
    array = np.asarray(indices)
    if array.dtype.kind not in "iu" or array.size and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise ArgumentError(f"`indices` has dtype {array.dtype}; integers of 0 to 4294967295 are possible")
    return np.ascontiguousarray(array.reshape(-1), dtype=np.uint32)


def _numbers(value, name):
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub" or array.size == 0:
            raise TypeError(f"dtype {array.dtype}, shape {array.shape}")
        with np.errstate(over="ignore", invalid="ignore"):
            return np.ascontiguousarray(array, dtype=np.float32).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"constant `{name}` is {value!r}, it must be numbers ({error})") from None
