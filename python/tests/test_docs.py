"""What is written in doc strings and pages runs."""

import doctest
import pathlib
import re

import numpy as np
import pytest

import ctm
import ctm._show
import ctm_dask


@pytest.mark.parametrize("module", [ctm, ctm._show, ctm_dask], ids=lambda m: m.__name__)
def test_doc_strings(module):
    failed, tried = doctest.testmod(module, extraglobs={"np": np, "ctm": ctm, "ctm_dask": ctm_dask})
    assert tried > 0 and failed == 0


ROOT = pathlib.Path(__file__).parents[2]
PAGES = [ROOT / "python/README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]


@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text(encoding="utf-8")], ids=lambda p: p.name)
def test_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def test_everything_public_has_a_doc_string():
    for module in (ctm, ctm_dask):
        for name in module.__all__:
            one = getattr(module, name)
            assert one.__doc__, name
            for attribute, value in vars(one).items() if isinstance(one, type) else []:
                if not attribute.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    assert value.__doc__, f"{name}.{attribute}"
