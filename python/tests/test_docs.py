"""What is written in doc strings and pages runs."""

import doctest
import pathlib
import re

import numpy as np
import pytest

import ctm
import ctm._capture
import ctm._draw
import ctm._errors
import ctm._show
import ctm_dask


ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("module", [ctm, ctm._capture, ctm._draw, ctm._errors, ctm._show, ctm_dask], ids=lambda m: m.__name__)
def test_doc_strings(module, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testmod(module, extraglobs={"np": np, "ctm": ctm, "ctm_dask": ctm_dask})
    assert tried > 0 and failed == 0


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


def test_everything_public_has_an_example():
    """A class or a function has one of its own or in a page; members occur in an example of any."""
    owners = [one for module in (ctm, ctm_dask) for one in (getattr(module, name) for name in module.__all__)]
    texts = [module.__doc__ for module in (ctm, ctm_dask)]
    for one in owners:
        members = vars(one).values() if isinstance(one, type) else ()
        texts += [each.__doc__ for each in (one, *members) if isinstance(getattr(each, "__doc__", None), str)]
    lines = [line for text in texts for line in text.splitlines() if line.strip().startswith((">>>", "..."))]
    for page in PAGES:
        lines += re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    examples = "\n".join(lines)
    # Ray is not installed where tests run.
    without = {"RayExecutor"}
    for module in (ctm, ctm_dask):
        for name in set(module.__all__) - without:
            one = getattr(module, name)
            assert ">>>" in one.__doc__ or re.search(rf"\b{module.__name__}\.{name}\b", examples), f"{module.__name__}.{name}"
            for attribute, value in vars(one).items() if isinstance(one, type) else []:
                if not attribute.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    assert re.search(rf"\.{attribute}\b", examples), f"{name}.{attribute}"
