"""Captures of Radeons' drivers: their command streams, and what they draw."""

from __future__ import annotations

import json
import os

import numpy as np

from . import _arrays, _native
from ._draw import Drawn
from ._errors import findings as _findings


class Replayed(Drawn):
    """What a capture drew: the targets that were bound last (``"colour0"``, ``"depth"``, ``"stencil"``).

    Colours have shape (rows, columns, 4), depth and stencil (rows, columns); ``float32``, or ``uint32`` where the target holds integers. ``draws`` is a list of dictionaries, one for each draw with its
    targets and the registers that changed before it; ``problems`` a list of dictionaries of what went wrong; ``submissions`` says how many ran.

    >>> drawn = ctm.Capture.open("crates/ctm-radeon/tests/captures/scenes/depth.capture").replay()
    >>> len(drawn.draws), drawn.problems, drawn.submissions, drawn.counts
    (3, [], 1, {'draws': 3, 'submissions': 1})
    """

    def __init__(self, targets, draws, problems, submissions):
        super().__init__(targets, targets.get("depth"), {"draws": len(draws), "submissions": submissions}, [])
        self.draws = draws
        self.problems = problems
        self.submissions = submissions


class Capture:
    """A capture of what a Radeon's driver submitted (``docs/radeon.md``): command streams with the buffers that they use.

    ``Capture(data)`` takes a file's bytes, :meth:`open` a file that ``ctm radeon --capture`` wrote. Raises :class:`ArgumentError` (code ``bad-capture``) for other bytes,
    and where a capture ends too early.

    >>> capture = ctm.Capture.open("crates/ctm-radeon/tests/captures/tex2d.capture")
    >>> len(capture), capture.check()
    (3, [])
    >>> capture.text(0).splitlines()[0].split()[:2]
    ['00000:', 'CONTEXT_CONTROL']
    >>> drawn = capture.replay(draw=1)
    >>> drawn["colour0"].shape, drawn["colour0"].dtype.name, drawn.draws[0]["primitives"]
    ((64, 64, 4), 'float32', 'Rectangles')
    """

    def __init__(self, data):
        self._data = bytes(data)
        self._streams = _native.capture_streams(self._data)

    @classmethod
    def open(cls, path):
        """A capture from a file."""
        return cls(_native.read_file(os.fspath(path), "capture"))

    def __len__(self):
        return len(self._streams)

    def _stream(self, submission):
        last = len(self._streams) - 1
        return self._streams[_arrays.integer(submission, "the submission", 0, last)]

    def words(self, submission):
        """The words of a submission, counted from 0: ``uint32``, shape (words,)."""
        return self._stream(submission)[1].copy()

    def text(self, submission):
        """A submission as text: every packet, every register with its fields."""
        return self._stream(submission)[2]

    def check(self):
        """What the kernel would refuse, and what does not fit together: a list of :class:`Finding`."""
        return _findings(_native.check_capture(self._data))

    def replay(self, draw=None, engine=None):
        """Runs the submissions on their buffers: all of them, or up to a draw, counted from 1. Gives a :class:`Replayed`.

        The capture stays as it is. Ctrl-C ends it.
        """
        draw = None if draw is None else _arrays.integer(draw, "the draw", 1, 2**32 - 1)
        found, draws, problems, submissions = _native.replay_capture(self._data, draw, engine)
        targets = {}
        for name, (rows, columns, channels), integers, bits in found:
            shape = (rows, columns) if channels == 1 else (rows, columns, channels)
            targets[name] = bits.view(np.uint32 if integers else np.float32).reshape(shape)
        names = ("submission", "dword", "draw", "rule", "message")
        return Replayed(targets, json.loads(draws), [dict(zip(names, problem)) for problem in problems], submissions)
