"""NumPy arrays into what the native part takes, and back."""

from __future__ import annotations

import operator

import numpy as np

from ._errors import ArgumentError

# What is read where it lies, and what is copied to single precision.
DIRECT = {np.dtype(np.float32), np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32)}
COPIED = {np.dtype(np.float64), np.dtype(np.float16), np.dtype(np.bool_)}
FILTERS = {"nearest": 0, "linear": 1}
WRAPS = {"clamp": 0, "repeat": 1, "mirror": 2, "border": 3}
COLUMNS = 4096


def integer(value, what, low, high):
    """An integer in a range, from anything that is one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} is {value!r}, it must be an integer") from None
    if not low <= number <= high:
        raise ArgumentError(f"{what} is {number}, {low} to {high} are possible")
    return number


class Extent:
    """The processors of a run: a line or a rectangle, and the shape of what it gives."""

    def __init__(self, domain):
        self.line = None
        self.is_part = False
        if isinstance(domain, tuple):
            if len(domain) != 2:
                raise ArgumentError(f"the domain has {len(domain)} parts; it is n, (rows, columns) or two slices")
            (j0, j1), (i0, i1) = self._range(domain[0], "rows"), self._range(domain[1], "columns")
            self.rectangle = (i0, j0, i1 - 1, j1 - 1)
            self.rows, self.columns = j1, i1
            self.part = (slice(j0, j1), slice(i0, i1))
            self.is_part = any(isinstance(one, slice) for one in domain)
        else:
            self.line = integer(domain, "the domain", 1, COLUMNS * COLUMNS)
            self.rectangle = (0, 0, 0, 0)
            self.rows, self.columns = -(-self.line // COLUMNS), min(self.line, COLUMNS)
            self.part = None

    @staticmethod
    def _range(part, what):
        if isinstance(part, slice):
            if part.step not in (None, 1):
                raise ArgumentError(f"the {what} of the domain go in steps of {part.step}; only 1 is possible")
            first = 0 if part.start is None else integer(part.start, f"the first of the {what}", 0, COLUMNS - 1)
            if part.stop is None:
                raise ArgumentError(f"the {what} of the domain have no end")
            end = integer(part.stop, f"the end of the {what}", 1, COLUMNS)
            if end <= first:
                raise ArgumentError(f"the domain has no {what}: {first} to {end}")
            return first, end
        return 0, integer(part, f"the number of {what}", 1, COLUMNS)

    def shape(self, channels):
        """The shape of an output with so many channels."""
        whole = (self.line,) if self.line is not None else (self.rows, self.columns)
        return whole if channels == 1 else (*whole, channels)

    @property
    def whole(self):
        """Whether the outputs are what the domain reaches, and no part of it."""
        return self.part is None or (self.part[0].start == 0 and self.part[1].start == 0)


def numbers(array, name, isa):
    """An array as flat numbers of a kind that is read, in C order: the same memory where that is possible. Lists are numbers, whatever they hold."""
    is_list = isinstance(array, (list, tuple))
    try:
        array = np.asarray(array)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"`{name}` is no array: {error}") from None
    dtype = array.dtype.newbyteorder("=")
    if dtype == np.int32 and isa == "r700":
        array = np.ascontiguousarray(array, dtype=np.int32).view(np.uint32)
    elif dtype in COPIED or dtype.kind in "iu" and (is_list or dtype not in DIRECT and array.ndim == 0):
        array = array.astype(np.float32)
    elif dtype not in DIRECT:
        raise ArgumentError(
            f"`{name}` has dtype {array.dtype}; float32, uint8 and uint16, which stand for 0 to 1 (and int32, uint32 for R700) are read as they "
            "are, float16, float64, bool and lists are converted to float32" + _advice(dtype)
        )
    elif dtype == np.uint32 and isa != "r700":
        raise ArgumentError(f"`{name}` has dtype uint32; the X1K reads no 32-bit integers" + _advice(dtype))
    if array.dtype != array.dtype.newbyteorder("="):
        array = array.astype(array.dtype.newbyteorder("="))
    # Gives arrays without axes one axis. What another process sent may lie anywhere.
    return np.require(np.ascontiguousarray(array), requirements=["C", "A"])


def _advice(dtype):
    """What to write where the numbers of an integer array are meant."""
    return "; `.astype(np.float32)` gives its numbers" if dtype.kind in "iu" else ""


def view(array, name, extent):
    """Rows and columns (``None``: a line) and channels of an input of this shape."""
    shape = array.shape
    if 0 in shape:
        raise ArgumentError(f"`{name}` has shape {shape}, which holds nothing")
    if len(shape) == 1:
        return None, 1
    if len(shape) == 2 and extent.line is not None:
        if shape[1] > 4:
            raise ArgumentError(
                f"`{name}` has shape {shape}; with a domain of one number, arrays of two axes are (elements, channels) with "
                "1 to 4 channels; (rows, columns, 1) is a picture"
            )
        return None, shape[1]
    if len(shape) == 2:
        return shape, 1
    if len(shape) == 3 and shape[2] <= 4:
        return shape[:2], shape[2]
    raise ArgumentError(f"`{name}` has shape {shape}; (n,), (rows, columns) and (rows, columns, 1 to 4 channels) are possible")


def constant(value, name, constants=1):
    """Bits of a constant: one number is all four channels, fewer than four are filled up with zeros. A uniform of several constants has its numbers in their order."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"dtype {array.dtype}")
        if array.dtype == np.uint32:
            bits = array
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                single = array.astype(np.float32)
            if (np.isinf(single) & np.isfinite(array)).any():
                raise ArgumentError(f"constant `{name}` is {value!r}, single precision holds numbers up to 3.4028235e38")
            bits = single.view(np.uint32)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"constant `{name}` is {value!r}, it must be one to four numbers ({error})") from None
    if bits.ndim == 0:
        return [int(bits)] * 4
    if constants > 1:
        return bits.reshape(-1).tolist()
    if bits.ndim != 1 or not 1 <= len(bits) <= 4:
        raise ArgumentError(f"constant `{name}` has shape {bits.shape}; one to four numbers are possible")
    return bits.tolist() + [0] * (4 - len(bits))


