"""Runs, assembles and checks programs for ATI's X1K (R5xx) and R700 shader processors, without a card.

>>> import numpy as np
>>> import ctm
>>> program = ctm.Program('''
... .input  x = s0
... .output y = o0
... .const  k = c0
...   tex r1, x, r0.rg          ; r0 holds the processor's column and row
...   mad y, r1, k, k
... ''')
>>> ctm.run(program, 4, {"x": np.float32([1, 2, 3, 4])}, {"k": 10}, {"y": 1})["y"]
array([20., 30., 40., 50.], dtype=float32)

:class:`Program` holds a program, :func:`run` runs it on NumPy arrays, :func:`draw` draws with vertex and pixel programs, :class:`Job` runs what ``ctm run`` runs, :class:`Device` takes command
buffers as the CTM interface has them, and :class:`Capture` draws what a Radeon's driver submitted. What is wrong is raised as an :class:`Error` whose ``findings`` say what, where and what is allowed.
"""

from __future__ import annotations

import base64
import os

import numpy as np

from . import _arrays, _native, _show
from ._capture import Capture, Replayed
from ._draw import Drawn, draw
from ._errors import ArgumentError, Cancelled, Error, Fault, Finding, ProgramError
from ._errors import findings as _findings
from ._native import __version__, command_text, command_words
from ._show import Picture

__all__ = [
    "ArgumentError",
    "Cancelled",
    "Capture",
    "Device",
    "Drawn",
    "Error",
    "Fault",
    "Finding",
    "Job",
    "Picture",
    "Plane",
    "Program",
    "ProgramError",
    "Progress",
    "Replayed",
    "Result",
    "Sampler",
    "command_text",
    "command_words",
    "draw",
    "run",
]


class Program:
    """A program of the X1K or of the R700.

    ``Program(text)`` assembles X1K assembly, R700 assembly, or Direct3D ``ps_3_0`` assembly, which is compiled for the X1K; ``isa="x1k"`` or
    ``isa="r700"`` says which, where the text does not. :meth:`read` takes a file's bytes, :meth:`open` a file. Programs can be pickled.

    Raises :class:`ProgramError` with every finding when the text is wrong.

    >>> ctm.Program(".output o = o0\\nmov o, 1").isa
    'x1k'
    >>> try:
    ...     ctm.Program("mvo o0, 1", isa="x1k")
    ... except ctm.ProgramError as error:
    ...     print(error.findings[0].rule, error.findings[0].line)
    mnemonic 1

    What a program says of itself:

    >>> program = ctm.Program(".input x = s0\\n.output y = o0\\n.const k = c0\\ntex r1, x, r0.rg\\nmul y, r1, k")
    >>> program.inputs, program.outputs, program.constants, program.scatters, program.warnings
    ({'x': 's0'}, {'y': 'o0'}, {'k': 'c0'}, False, [])
    >>> len(program), program.words.shape, program.words.dtype.name
    (2, (2, 6), 'uint32')
    >>> program.source.splitlines()[0], ".output y = o0" in program.listing
    ('.input x = s0', True)

    As files, and back; words know no names:

    >>> program.to_elf()[:4], len(program.to_bytes()), program.to_hex().split()[0] == f"{program.words[0, 0]:08X}"
    (b'\\x7fELF', 48, True)
    >>> bool((ctm.Program.read(program.to_elf()).words == program.words).all())
    True
    >>> ctm.Program.open("examples/r700/saxpy/saxpy.psh").isa
    'r700'
    """

    __slots__ = ("_native", "_which")

    def __init__(self, text, isa=None):
        if not isinstance(text, str):
            raise TypeError(f"the text is {type(text).__name__}, it must be str; Program.read takes bytes")
        self._native = _native.Program.assemble(text, isa)
        self._which = (isa, None)

    @classmethod
    def read(cls, data, name="program", isa=None, which=None):
        """A program from a file's bytes: text, words, a CTM executable, or a container of R700 programs. ``name`` is for its extension and for
        messages; ``which`` chooses a program of a container by number or name. :func:`draw` takes a container with both programs of a draw as it is."""
        self = cls.__new__(cls)
        self._native = _native.Program.read(bytes(data), str(name), isa, None if which is None else str(which))
        self._which = (isa, None if which is None else str(which))
        return self

    @classmethod
    def open(cls, path, isa=None, which=None):
        """A program from a file. See :meth:`read`."""
        return cls.read(_native.read_file(os.fspath(path), "program"), os.fspath(path), isa, which)

    @property
    def isa(self):
        """``"x1k"`` or ``"r700"``."""
        return self._native.isa()

    @property
    def words(self):
        """The words, a ``uint32`` array: of the X1K with shape (instructions, 6), of the R700 with shape (slots, 2)."""
        return np.array(self._native.words(), dtype=np.uint32).reshape(-1, 6 if self.isa == "x1k" else 2)

    @property
    def listing(self):
        """The program as text that assembles to the same words."""
        return self._native.listing()

    @property
    def source(self):
        """The text that it came from, or ``None``."""
        return self._native.source()

    @property
    def inputs(self):
        """Names of inputs and their registers: ``{"x": "s0"}``."""
        return dict(self._native.inputs())

    @property
    def outputs(self):
        """Names of outputs and their registers: ``{"y": "o0"}``; what has no name goes by its register."""
        return dict(self._native.outputs())

    @property
    def constants(self):
        """Names of floating-point constants and their registers: ``{"k": "c0"}``."""
        return dict(self._native.constants())

    @property
    def scatters(self):
        """Whether processors write elements that are not their own, so that a domain cannot be cut into parts."""
        return self._native.scatters()

    @property
    def warnings(self):
        """What was to be said when it was read: a list of :class:`Finding`."""
        return _findings(self._native.warnings())

    def check(self):
        """What the manual's rules say of it: a list of :class:`Finding`, empty for a good program.

        >>> ctm.Program(".output o = o0\\nmov o, 1").check()
        []
        """
        return _findings(self._native.check())

    def to_elf(self):
        """A CTM executable of an X1K program, as ``bytes``."""
        return self._native.elf()

    def to_hex(self):
        """The words in hexadecimal, an instruction a line."""
        return self._native.hex()

    def to_bytes(self):
        """The words as little-endian ``bytes``."""
        return self._native.bytes()

    def __len__(self):
        return self._native.instructions()

    def __repr__(self):
        return f"<ctm.Program {self.isa}, {len(self)} instructions>"

    def _repr_html_(self):
        return _show.highlight(self.source or self.listing)

    def __reduce__(self):
        data, name = self._native.origin()
        return (Program.read, (data, name, *self._which))


