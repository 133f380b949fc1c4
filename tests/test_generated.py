"""Pages and headers that are generated from the declarations agree with them."""

import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.firmware.header import c_header, constants
from nicbed.layouts.register_docs import PAGE, main, markdown
from nicbed.layouts.registers import REGISTERS, Access, Irq
from nicbed.layouts.rings import DESCRIPTOR_BYTES


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), \
        "run: python -m nicbed.layouts.register_docs"


def test_page_has_every_register() -> None:
    text = markdown()
    for register in REGISTERS:
        assert f"| `{register.offset:#06x}` | `{register.name}` | {register.access.value} |" in text
    for cause in Irq:
        assert f"| {cause.name.lower()} |" in text
    for access in Access:
        assert f"*{access.value}*" in text


def test_page_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-"]) == 0
    assert capsys.readouterr().out == markdown()
    assert main(["elsewhere"]) == 2


def test_offsets_do_not_overlap() -> None:
    offsets = [register.offset for register in REGISTERS]
    assert offsets == sorted(set(offsets))
    assert all(offset % 8 == 0 for offset in offsets)


def test_c_header_compiles_and_agrees(tmp_path: Path) -> None:
    """The compiler itself evaluates every constant and the structs' sizes."""
    (tmp_path / "nicbed.h").write_text(c_header())
    checks = [f"_Static_assert({name} == {value}ULL, \"{name}\");"
              for name, value in constants().items()]
    checks.append(f"_Static_assert(sizeof(struct nicbed_descriptor) == {DESCRIPTOR_BYTES}, \"\");")
    checks.append("_Static_assert(sizeof(struct nicbed_slot) == 16, \"\");")
    source = tmp_path / "check.c"
    source.write_text('#include "nicbed.h"\n' + "\n".join(checks) + "\n")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv32-freestanding-none",
               "-std=c11", "-Wall", "-Werror", "-c", str(source), "-o", str(tmp_path / "check.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