def four(value, name):
    """Four numbers in double precision: one is all four, fewer than four are filled up with zeros."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"`{name}` is {value!r}, it must be one to four numbers ({error})") from None
    if array.ndim == 0:
        return [float(array)] * 4
    if array.ndim != 1 or not 1 <= len(array) <= 4:
        raise ArgumentError(f"`{name}` has shape {array.shape}; one to four numbers are possible")
    return array.tolist() + [0.0] * (4 - len(array))


def loop(value, name):
    """An integer constant: count, or (count, start, step)."""
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(parts) <= 3:
        raise ArgumentError(f"integer constant `{name}` is {value!r}, it is a count or (count, start, step)")
    count, start, step = (*parts, 0, 0)[:3] if len(parts) == 1 else (*parts, 0)[:3]
    return (
        integer(count, f"the count of `{name}`", 0, 4095),
        integer(start, f"the start of `{name}`", 0, 4095),
        integer(step, f"the step of `{name}`", -128, 127),
    )


class Output:
    """An output of a run: the caller's array, or a new one."""

    def __init__(self, name, wanted, extent, isa, uncached):
        self.name = name
        self.extent = extent
        self.back = None
        rows = None
        dtype = np.dtype(np.float32)
        channels = 1 if uncached else 4
        if isinstance(wanted, np.ndarray):
            channels, rows = self._given(wanted, name, extent, isa)
            self.array = wanted
            if not (wanted.flags.c_contiguous and wanted.flags.aligned and wanted.dtype.isnative):
                # Written back when the run has ended.
                self.back = wanted
                wanted = np.array(wanted, dtype=wanted.dtype.newbyteorder("="), order="C")
            flat = wanted.view(np.float32) if wanted.dtype != np.float32 else wanted
            self.part = None
        else:
            if isinstance(wanted, tuple) and len(wanted) == 2:
                wanted, dtype = wanted[0], self._dtype(wanted[1], name, isa)
            if wanted is not None:
                channels = integer(wanted, f"the channels of output `{name}`", 1, 4)
            if channels == 3:
                raise ArgumentError(f"output `{name}` cannot have 3 channels; 1, 2 and 4 are possible")
            flat = np.zeros(extent.shape(channels), dtype=np.float32)
            self.array = flat if dtype == np.float32 else flat.view(dtype)
            self.part = None if extent.whole else extent.part
        self.flat = flat.reshape(-1)
        self.channels = channels
        self.rows = rows

    @staticmethod
    def _dtype(dtype, name, isa):
        try:
            dtype = np.dtype(dtype)
        except TypeError as error:
            raise ArgumentError(f"output `{name}`: {error}") from None
        native = dtype.newbyteorder("=")
        if native == np.float32 or (isa == "r700" and native in (np.dtype(np.int32), np.dtype(np.uint32))):
            return dtype
        raise ArgumentError(f"output `{name}` cannot have dtype {dtype}; float32 (and int32, uint32 of R700 programs) are possible")

    def _given(self, array, name, extent, isa):
        self._dtype(array.dtype, name, isa)
        if not array.flags.writeable:
            raise ArgumentError(f"output `{name}` is read-only")
        shape = array.shape
        for channels in (1, 2, 4):
            if shape == extent.shape(channels):
                return channels, None
        # An array of its own size: as far as the domain reaches at least, or of a program with uncached writes.
        if extent.line is None and len(shape) in (2, 3) and 0 not in shape:
            channels = shape[2] if len(shape) == 3 else 1
            if channels in (1, 2, 4):
                return channels, shape[:2]
        expected = ", ".join(str(extent.shape(c)) for c in (1, 2, 4))
        raise ArgumentError(f"output `{name}` has shape {shape}; this domain gives {expected}")

    def finish(self):
        """The array that the caller gets."""
        if self.back is not None:
            self.back[...] = self.flat.view(self.back.dtype.newbyteorder("=")).reshape(self.back.shape)
            return self.back
        return self.array if self.part is None else self.array[self.part]