class Sampler:
    """How an input is read: ``Sampler(array, filter="linear", wrap="repeat")`` in place of the array.

    ``filter`` is ``"nearest"`` or ``"linear"``; ``wrap`` is ``"clamp"``, ``"repeat"``, ``"mirror"`` or ``"border"``, or two of them for columns and rows;
    ``border`` is what is read outside with ``"border"``: r, g, b, a.

    >>> program = ctm.Program(".input x = s0\\n.output y = o0\\n.const by = c0\\nadd r0, r0, by\\ntex r1, x, r0.rg\\nmov y, r1")
    >>> x = np.float32([0, 10, 20, 30])
    >>> ctm.run(program, 4, {"x": ctm.Sampler(x, wrap="repeat")}, {"by": (1, 0, 0, 0)}, {"y": 1})["y"]
    array([10., 20., 30.,  0.], dtype=float32)
    """

    __slots__ = ("array", "border", "how")

    def __init__(self, array, filter="nearest", wrap="clamp", border=(0, 0, 0, 0)):
        self.array = array
        wraps = (wrap, wrap) if isinstance(wrap, str) else tuple(wrap)
        if filter not in _arrays.FILTERS:
            raise ArgumentError(f"the filter is {filter!r}; there are {', '.join(_arrays.FILTERS)}")
        for one in wraps:
            if one not in _arrays.WRAPS or len(wraps) != 2:
                raise ArgumentError(f"the wrap is {wrap!r}; there are {', '.join(_arrays.WRAPS)}, one or two of them")
        self.how = (_arrays.FILTERS[filter], _arrays.WRAPS[wraps[0]], _arrays.WRAPS[wraps[1]])
        self.border = np.asarray(border, dtype=np.float32)
        if self.border.shape != (4,):
            raise ArgumentError("the border is four numbers r, g, b, a")


class Plane:
    """Start values of a register: ``origin + column * di + row * dj``. Each is one number for all four channels, or one to four numbers.

    ``bits=True``: the values are rounded to integers, whose 32 bits the register holds.

    >>> program = ctm.Program(".output y = o0\\nadd y, r1, r0")
    >>> ctm.run(program, 3, outputs={"y": 1}, registers={"r1": ctm.Plane(1, di=0.5)})["y"]
    array([1. , 1.5, 2. ], dtype=float32)
    """

    __slots__ = ("bits", "di", "dj", "origin")

    def __init__(self, origin=0, di=0, dj=0, bits=False):
        self.origin, self.di, self.dj = (_arrays.four(value, name) for value, name in ((origin, "origin"), (di, "di"), (dj, "dj")))
        self.bits = bool(bits)


