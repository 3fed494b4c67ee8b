"""One picture and a sweep of parameters on several processes, which give the bits of one. Run: python examples/python/dask_sweep.py [SIZE]

Without Dask the same runs on a pool of `concurrent.futures`.
"""

import os
import pathlib
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import ctm
import ctm_dask
import numpy as np

try:
    from distributed import Client, LocalCluster
except ImportError:
    Client = None

WORKERS = 2


def measure(name, work):
    """The best of three, as machines do other things too."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - started)
    print(f"{name:>24}: {min(times):6.2f} s")
    return result, min(times)


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    root = pathlib.Path(__file__).resolve().parent.parent
    program = ctm.Program.open(root / "mandelbrot" / "mandelbrot.x1k")
    # A deep view: every processor turns many times. One thread for each worker, so that workers are what is compared.
    view = {"view": (-0.75, 0.1, 0.01 / size)}
    wanted = {"colour": 1}
    one, alone = measure("one process", lambda: ctm.run(program, (size, size), constants=view, outputs=wanted, threads=1)["colour"])

    def shards(executor):
        return ctm_dask.run(program, (size, size), None, view, wanted, executor=executor)["colour"]

    def compare(name, executor):
        shards(executor)  # Workers import and compile once.
        many, together = measure(name, lambda: shards(executor))
        assert many.tobytes() == one.tobytes(), "not the same bits"
        print(f"{'':>24}  the same bits, {alone / together:.2f} times as fast")

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(WORKERS) as pool:
        compare(f"{WORKERS} processes", pool)
        parameters = [{"view": (-0.75, 0.1, width / 256)} for width in np.geomspace(1, 1e-3, 8)]
        pictures = ctm_dask.sweep(program, (256, 256), parameters, executor=pool)
        print(f"{'sweep':>24}: {len(pictures)} pictures of {pictures[0]['colour'].shape}")
    if Client is not None:
        with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            compare(f"{WORKERS} Dask workers", client)


if __name__ == "__main__":
    main()
