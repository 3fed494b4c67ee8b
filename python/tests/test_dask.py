import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import ctm
import ctm_dask

X = np.random.default_rng(2).random((37, 20, 4), np.float32)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_rows_begin_at_even_ones():
    for first, last, n in [(0, 1, 4), (0, 37, 4), (3, 37, 5), (5, 6, 2), (0, 4096, 1000)]:
        parts = ctm_dask.split(first, last, n)
        assert parts[0][0] == first and parts[-1][1] == last and len(parts) <= n
        assert all(a[1] == b[0] and b[0] % 2 == 0 for a, b in zip(parts, parts[1:])) and all(a < b for a, b in parts)


@pytest.mark.parametrize("shards", [1, 2, 3, 100])
def test_shards_give_the_bits_of_one_run(axpy, position, shards):
    with ThreadPoolExecutor(3) as pool:
        whole = ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"]
        for halo in [{}, {"x": 0}, {"x": 1, "y": 2}]:
            found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool, shards=shards, halo=halo)["sum"]
            assert same(found, whole)
        for domain in [(37, 20), np.s_[4:31, 3:9], 7, 10000]:
            whole = ctm.run(position, domain)["o"]
            assert same(ctm_dask.run(position, domain, executor=pool, shards=shards)["o"], whole)
        n = 9000
        x = np.arange(n, dtype=np.float32)
        whole = ctm.run(axpy, n, {"x": x, "y": x}, {"a": 3}, {"sum": 1})["sum"]
        assert same(ctm_dask.run(axpy, n, {"x": x, "y": x}, {"a": 3}, {"sum": 1}, executor=pool, shards=shards, halo={"x": 0})["sum"], whole)


def test_neighbours_need_a_halo():
    blur = ctm.Program(
        ".input x = s0\n.output o = o0\n.const down = c0 (0, 1, 0, 0)\n add r1.rg, r0.rg, down.rg\n tex r2, x, r0.rg\n tex r3, x, r1.rg\n add o, r2, r3"
    )
    whole = ctm.run(blur, (37, 20), {"x": X})["o"]
    with ThreadPoolExecutor(2) as pool:
        assert same(ctm_dask.run(blur, (37, 20), {"x": X}, executor=pool, shards=5, halo={"x": 1})["o"], whole)


def test_programs_that_scatter_are_refused():
    program = ctm.Program(".uncached\n.reg cell = r1\n mov cell, r0\n mov umrt[each], cell")
    assert program.scatters
    with pytest.raises(ctm.ArgumentError, match="cannot be cut"):
        ctm_dask.run(program, (4, 4), executor=ThreadPoolExecutor(1))
    with ThreadPoolExecutor(1) as pool:
        assert len(ctm_dask.sweep(program, (4, 4), [{}, {}], executor=pool)) == 2


def test_what_does_not_fit_is_said(axpy):
    with ThreadPoolExecutor(1) as pool:
        for halo in [{"z": 1}, {"x": -1}, {"x": 0.5}]:
            with pytest.raises(ctm.ArgumentError):
                ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool, halo=halo)
        with pytest.raises(ctm.ArgumentError, match="needs input `y`"):
            ctm_dask.run(axpy, (37, 20), {"x": X}, {"a": 3}, executor=pool)
        with pytest.raises(ctm.ArgumentError, match="one machine"):
            ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool, check=True)


