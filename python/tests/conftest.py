import pathlib

import pytest

import ctm

AXPY = """
.input  x = s0, y = s1
.output sum = o0
.const  a = c0
  tex r1, x, r0.rg
  tex r2, y, r0.rg
  mad sum, a.rrrr, r1, r2
"""


@pytest.fixture(scope="session")
def axpy():
    return ctm.Program(AXPY)


@pytest.fixture(scope="session")
def position():
    return ctm.Program(".output o = o0\nmov o, r0")


@pytest.fixture(scope="session")
def examples():
    return pathlib.Path(__file__).parents[2] / "examples"
