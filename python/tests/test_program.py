import pickle

import numpy as np
import pytest

import ctm


def test_a_program_says_what_it_is(axpy):
    assert axpy.isa == "x1k" and len(axpy) == 3
    assert axpy.words.shape == (3, 6) and axpy.words.dtype == np.uint32
    assert axpy.inputs == {"x": "s0", "y": "s1"}
    assert axpy.outputs == {"sum": "o0"} and axpy.constants == {"a": "c0"}
    assert axpy.check() == [] and axpy.warnings == [] and not axpy.scatters
    assert repr(axpy) == "<ctm.Program x1k, 3 instructions>"


def test_listings_words_and_images_come_back(axpy):
    assert (ctm.Program(axpy.listing).words == axpy.words).all()
    for data, name in [(axpy.to_elf(), "p.elf"), (axpy.to_hex().encode(), "p.hex"), (axpy.to_bytes(), "p.bin")]:
        assert (ctm.Program.read(data, name).words == axpy.words).all()
    assert (pickle.loads(pickle.dumps(axpy)).words == axpy.words).all()


def test_what_is_wrong_has_findings():
    with pytest.raises(ctm.ProgramError) as raised:
        ctm.Program("mvo o0, 1\nadd r1, r2", isa="x1k")
    error = raised.value
    assert error.code == "mnemonic" and len(error.findings) >= 2
    assert [f.line for f in error.findings][:2] == [1, 2]
    assert "mvo" in str(error) and "^" in error.findings[0].text
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ctm.ProgramError and copy.findings == error.findings


def test_files_are_read(examples):
    assert ctm.Program.open(examples / "mandelbrot/mandelbrot.x1k").isa == "x1k"
    assert ctm.Program.open(examples / "r700/saxpy/saxpy.psh").isa == "r700"
    with pytest.raises(FileNotFoundError):
        ctm.Program.open("no such file.x1k")


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "x" * 10000, "mov o0,", ".output", "\n" * 1000])
def test_odd_texts_are_refused(text):
    with pytest.raises((ctm.Error, UnicodeEncodeError)):
        ctm.Program(text)


def test_jupyter_gets_colours(axpy):
    html = axpy._repr_html_()
    assert html.startswith("<pre") and "span" in html and "mad" in html
    assert "<script" not in ctm.Program(".output o = o0 ; <script>\nmov o, 1")._repr_html_()


def test_other_languages_are_named():
    with pytest.raises(ctm.ProgramError) as raised:
        ctm.Program("#version 330\nfloat f(float x) { return x; }\nout vec4 c;\nvoid main() { c = vec4(f(1.0)); }\n")
    assert raised.value.code == "foreign-language" and "`ctm glsl`" in str(raised.value)
