"""Arrays that processes of one machine share, so that shards read whole inputs and write outputs where they lie, and only names move between processes.

Memory without a file (``memfd``), which other processes of the same user open by its number in this one: Linux only. Nothing is left behind, however a process
ends. Elsewhere, and between machines, arrays are sent.
"""

from __future__ import annotations

import mmap
import os

import numpy as np


class Away(Exception):
    """A shared array cannot be opened here: this process runs elsewhere."""


def possible():
    """Whether this machine has such memory."""
    return hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")


class Name:
    """What moves between processes in place of an array."""

    def __init__(self, process, file, node, shape, dtype):
        self.process, self.file, self.node, self.shape, self.dtype = process, file, node, shape, dtype

    def open(self):
        """The array, in whichever process. Raises :class:`Away` where it is not to be had."""
        try:
            found = os.open(f"/proc/{self.process}/fd/{self.file}", os.O_RDWR)
        except OSError as error:
            raise Away(str(error)) from None
        try:
            if _node(found) != self.node:
                raise Away(f"process {self.process} is another one here")
            return _map(found, self.shape, self.dtype)
        finally:
            os.close(found)


def _node(file):
    status = os.fstat(file)
    return status.st_dev, status.st_ino


def _map(file, shape, dtype):
    memory = mmap.mmap(file, 0)
    if hasattr(mmap, "MADV_DONTFORK"):
        memory.madvise(mmap.MADV_DONTFORK)
    count = int(np.prod(shape))
    return np.frombuffer(memory, dtype, count).reshape(shape)


class Store:
    """Shared arrays of one run. When it is closed no process can open them any more; arrays that are open stay."""

    def __init__(self):
        self._files = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in self._files:
            os.close(file)
        self._files = []

    def new(self, shape, dtype):
        """An array of zeros, and its name."""
        dtype = np.dtype(dtype)
        file = os.memfd_create("ctm_dask")
        self._files.append(file)
        os.ftruncate(file, max(int(np.prod(shape)) * dtype.itemsize, 1))
        return _map(file, shape, dtype), Name(os.getpid(), file, _node(file), tuple(shape), dtype.str)

    def copy(self, array):
        """The name of a copy of an array."""
        shared, name = self.new(array.shape, array.dtype)
        shared[...] = array
        return name


def opens(name):
    """Whether this process can open an array; what workers are asked."""
    try:
        name.open()
    except Away:
        return False
    return True