class Progress:
    """How far a launch is: ``done`` of ``processors``, after ``seconds``.

    >>> progress = ctm.Progress(done=256, processors=1024, seconds=0.5)
    >>> progress.share, progress
    (0.25, <ctm.Progress 25.0% after 0.5 s>)
    >>> shown = []     # functions are called with one, about 30 times a second
    >>> done = ctm.run(".output o = o0\\nmov o, r0", (4, 4), progress=shown.append)
    """

    __slots__ = ("done", "processors", "seconds")

    def __init__(self, done, processors, seconds):
        self.done, self.processors, self.seconds = done, processors, seconds

    @property
    def share(self):
        """0 to 1."""
        return min(1.0, self.done / self.processors) if self.processors else 0.0

    def __repr__(self):
        return f"<ctm.Progress {self.share:.1%} after {self.seconds:.1f} s>"


def _progress(function):
    if function is None:
        return None
    if not callable(function):
        raise TypeError("`progress` is called with a ctm.Progress; it must be a function")
    return lambda done, processors, seconds: function(Progress(done, processors, seconds))


class Result(dict):
    """What a run or a job gave: its outputs by name.

    ``findings`` has warnings and what a checked run noticed; ``counters`` a dictionary of counts (all of them only if the run was asked to count);
    ``seconds`` is what the launches took; ``memories`` has the memories of R700 programs, ``uint32`` arrays; ``files`` what a job wrote.

    >>> done = ctm.run(".output o = o0\\nmov o, r0", (2, 3), count=True)
    >>> list(done), done["o"].shape, done.findings, done.seconds > 0
    (['o'], (2, 3, 4), [], True)
    >>> done.counters["processors"], done.memories, done.files
    (6, {}, [])
    """

    def __init__(self, outputs, findings, counters, seconds, memories=None, files=()):
        super().__init__(outputs)
        self.findings = findings
        self.counters = counters
        self.seconds = seconds
        self.memories = memories or {}
        self.files = list(files)

    def _repr_html_(self):
        parts = []
        for name, array in self.items():
            parts.append(f"<p><code>{name}</code>: {array.dtype}, shape {array.shape}</p>")
            if array.ndim >= 2 and 1 < array.shape[0] and (array.ndim == 2 or array.shape[2] <= 4):
                data = base64.b64encode(_show.png(array)).decode()
                parts.append(f'<img style="max-width:100%" src="data:image/png;base64,{data}">')
        return "".join(parts)


