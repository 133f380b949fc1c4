"""The public interface: docs/reference/api.md lists it, the package exports it, and it loads
no more than it needs."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import nicbed
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"


def listed() -> dict[str, list[str]]:
    """Names of the page's tables, by heading."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {section.split("\n")[0]: re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
            for section in sections}


def test_the_page_lists_what_the_package_exports():
    layers = [f"nicbed.host.{layer}" for layer in ("am", "fm", "gm", "mpi", "mpl", "raw", "rpc",
                                                     "smp", "splitc", "tcp", "via")]
    assert list(listed()) == ["nicbed", *layers]
    for place, names in listed().items():
        assert sorted(names) == sorted(importlib.import_module(place).__all__), place
    for place in layers:
        assert getattr(nicbed, place.split(".")[-1]) is sys.modules[place]


@pytest.mark.parametrize("name", nicbed.__all__)
def test_each_name_is_there(name):
    assert getattr(nicbed, name) is not None
    assert name in dir(nicbed)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'nicbed' has no attribute 'nothing'"):
        _ = nicbed.nothing


def test_an_import_loads_nothing():
    code = ("import sys; before = set(sys.modules); import nicbed;"
            "print(sorted(m for m in set(sys.modules) - before if m.startswith('nicbed.')"
            " or m in ('amaranth', 'matplotlib', 'numpy', 'pydantic', 'cocotb')));"
            "nicbed.Gam, nicbed.Vipl, nicbed.load, nicbed.bench, nicbed.run_job;"
            "print([m for m in ('amaranth', 'matplotlib', 'cocotb') if m in sys.modules])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["[]", "[]"], run.stderr


def test_the_version_is_the_projects():
    import tomllib

    project = tomllib.loads((PAGE.parents[2] / "pyproject.toml").read_text())["project"]
    assert nicbed.__version__ == project["version"]


def test_bench_refuses_in_one_line():
    with pytest.raises(nicbed.UserError, match="no benchmark is called lgop; did you mean logp"):
        nicbed.bench("lgop")
    with pytest.raises(nicbed.UserError, match="rtt does not exist for layer via"):
        nicbed.bench("rtt", layer="via")
    with pytest.raises(nicbed.UserError, match="no layer is called"):
        nicbed.bench("rtt", layer="vai")
    with pytest.raises(nicbed.UserError, match="no simulator is called"):
        nicbed.bench("rtt", sim="vcs")