def test_a_sweep_gives_a_result_for_each(axpy):
    with ProcessPoolExecutor(2) as pool:
        found = ctm_dask.sweep(axpy, (37, 20), [{"a": k} for k in range(5)], executor=pool, inputs={"x": X, "y": X})
    for k, one in enumerate(found):
        assert same(one["sum"], ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": k})["sum"])


def total(result):
    return float(result["sum"].sum(dtype=np.float64))


def test_a_sweep_is_reduced_where_it_runs(axpy):
    with ThreadPoolExecutor(2) as pool:
        found = ctm_dask.sweep(axpy, (37, 20), [{"a": k} for k in range(3)], executor=pool, reduce=total, inputs={"x": X, "y": X})
    assert found == [total(ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": k})) for k in range(3)]


def test_processes_share_arrays(axpy, position):
    with ProcessPoolExecutor(2) as pool:
        assert ctm_dask._local(pool) == ctm_dask._shared.possible()
        for halo in [{}, {"x": 0}]:
            found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool, halo=halo)["sum"]
            assert same(found, ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"])
        for domain in [np.s_[4:31, 3:9], 7, 10000]:
            assert same(ctm_dask.run(position, domain, executor=pool)["o"], ctm.run(position, domain)["o"])


@pytest.mark.skipif(not ctm_dask._shared.possible(), reason="no memory without a file here")
def test_shared_arrays_end_with_their_run():
    files = len(os.listdir("/proc/self/fd"))
    with ctm_dask._shared.Store() as store:
        array, name = store.new((3, 5), np.float32)
        name.open()[1] = 7
        assert array[1].tolist() == [7] * 5 and ctm_dask._shared.opens(name)
    assert not ctm_dask._shared.opens(name) and array[1, 0] == 7
    del array
    assert len(os.listdir("/proc/self/fd")) == files


def test_workers_that_share_nothing_are_sent_arrays(axpy, monkeypatch):
    def away(self):
        raise ctm_dask._shared.Away("elsewhere")

    monkeypatch.setattr(ctm_dask._shared.Name, "open", away)
    monkeypatch.setattr(ctm_dask, "_local", lambda pool: True)
    with ThreadPoolExecutor(2) as pool:
        found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool)["sum"]
    assert same(found, ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"])


class DyingPool(ProcessPoolExecutor):
    """The same as a pool of processes, with which arrays are shared."""

    def __init__(self, mark):
        super().__init__(2)
        self.mark = mark

    def submit(self, function, *arguments):
        return super().submit(_die_once, self.mark, function, arguments)


class Dying:
    """A pool whose first worker dies once, in the middle of its work."""

    def __init__(self, mark):
        self.pool, self.mark = ProcessPoolExecutor(2), mark

    def submit(self, function, *arguments):
        return self.pool.submit(_die_once, self.mark, function, arguments)

    def shutdown(self):
        self.pool.shutdown()


def _die_once(mark, function, arguments):
    try:
        if function.__name__.startswith("_shard"):
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
    return function(*arguments)


@pytest.mark.parametrize("kind", [Dying, DyingPool])
def test_a_lost_worker_costs_time_only(kind, axpy, tmp_path):
    mark = str(tmp_path / "died")
    whole = ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"]
    found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=lambda: kind(mark), shards=6)["sum"]
    assert same(found, whole) and os.path.exists(mark)
    os.remove(mark)
    pool = kind(mark)
    with pytest.raises(RuntimeError, match="give a function"):
        ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=pool, shards=6)
    pool.shutdown()


def test_dask_arrays(axpy, tmp_path):
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    whole = ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"]
    x = da.from_array(X, chunks=(10, 20, 4))
    found = ctm_dask.run(axpy, (37, 20), {"x": x, "y": X}, {"a": 3}, halo={"x": 0})["sum"]
    assert found.numblocks[0] == 4 and same(found.compute(), whole)
    # Streamed from a file and to files, a chunk at a time.
    np.save(tmp_path / "x.npy", X)
    x = da.from_array(np.load(tmp_path / "x.npy", mmap_mode="r"), chunks=(8, 20, 4))
    found = ctm_dask.run(axpy, (37, 20), {"x": x, "y": x}, {"a": 3}, halo={"x": 0, "y": 0})["sum"]
    da.to_npy_stack(tmp_path / "out", found)
    assert same(da.from_npy_stack(tmp_path / "out").compute(), whole)
    zarr = pytest.importorskip("zarr", reason="Zarr is not installed")
    store = zarr.open_array(str(tmp_path / "out.zarr"), mode="w", shape=whole.shape, chunks=(10, 20, 4), dtype="f4")
    da.store(found.rechunk((10, 20, 4)), store, lock=False)
    assert same(np.asarray(store[:]), whole)
    x = da.from_zarr(str(tmp_path / "out.zarr"))
    again = ctm_dask.run(axpy, (37, 20), {"x": x, "y": x}, {"a": 0}, halo={"x": 0, "y": 0})["sum"]
    assert same(again.compute(), whole)


def test_a_cluster_that_loses_a_worker(axpy):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    whole = ctm.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3})["sum"]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, executor=client, shards=6)["sum"]
        assert same(found, whole)
        found = ctm_dask.run(axpy, (37, 20), {"x": X, "y": X}, {"a": 3}, shards=20)["sum"]
        future = client.compute(found)
        victim = next(iter(cluster.workers.values()))
        os.kill(victim.pid if hasattr(victim, "pid") else victim.process.pid, signal.SIGKILL)
        assert same(future.result(timeout=120), whole)