def run(
    program,
    domain,
    inputs=None,
    constants=None,
    outputs=None,
    *,
    ints=None,
    bools=None,
    buffers=None,
    memories=None,
    registers=None,
    engine=None,
    threads=0,
    group=None,
    instructions=None,
    seconds=None,
    check=False,
    count=False,
    clamp=False,
    progress=None,
):
    """Runs a program and gives its outputs as NumPy arrays.

    Parameters
    ----------
    program : Program or str
        A string is assembled.
    domain : int, (rows, columns) or two slices
        One number is a line of 1 to 16777216 elements: element ``n`` is processor (n mod 4096, n div 4096), and arrays of one dimension stay so. Two
        numbers are a picture, 1 to 4096 each. ``numpy.s_[8:16, 0:64]`` runs a part of one, and gives that part.
    inputs : dict
        Arrays by the program's name or the register (``s0``; ``t0``, ``b0`` of the R700). Shapes: ``(n,)``; ``(n, channels)`` where the domain is one number;
        ``(rows, columns)`` and ``(rows, columns, channels)``, with 1 to 4 channels. C-contiguous arrays of ``float32``, ``uint8`` with four channels and
        ``uint16`` with one are read where they lie; others are copied: other layouts and byte orders, ``float16``, ``float64`` and ``bool`` as ``float32``.
        Lists are numbers. ``uint8`` and ``uint16`` stand for 0 to 1: ``np.uint8([255])`` is read as 1.0, and ``.astype(np.float32)`` keeps 255. R700 programs also
        take ``int32`` and ``uint32``, as bits. A :class:`Sampler` says how an input is read. An input of an X1K program that is read at each processor's own place
        only is as large as the domain (or larger, if the domain is slices), unless it has a :class:`Sampler` or ``clamp`` is true; what is read elsewhere has
        any size.
    constants : dict
        Floating-point constants by the name in the program or its container, or by the register (``c0``; ``C0`` of the R700): one number for all four
        channels, or one to four numbers; a ``uint32`` array gives bits. A container's uniform of several constants has all of its numbers, column by column
        and element by element.
    outputs : dict or list, optional
        Names, or names with what they are to be: a number of channels (1, 2 or 4), ``(channels, dtype)``, or an array to write to, whose elements keep what
        the program does not write. Without it everything that the program writes, with four channels.
    ints : dict
        Integer (R700: loop) constants: a count, or ``(count, start, step)``.
    bools : dict
        Boolean constants.
    buffers : dict
        R700: constant buffers by number, arrays of shape (n, 4), ``float32`` or ``uint32``.
    memories : dict
        R700: ``reduction``, ``ring``, ``scatter``, ``stream0`` to ``stream3``: an array of 32-bit items that it holds at the beginning, or its size in dwords.
    registers : dict
        Start values of registers by name (``r1``): a :class:`Plane`, or one to four numbers. With any of them the position and the program's own start
        values are given, too, or are absent; registers without one hold 0.
    engine : {"jit", "interp", "verify"}, optional
        What ``CTM_ENGINE`` names, otherwise ``"jit"``.
    threads : int
        Worker threads; 0: one per core. Never changes results.
    group : int, optional
        Processors that decide a jump together: 16 of the X1K, 64 of the R700.
    instructions, seconds : optional
        What it may use up: instructions of each group (100 million; 0: no limit), time (no limit).
    check, count : bool
        Look for mistakes while running; count everything.
    clamp : bool
        Inputs may be smaller or larger than the domain: where one ends, its edge is read.
    progress : function
        Called with a :class:`Progress` about 30 times a second while a run lasts; what it raises ends the run.

    Returns
    -------
    Result
        A dictionary of arrays of shape ``(n,)``, ``(rows, columns)``, or with ``channels`` as the last axis where there is more than one.

    Raises
    ------
    ArgumentError, ProgramError
        Something does not fit; nothing has run.
    Fault
        The running program did wrong, or used up what it was given. Outputs may hold a part of the result.
    KeyboardInterrupt
        Ctrl-C ends a run within a few milliseconds.

    Examples
    --------
    >>> program = ctm.Program(".input x = s0\\n.output y = o0\\n.const k = c0\\ntex r1, x, r0.rg\\nmul y, r1, k")
    >>> ctm.run(program, 4, {"x": np.float32([1, 2, 3, 4])}, {"k": 10}, {"y": 1})["y"]
    array([10., 20., 30., 40.], dtype=float32)
    >>> picture = np.ones((2, 3, 4), np.float32)
    >>> ctm.run(program, (2, 3), {"x": picture}, {"k": (1, 2, 3, 4)})["y"][1, 2]
    array([1., 2., 3., 4.], dtype=float32)

    Python's global lock is released while a program runs. Arrays must not be changed by other threads meanwhile. An input that shares memory with an
    output is copied before the run, so the program reads what it held then; with ``check`` a finding says so.
    """
    if isinstance(program, str):
        program = Program(program)
    elif not isinstance(program, Program):
        raise TypeError(f"the program is {type(program).__name__}, it must be a ctm.Program or its text")
    isa = program.isa
    extent = _arrays.Extent(domain)
    wanted = _wanted(program, outputs, extent)
    given, copied = [], []
    for name, value in _items(inputs, "inputs"):
        how, border = (0, 0, 0) if clamp else None, (0.0,) * 4
        if isinstance(value, Sampler):
            how, border, value = value.how, tuple(float(b) for b in value.border), value.array
        array = _arrays.numbers(value, name, isa)
        rows, channels = _arrays.view(array, name, extent)
        flat = array.reshape(-1)
        shared = [output.name for output in wanted if np.may_share_memory(flat, output.flat)]
        if shared:
            flat = flat.copy()
            copied.append((name, shared[0]))
        given.append((name, flat, rows, channels, how, border))
    for n, one in enumerate(wanted):
        for other in wanted[:n]:
            if np.may_share_memory(one.flat, other.flat):
                raise ArgumentError(f"outputs `{other.name}` and `{one.name}` share memory")
    how = (
        engine,
        _arrays.integer(threads, "`threads`", 0, 1024),
        None if group is None else _arrays.integer(group, "`group`", 0, 65535),
        None if instructions is None else _arrays.integer(instructions, "`instructions`", 0, 2**63),
        None if seconds is None else float(seconds),
        bool(check),
        bool(count),
        extent.is_part,
    )
    uniforms = dict(program._native.uniforms()) if constants else {}
    found, counters, elapsed, left = _native.run(
        program._native,
        extent.line,
        extent.rectangle,
        given,
        [(name, _arrays.constant(value, name, uniforms.get(name, 1))) for name, value in _items(constants, "constants")],
        [(name, _arrays.loop(value, name)) for name, value in _items(ints, "ints")],
        [(name, bool(value)) for name, value in _items(bools, "bools")],
        [_buffer(bank, rows) for bank, rows in (buffers or {}).items()],
        [(name, _memory(name, value)) for name, value in _items(memories, "memories")],
        [_register(name, value) for name, value in _items(registers, "registers")],
        [(output.name, output.flat, output.rows, output.channels) for output in wanted],
        how,
        _progress(progress),
    )
    found = _findings(found) if found != "[]" else []
    if check:
        found += [Finding("note", "input-is-output", f"input `{name}` shares memory with output `{output}`: the program reads a copy of what it held before the run") for name, output in copied]
    return Result(
        {output.name: output.finish() for output in wanted},
        found,
        counters,
        elapsed,
        {name: np.array(dwords, dtype=np.uint32) for name, dwords in left},
    )


