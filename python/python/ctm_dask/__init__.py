"""Runs one program on many processes or machines: the domain is cut into shards of rows, or a list of parameters into runs.

:func:`run` gives the same bits as :func:`ctm.run` on one machine, for every program whose processors write their own elements only. Programs with
uncached writes (UMRT), with memories or with vertex emission are refused.

A shard runs on one thread, as there are many. With no executor, results are lazy Dask arrays; with one (``concurrent.futures``, a ``distributed.Client``, ``mpi4py.futures``, :class:`RayExecutor`), NumPy
arrays. Only :func:`run` without an executor needs Dask.

>>> import numpy as np, ctm, ctm_dask
>>> from concurrent.futures import ThreadPoolExecutor
>>> program = ctm.Program(".output o = o0\\nmov o, r0")
>>> with ThreadPoolExecutor(2) as pool:
...     whole = ctm_dask.run(program, (8, 8), outputs={"o": 4}, executor=pool, shards=2)["o"]
>>> bool((whole == ctm.run(program, (8, 8))["o"]).all())
True
"""

from __future__ import annotations

import concurrent.futures as _futures

import ctm
import numpy as np
from ctm import _arrays

from . import _shared

__all__ = ["RayExecutor", "run", "sweep"]

# Runs that did not fail by the program's own doing are tried so often.
RETRIES = 3

# Shards of a domain where nobody says how many: some for each of a few workers, so that they end at about the same time.
SHARDS = 32


def run(
    program,
    domain,
    inputs=None,
    constants=None,
    outputs=None,
    *,
    halo=None,
    shards=None,
    executor=None,
    retries=RETRIES,
    **options,
):
    """Runs a program over a domain that is cut into shards of rows.

    Parameters are those of :func:`ctm.run` (``options`` too; ``threads`` is 1 here if it is not given), and:

    halo : dict, optional
        Inputs of which a shard needs only its own rows and so many more on both sides: ``{"x": 0}`` for an input that each processor reads at its own
        place. What the program reads beyond them it reads as zeros. Such inputs may be Dask arrays, of which a shard loads what it needs; all others go to
        every shard whole.
    shards : int, optional
        How many; without it, as many as the first Dask array in ``halo`` has chunks of rows, or 32.
    executor : optional
        Something with ``submit(function, *arguments)`` that gives futures, or a function without arguments that makes one: then shards of a broken pool are
        run again on a new one. Without it the result is lazy Dask arrays.
    retries : int
        How often a shard is run again whose worker was lost. Faults of the program are not tried again. Dask's own scheduler has its own number.

    Returns a dictionary of arrays; Dask arrays have one chunk of rows for each shard. Between processes of one Linux machine (a ``ProcessPoolExecutor``, a
    ``distributed.Client`` of which all workers are here) results and whole inputs are shared, and not sent.
    """
    if isinstance(program, str):
        program = ctm.Program(program)
    options.setdefault("threads", 1)
    plan = _Plan(program, domain, inputs, constants, outputs, halo or {}, shards, options)
    if executor is None:
        return plan.lazy()
    try:
        return plan.gather(executor, retries, _local)
    except _shared.Away:
        return plan.gather(executor, retries, lambda pool: False)


def sweep(program, domain, parameters, *, executor, reduce=None, retries=RETRIES, **arguments):
    """Runs a program once for each entry of ``parameters``, a list of dictionaries of constants, and gives the list of results, dictionaries of arrays.

    ``arguments`` are those of :func:`ctm.run`, the same for every run; its ``constants`` are those that do not change, and ``threads`` is 1 if it is not given.
    The program may scatter: every run is whole. ``reduce``, a function that workers can import, takes the dictionary of a run where it ran; what it gives is
    moved and stands in the list in the dictionary's place.
    """
    if isinstance(program, str):
        program = ctm.Program(program)
    arguments.setdefault("threads", 1)
    constants = dict(arguments.pop("constants", None) or {})
    tasks = []
    for values in parameters:
        tasks.append((_whole, (program, domain, {**constants, **values}, arguments, reduce)))
    return _gather(executor, lambda pool: tasks, retries)


