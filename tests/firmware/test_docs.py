"""What docs/tutorials/firmware.md shows is what there is, and runs."""

import re
from pathlib import Path
from typing import Any

from tests.models.target import Model
from tests.programs.firmware import describe

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "firmware.md").read_text(encoding="utf-8")


def test_the_example_is_the_one_that_is_built() -> None:
    shown = re.search(r"```c\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1] == (ROOT / "firmware" / "example" / "turnaround" / "main.c").read_text()


def test_its_host_program_runs() -> None:
    shown = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    names: dict[str, Any] = {}
    exec(shown[1], names)
    for core in ("picorv32", "serv"):
        times, _ = Model(describe(core)).run([names["program"]] * 2, limit=20_000_000).results
        assert len(times) == names["PACKETS"] and all(0 < time < 20_000 for time in times)


def test_every_function_it_names_is_there() -> None:
    runtime = "".join(path.read_text() for path in (ROOT / "firmware" / "runtime").iterdir())
    section = PAGE[PAGE.index("## Waiting"):]
    for name in set(re.findall(r"`(\w+)\(", section)):
        assert re.search(rf"\b{name}\(", runtime), name