def _items(mapping, what):
    if mapping is None:
        return []
    if not hasattr(mapping, "items"):
        raise ArgumentError(f"`{what}` is {type(mapping).__name__}, it must be a dictionary of names")
    out = []
    for name, value in mapping.items():
        if not isinstance(name, str):
            raise ArgumentError(f"`{what}` has the key {name!r}, names are strings")
        out.append((name, value))
    return out


def _wanted(program, outputs, extent):
    if outputs is None:
        pairs = [(name, None) for name in program.outputs]
    elif hasattr(outputs, "items"):
        pairs = list(outputs.items())
    elif isinstance(outputs, str):
        pairs = [(outputs, None)]
    else:
        try:
            pairs = [(name, None) for name in outputs]
        except TypeError:
            raise ArgumentError(f"`outputs` is {type(outputs).__name__}, it must be names, or a dictionary of names") from None
    for name, _ in pairs:
        if not isinstance(name, str):
            raise ArgumentError(f"`outputs` has the key {name!r}, names are strings")
    uncached = program._native.uncached()
    return [_arrays.Output(name, wanted, extent, program.isa, uncached) for name, wanted in pairs]


def _buffer(bank, rows):
    bank = _arrays.integer(bank, "a constant buffer", 0, 15)
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != 4 or rows.dtype.kind not in "fiu":
        raise ArgumentError(f"constant buffer {bank} has shape {rows.shape} and dtype {rows.dtype}, it must be numbers of shape (n, 4)")
    bits = rows if rows.dtype == np.uint32 else np.ascontiguousarray(rows, dtype=np.float32).view(np.uint32)
    return bank, [tuple(row) for row in bits.tolist()]


def _register(name, value):
    number = name[1:] if name[:1] in ("r", "R") else ""
    if not (number.isascii() and number.isdigit()) or int(number) > 127:
        raise ArgumentError(f"there is no register `{name}`; there are r0 to r127")
    plane = value if isinstance(value, Plane) else Plane(value)
    return int(number), plane.origin, plane.di, plane.dj, plane.bits


def _memory(name, value):
    if isinstance(value, np.ndarray):
        if value.dtype.itemsize != 4:
            raise ArgumentError(f"memory `{name}` has dtype {value.dtype}, its items must have 32 bits")
        return np.ascontiguousarray(value).reshape(-1).view(np.uint32)
    return np.zeros(_arrays.integer(value, f"memory `{name}`", 1, 1 << 28), np.uint32)


