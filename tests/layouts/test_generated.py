"""Pages and headers that are generated from the declarations agree with them."""

import subprocess
from pathlib import Path

import pytest
from nicbed.firmware import tools
from nicbed.firmware.header import c_header, constants
from nicbed.layouts.description import knobs
from nicbed.layouts.docs import knobs as knob_docs
from nicbed.layouts.docs import processor as processor_docs
from nicbed.layouts.docs.registers import PAGE, main, markdown
from nicbed.layouts.processor import MMIO_REGISTERS, Engine, Pending, mmio_address
from nicbed.layouts.registers import REGISTERS, Access, Irq
from nicbed.layouts.rings import DESCRIPTOR_BYTES


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), \
        "run: python -m nicbed.layouts.docs.registers"


def test_page_has_every_register() -> None:
    text = markdown()
    for register in REGISTERS:
        assert f"| `{register.offset:#06x}` | `{register.name}` | {register.access.value} |" in text
    for cause in Irq:
        assert f"| {cause.name.lower()} |" in text
    for access in Access:
        assert f"*{access.value}*" in text


def test_processor_page_is_up_to_date() -> None:
    assert processor_docs.PAGE_FILE.read_text(encoding="utf-8") == processor_docs.markdown(), \
        "run: python -m nicbed.layouts.docs.processor"


def test_processor_page_has_every_register() -> None:
    text = processor_docs.markdown()
    for register in MMIO_REGISTERS:
        assert (f"| `{mmio_address(register.name):#x}` | `{register.name}` | "
                f"{register.access.value} |") in text
    for one in (*Pending, *Engine):
        assert f"| {one.value} | {str(one.name).lower()} | " in text
        assert f"| {one.value} | {str(one.name).lower()} |  |" not in text


def test_knob_page_is_up_to_date() -> None:
    assert knob_docs.PAGE.read_text(encoding="utf-8") == knob_docs.markdown(), \
        "run: python -m nicbed.layouts.docs.knobs"
    for knob in knobs():
        default = str(knob.default)
        if isinstance(knob.default, bool):
            default = default.lower()
        assert f"| `{knob.name}` | {default} | " in knob_docs.markdown()


def test_processor_page_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert processor_docs.main(["-"]) == 0
    assert capsys.readouterr().out == processor_docs.markdown()
    assert processor_docs.main(["elsewhere"]) == 2


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
    assert constants()["NICBED_MMIO_SEND_START"] == 0x8000_0150
    checks += [f"_Static_assert({name}_MASK == (uint64_t){name}_{half}_MASK << {32 * at}"
               f" && {name}_SHIFT == {name}_{half}_SHIFT + {32 * at}, \"{name}\");"
               for at, half in enumerate(("LO", "HI")) for name in
               [key.removesuffix(f"_{half}_MASK") for key in constants()
                if key.endswith(f"_{half}_MASK")]]
    checks.append(f"_Static_assert(sizeof(struct nicbed_descriptor) == {DESCRIPTOR_BYTES}, \"\");")
    checks.append("_Static_assert(sizeof(struct nicbed_slot) == 16, \"\");")
    source = tmp_path / "check.c"
    source.write_text('#include "nicbed.h"\n' + "\n".join(checks) + "\n")
    command = [*tools.COMPILER, "cc", "-target", "riscv32-freestanding-none",
               "-std=c11", "-Wall", "-Werror", "-c", str(source), "-o", str(tmp_path / "check.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env=tools.environment())
    assert done.returncode == 0, done.stderr