def _whole(program, domain, constants, arguments, reduce):
    done = dict(ctm.run(program, domain, constants=constants, **arguments))
    return done if reduce is None else reduce(done)


class _Plan:
    """What is the same for every shard, and where each begins."""

    def __init__(self, program, domain, inputs, constants, outputs, halo, shards, options):
        if not isinstance(program, ctm.Program):
            raise TypeError(f"the program is {type(program).__name__}, it must be a ctm.Program or its text")
        if program.scatters:
            raise ctm.ArgumentError(
                "the program writes elements that are not its processors' own (uncached writes, memories or emitted vertices), so its domain cannot be "
                "cut into shards; ctm.run runs it on one machine, ctm_dask.sweep runs it several times"
            )
        for name in ("check", "count", "progress", "memories"):
            if options.get(name):
                raise ctm.ArgumentError(f"`{name}` is for runs on one machine")
        extent = _arrays.Extent(domain)
        self.program, self.constants, self.options = program, dict(constants or {}), options
        self.line = extent.line
        if extent.line is not None and program.isa == "r700" and program.inputs and "b" in {r[0] for r in program.inputs.values()}:
            raise ctm.ArgumentError("a program that fetches from buffers is cut over (rows, columns) only")
        self.columns, self.last = extent.columns, extent.rows
        self.first = 0 if extent.part is None else extent.part[0].start
        self.left = 0 if extent.part is None else extent.part[1].start
        self.inputs, self.halo = {}, {}
        for name, value in (inputs or {}).items():
            self.inputs[name] = self._folded(name, value, name in halo)
        for name, rows in halo.items():
            if name not in self.inputs:
                raise ctm.ArgumentError(f"`halo` has `{name}`, which is no input that is given")
            if isinstance(self.inputs[name], ctm.Sampler):
                raise ctm.ArgumentError(f"`{name}` has a sampler, so it goes to every shard whole; take it out of `halo`")
            self.halo[name] = _arrays.integer(rows, f"the halo of `{name}`", 0, 4096)
            if self.inputs[name].shape[0] < self.last or self.inputs[name].ndim < 2:
                raise ctm.ArgumentError(f"`{name}` has shape {self.inputs[name].shape} and a halo, so it must have {self.last} rows")
        self.outputs = self._outputs(outputs, extent)
        chunked = [self.inputs[name] for name in self.halo if hasattr(self.inputs[name], "chunks")]
        if shards is None:
            shards = len(chunked[0].chunks[0]) if chunked else SHARDS
        self.rows = split(self.first, self.last, _arrays.integer(shards, "`shards`", 1, 4096))

    def _folded(self, name, value, chunked):
        """An input of a line as the rows that it is folded into."""
        if isinstance(value, ctm.Sampler):
            if self.line is not None and self.line > _arrays.COLUMNS:
                raise ctm.ArgumentError(f"`{name}` has a sampler; over a line of more than 4096 elements inputs have none")
            return value
        if not (chunked and hasattr(value, "dask")):
            value = np.asarray(value)
        if self.line is None or value.ndim > 2:
            return value
        channels = 1 if value.ndim == 1 else value.shape[1]
        value = np.asarray(value)
        rows, columns = -(-len(value) // _arrays.COLUMNS), min(len(value), _arrays.COLUMNS)
        folded = np.zeros((rows * columns, channels), value.dtype)
        folded[: len(value)] = value.reshape(len(value), channels)
        return folded.reshape(rows, columns, channels)

    def _outputs(self, outputs, extent):
        wanted = ctm._wanted(self.program, outputs, extent)
        if any(isinstance(value, np.ndarray) for value in getattr(outputs, "values", list)()):
            raise ctm.ArgumentError("outputs of shards are new arrays; give a number of channels, or (channels, dtype)")
        return {output.name: (output.channels, output.array.dtype.str) for output in wanted}

    def shape(self, name, rows):
        """The shape of an output over rows."""
        channels, width = self.outputs[name][0], self.columns - self.left
        return (rows[1] - rows[0], width) if channels == 1 else (rows[1] - rows[0], width, channels)

    def gather(self, executor, retries, local):
        """Arrays of all shards, run by an executor; shared where ``local`` says so of what it submits to."""
        whole = {}
        with _shared.Store() as store:

            def tasks(pool):
                if not local(pool):
                    return [(_shard, self.task(rows, self.inputs)) for rows in self.rows]
                inputs = {n: a if n in self.halo or isinstance(a, ctm.Sampler) else store.copy(a) for n, a in self.inputs.items()}
                into = {}
                for name, (_, dtype) in self.outputs.items():
                    whole[name], into[name] = store.new(self.shape(name, (self.first, self.last)), dtype)
                return [(_shard_into, (rows[0] - self.first, into, *self.task(rows, inputs))) for rows in self.rows]

            parts = _gather(executor, tasks, retries)
        for name in self.outputs:
            if name not in whole:
                whole[name] = np.concatenate([part[name] for part in parts])
        return {name: self.finish(name, array) for name, array in whole.items()}

    def task(self, rows, inputs):
        """The arguments of a shard."""
        given = {}
        for name, array in inputs.items():
            if name in self.halo:
                low, high = max(rows[0] - self.halo[name], 0), min(rows[1] + self.halo[name], array.shape[0])
                given[name] = (np.asarray(array[low:high]), low, array.shape)
            else:
                given[name] = (array, None, None)
        return self._arguments(rows, given)

    def _arguments(self, rows, given):
        return (self.program, rows, (self.left, self.columns), given, self.constants, self.outputs, self.options)

    def finish(self, name, whole):
        """A line's rows as a line again."""
        if self.line is None:
            return whole
        channels = self.outputs[name][0]
        flat = whole.reshape((-1,) if channels == 1 else (-1, channels))
        return flat[: self.line]

    def lazy(self):
        """Dask arrays, a chunk for each shard."""
        try:
            import dask
            import dask.array as da
        except ImportError as error:
            raise ImportError("ctm_dask.run without an executor gives Dask arrays: pip install 'close-to-metal[dask]'") from error
        shard = dask.delayed(_shard, pure=True)
        program = dask.delayed(self.program)
        whole = {n: dask.delayed(a) for n, a in self.inputs.items() if n not in self.halo}
        parts = []
        for rows in self.rows:
            given = {}
            for name, array in self.inputs.items():
                if name in self.halo:
                    low, high = max(rows[0] - self.halo[name], 0), min(rows[1] + self.halo[name], array.shape[0])
                    piece = array[low:high]
                    piece = dask.delayed(np.asarray)(piece) if hasattr(piece, "dask") else piece
                    given[name] = (piece, low, array.shape)
                else:
                    given[name] = (whole[name], None, None)
            parts.append((rows, (program, *self._arguments(rows, given)[1:])))
        # The only output needs no task of its own that takes it out of a dictionary.
        if len(self.outputs) == 1:
            pick = dask.delayed(_only, pure=True)
            parts = [(rows, dict.fromkeys(self.outputs, pick(*task))) for rows, task in parts]
        else:
            parts = [(rows, shard(*task)) for rows, task in parts]
        out = {}
        for name, (_, dtype) in self.outputs.items():
            pieces = [da.from_delayed(part[name], self.shape(name, rows), dtype=dtype) for rows, part in parts]
            out[name] = self.finish(name, da.concatenate(pieces))
        return out


def split(first, last, shards):
    """Rows ``first`` to ``last`` (exclusive) in so many parts, which begin at even rows: processors come as quads of two rows.

    >>> split(0, 10, 3)
    [(0, 4), (4, 8), (8, 10)]
    """
    pairs = range(first // 2, -(-last // 2))
    shards = min(shards, len(pairs))
    cuts = [pairs.start + -(-len(pairs) * k // shards) for k in range(shards + 1)]
    return [(max(2 * a, first), min(2 * b, last)) for a, b in zip(cuts, cuts[1:])]


def _shard(program, rows, columns, given, constants, outputs, options):
    """One shard: the same domain, of which only some rows run. Arrays are as large as the whole, but only what is touched takes memory."""
    inputs = {}
    for name, (array, low, shape) in given.items():
        if low is not None:
            whole = np.zeros(shape, array.dtype)
            whole[low : low + len(array)] = array
            array = whole
        inputs[name] = array.open() if isinstance(array, _shared.Name) else array
    wanted = {name: (channels, dtype) for name, (channels, dtype) in outputs.items()}
    domain = (slice(*rows), slice(*columns))
    done = ctm.run(program, domain, inputs, constants, wanted, **options)
    return {name: np.ascontiguousarray(array) for name, array in done.items()}


def _only(*task):
    """One shard of a program of which one output is wanted."""
    (array,) = _shard(*task).values()
    return array


def _shard_into(row, into, *task):
    """One shard, whose rows go where the processes share them. A shard that runs twice writes the same."""
    for name, array in _shard(*task).items():
        into[name].open()[row : row + len(array)] = array


def _local(pool):
    """Whether all that may run a pool's tasks can open what this process shares."""
    if not _shared.possible():
        return False
    with _shared.Store() as store:
        _, name = store.new((1,), "u1")
        if isinstance(pool, _futures.ProcessPoolExecutor):
            # Its processes begin here, and so keep nothing of what comes later.
            try:
                return pool.submit(_shared.opens, name).result()
            except _futures.BrokenExecutor:
                return False
        if not type(pool).__module__.startswith("distributed.") or getattr(pool, "asynchronous", True):
            return False
        found = pool.run(_shared.opens, name)
        return bool(found) and all(found.values())


def _gather(executor, tasks, retries):
    """Results in order of the tasks that ``tasks`` gives for a pool; what a lost worker had is run again."""
    makes = callable(executor) and not hasattr(executor, "submit")
    pool = executor() if makes else executor
    try:
        tasks = tasks(pool)
        results = [None] * len(tasks)
        left = dict.fromkeys(range(len(tasks)), 0)
        while left:
            submitted, lost = {}, None
            for n in left:
                function, arguments = tasks[n]
                try:
                    submitted[n] = pool.submit(function, *arguments)
                except _futures.BrokenExecutor as error:
                    lost = error
                    break
            for n, future in submitted.items():
                try:
                    results[n] = future.result()
                    del left[n]
                except (ctm.Error, TypeError, ValueError, _shared.Away):
                    for other in submitted.values():
                        other.cancel()
                    raise
                except Exception as error:
                    left[n] += 1
                    lost = error
                    if left[n] > retries:
                        raise
            if lost is not None and isinstance(lost, _futures.BrokenExecutor):
                if not makes:
                    raise RuntimeError(
                        "a worker was lost, and with it its pool; give a function that makes an executor, and the shards are run again on a new one"
                    ) from lost
                _close(pool)
                pool = executor()
        return results
    finally:
        if makes:
            _close(pool)


def _close(pool):
    close = getattr(pool, "shutdown", None) or getattr(pool, "close", None)
    if close is not None:
        close()


class RayExecutor:
    """Ray's tasks as an executor: ``ctm_dask.run(..., executor=ctm_dask.RayExecutor())`` after ``ray.init()``. Ray runs tasks of lost workers again."""

    def __init__(self, **options):
        import ray

        self._ray, self._options = ray, options

    def submit(self, function, *arguments):
        """A future with ``result`` and ``cancel``."""
        remote = self._ray.remote(function)
        remote = remote.options(**self._options) if self._options else remote
        return _RayFuture(self._ray, remote.remote(*arguments))


class _RayFuture:
    def __init__(self, ray, reference):
        self._ray, self._reference = ray, reference

    def result(self):
        return self._ray.get(self._reference)

    def cancel(self):
        self._ray.cancel(self._reference)