class Job:
    """A job (``docs/jobs.md``): what ``ctm run job.toml`` runs.

    ``Job(text, directory=".")`` reads a job's text, :meth:`open` a file. ``flags`` are those of ``ctm run``: ``{"size": "64x64"}``.

    >>> job = ctm.Job.open("examples/mandelbrot/job.toml", {"size": "32x32"})
    >>> job.check()
    []
    >>> job.run()["colour"].shape
    (32, 32, 4)
    >>> trace = job.trace(8, 16)
    >>> len(trace.steps) > 10, trace.html[:15]
    (True, '<!DOCTYPE html>')
    """

    def __init__(self, text, directory=".", flags=None):
        self._native = _native.Job.parse(text, os.fspath(directory), _flags(flags))

    @classmethod
    def open(cls, path, flags=None):
        """A job from a file."""
        self = cls.__new__(cls)
        self._native = _native.Job.open(os.fspath(path), _flags(flags))
        return self

    def check(self):
        """What does not fit together, without running anything: a list of :class:`Finding`. Errors are raised."""
        return _findings(self._native.check())

    def run(self, files=False, progress=None):
        """Runs it, and writes the files that it names if ``files`` is true. Gives a :class:`Result`, arrays of shape (rows, columns[, channels])."""
        outputs, written, found, counters, seconds = self._native.run(bool(files), _progress(progress))
        arrays = {}
        for name, number, (rows, columns, channels), dtype, values in outputs:
            shape = (rows, columns) if channels == 1 else (rows, columns, channels)
            arrays[name if name not in arrays else number] = values.view(dtype).reshape(shape)
        return Result(arrays, _findings(found), counters, seconds, files=written)

    def trace(self, column, row):
        """What the group of a processor did: a :class:`Trace`, which Jupyter shows as a page with a slider."""
        page, lines = self._native.trace(
            _arrays.integer(column, "the column", 0, 4095), _arrays.integer(row, "the row", 0, 4095)
        )
        return Trace(page, lines)


class Trace:
    """What a group of processors did, instruction by instruction. ``html`` is a page, ``steps`` a list of dictionaries."""

    def __init__(self, html, lines):
        self.html = html
        self._lines = lines

    @property
    def steps(self):
        """One dictionary for each instruction."""
        import json

        return [json.loads(line) for line in self._lines.splitlines() if line]

    def save(self, path):
        """Writes the page. An old file is replaced by the whole new one, or stays."""
        _native.save_file(os.fspath(path), self.html.encode())

    def _repr_html_(self):
        page = base64.b64encode(self.html.encode()).decode()
        return f'<iframe style="width:100%;height:600px;border:0" src="data:text/html;base64,{page}"></iframe>'


def _flags(flags):
    return [(str(name), str(value)) for name, value in (flags or {}).items()]


class Device:
    """A device of the CTM interface: 32-bit addresses, arenas and command buffers (``docs/device.md``, ``docs/commands.md``).

    >>> device = ctm.Device()
    >>> address = device.allocate(16)
    >>> device.write(address, np.float32([1, 2, 3, 4]))
    >>> device.read(address, 16, np.float32)
    array([1., 2., 3., 4.], dtype=float32)
    >>> ctm.command_text(ctm.command_words("wait_for_idle")).split()[0]
    'wait_for_idle'
    >>> counts, findings = device.submit("wait_for_idle")
    >>> findings
    []
    """

    GPU, GPUB, SYS, SYSC = range(4)

    def __init__(self, isa="x1k", engine=None, threads=0, group=None, instructions=None, seconds=None, check=False):
        self._native = _native.Device(isa, engine, threads, group, instructions, seconds, bool(check))

    def allocate(self, size, arena=GPU):
        """Reserves ``size`` bytes of an arena; gives the address."""
        return self._native.allocate(_arrays.integer(size, "the size", 1, 2**32 - 1), _arrays.integer(arena, "the arena", 0, 3))

    def write(self, address, data):
        """Writes an array's (or any buffer's) bytes."""
        data = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        self._native.write(_arrays.integer(address, "the address", 0, 2**32 - 1), np.ascontiguousarray(data).reshape(-1).view(np.uint8))

    def read(self, address, size, dtype=np.uint8):
        """Reads ``size`` bytes as an array of ``dtype``."""
        dtype = np.dtype(dtype)
        size = _arrays.integer(size, "the size", 0, 2**32 - 1)
        if size % dtype.itemsize:
            raise ArgumentError(f"{size} bytes are no whole number of items of {dtype.itemsize} bytes")
        return self._native.read(_arrays.integer(address, "the address", 0, 2**32 - 1), size).view(dtype)

    def submit(self, commands, progress=None):
        """Runs a command buffer to its end: words, or their text. Gives a dictionary of counts and the findings of a checked device."""
        words = command_words(commands) if isinstance(commands, str) else [int(w) for w in np.asarray(commands, np.uint32).reshape(-1)]
        counters, found = self._native.submit(words, _progress(progress))
        return counters, _findings(found)
