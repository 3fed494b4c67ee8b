"""Whatever a caller gives, there is a result or an exception: never a crash."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ctm

ALLOWED = (ctm.Error, TypeError, ValueError, OverflowError)
LIMITS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

dtypes = st.one_of(hnp.scalar_dtypes(), st.sampled_from([np.dtype(np.float32)] * 3 + [np.dtype(np.uint8), np.dtype(np.uint16)]))
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
views = st.builds(
    lambda a, turn, step, lock: _view(a, turn, step, lock), arrays, st.booleans(), st.sampled_from([1, 2, -1]), st.booleans()
)
odd = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3), st.lists(st.integers(), max_size=3), st.just(object()))
domains = st.one_of(
    st.integers(-2, 70), st.tuples(st.integers(-1, 9), st.integers(-1, 9)), st.tuples(st.slices(9), st.slices(9)), odd,
    st.tuples(odd, odd),
)


def _view(array, turn, step, lock):
    if turn:
        array = array.T
    if array.ndim:
        array = array[::step]
    if lock:
        array.flags.writeable = False
    return array


@LIMITS
@given(domain=domains, x=st.one_of(views, odd), y=st.one_of(views, odd), a=st.one_of(views, odd), out=st.one_of(views, odd, st.integers(0, 5)))
def test_runs(axpy, domain, x, y, a, out):
    try:
        done = ctm.run(axpy, domain, {"x": x, "y": y}, {"a": a}, {"sum": out})
    except ALLOWED:
        return
    assert done["sum"].dtype == np.float32


@LIMITS
@given(names=st.dictionaries(st.one_of(st.text(max_size=4), odd.filter(lambda v: not isinstance(v, list))), st.one_of(views, odd), max_size=3),
       which=st.sampled_from(["inputs", "constants", "outputs", "ints", "bools", "memories"]))
def test_names(position, names, which):
    try:
        ctm.run(position, 4, **{which: names})
    except ALLOWED:
        pass


@LIMITS
@given(st.one_of(st.text(), st.text(alphabet=".movadtexrcs0123456789,;\n -|"), st.binary()))
def test_programs(data):
    try:
        ctm.Program(data) if isinstance(data, str) else ctm.Program.read(data)
    except (*ALLOWED, UnicodeEncodeError):
        pass


@LIMITS
@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_command_buffers(words):
    device = ctm.Device(instructions=1000)
    try:
        device.submit(np.array(words, np.uint32))
    except ALLOWED:
        pass


@LIMITS
@given(st.one_of(views, odd))
def test_pictures(array):
    try:
        ctm.Picture(array)
    except ALLOWED:
        pass
