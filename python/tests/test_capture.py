"""Captures of a driver, and what they draw."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctm

CAPTURES = pathlib.Path(__file__).parents[2] / "crates/ctm-radeon/tests/captures"


def test_a_scene_is_drawn():
    capture = ctm.Capture.open(CAPTURES / "scenes/blend.capture")
    done = capture.replay()
    assert done.problems == [] and done.submissions == len(capture) and len(done.draws) == done.counts["draws"] > 1
    picture = done["colour0"]
    assert picture.shape == (64, 64, 4) and picture.dtype == np.float32
    # Beside it lies what llvmpipe drew, in the rows' order of memory.
    wanted = np.fromfile(CAPTURES / "scenes/blend.rgba", np.uint8).reshape(64, 64, 4)
    assert (np.abs(np.rint(picture * 255) - wanted) <= 1).mean() > 0.999
    slow = capture.replay(engine="interp")
    assert (slow["colour0"].view(np.uint32) == picture.view(np.uint32)).all()


def test_a_draw_in_the_middle():
    capture = ctm.Capture.open(CAPTURES / "tex2d.capture")
    first = capture.replay(draw=1)
    assert len(first.draws) == 1 and first.draws[0]["draw"] == 1 and "VGT_PRIMITIVE_TYPE" in first.draws[0]["changes"]
    with pytest.raises(ctm.ArgumentError, match="draws, 99 is asked for"):
        capture.replay(draw=99)
    for wrong in (0, -1, "1", 1.5):
        with pytest.raises((ctm.ArgumentError, TypeError)):
            capture.replay(draw=wrong)
    with pytest.raises(ctm.ArgumentError, match="engine"):
        capture.replay(engine="fast")


def test_streams():
    capture = ctm.Capture.open(CAPTURES / "tex2d.capture")
    words = capture.words(0)
    assert words.dtype == np.uint32 and words.ndim == 1 and "DRAW_INDEX_AUTO" in capture.text(0)
    words[:] = 0
    assert capture.words(0).any()
    assert capture.check() == []
    with pytest.raises(ctm.ArgumentError):
        capture.words(len(capture))


def test_what_is_no_capture():
    with pytest.raises(ctm.ArgumentError) as raised:
        ctm.Capture(b"no capture")
    assert raised.value.code == "bad-capture"
    data = (CAPTURES / "tex2d.capture").read_bytes()
    with pytest.raises(ctm.ArgumentError):
        ctm.Capture(data[:-5])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60000), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_captures(changes):
    data = bytearray((CAPTURES / "tex2d.capture").read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    try:
        ctm.Capture(data).replay()
    except ctm.Error:
        pass
