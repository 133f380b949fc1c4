"""C structures are read from their headers as the compiler lays them out."""

import subprocess
from pathlib import Path

import pytest
from nicbed.layouts.description import MAX_PORTS
from nicbed.layouts.operations import ANSWER, Answer
from nicbed.layouts.processor import CRASH_WORDS
from nicbed.testbench.simulators import structures
from nicbed.testbench.simulators.structures import structure
from nicbed.testbench.simulators.verilator import toolchain
from nicbed.testbench.simulators.verilog import SOURCES


def compiled(tmp_path: Path, folder: Path, header: str, name: str, fields: list[str]
             ) -> list[tuple[int, int]]:
    """Offset and size of each of ``fields``, then 0 and the size of the whole."""
    parts = [f"{{offsetof({name}, {field}), sizeof({name}::{field})}}" for field in fields]
    source, program = tmp_path / "sizes.cpp", tmp_path / "sizes"
    source.write_text(f"""
#include <cstddef>
#include <cstdio>
#include "{header}"

int main() {{
    const size_t found[][2] = {{{", ".join([*parts, f"{{0, sizeof({name})}}"])}}};
    for (const auto& one : found) std::printf("%zu %zu ", one[0], one[1]);
}}
""")
    subprocess.run([*toolchain().compiler, "-std=c++20", f"-I{folder}", str(source), "-o",
                    str(program)], check=True)
    told = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    numbers = [int(one) for one in told.split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def read(kind) -> list[tuple[int, int]]:
    fields = [getattr(kind, name) for name, _ in kind._fields_]
    return [*((one.offset, one.size) for one in fields), (0, structures.ctypes.sizeof(kind))]


def test_the_mailbox_is_as_the_compiler_has_it(tmp_path):
    mailbox = structure("mailbox.h", "Mailbox")
    names = [name for name, _ in mailbox._fields_]
    assert read(mailbox) == compiled(tmp_path, SOURCES, "mailbox.h", "Mailbox", names)
    assert mailbox.count.size == MAX_PORTS and mailbox.crash.size == 4 * CRASH_WORDS


def test_an_answer_is_as_the_layouts_have_it():
    answer = structure("mailbox.h", "Answer")
    assert tuple(name for name, _ in answer._fields_) == ("cycle", "status", "data")
    assert structures.ctypes.sizeof(answer) == ANSWER.size
    assert set(Answer._fields) >= {"cycle", "status", "data"}


HEADER = """
#include <cstdint>
constexpr unsigned MANY = 3;
struct Other { uint8_t no; };
struct Holes {
    uint8_t one;      // uint8_t comment;
    uint64_t two;
    uint32_t
        three[2];
    void* (*call)(void*, void* const*, unsigned long long);
    uint8_t four[MANY];
    void* five[MANY];
};
"""


def test_holes_arrays_and_functions_are(tmp_path, monkeypatch):
    (tmp_path / "some.h").write_text(HEADER)
    monkeypatch.setattr(structures, "_SOURCES", tmp_path)
    holes = structure("some.h", "Holes")
    names = [name for name, _ in holes._fields_]
    assert names == ["one", "two", "three", "call", "four", "five"]
    assert read(holes) == compiled(tmp_path, tmp_path, "some.h", "Holes", names)


@pytest.mark.parametrize("field", ["bool one", "uint32_t one[FEW]", "uint32_t one : 3",
                                   "uint8_t one[2][2]"])
def test_other_fields_are_refused(tmp_path, monkeypatch, field):
    (tmp_path / "some.h").write_text(f"struct Some {{\n    {field};\n}};\n")
    monkeypatch.setattr(structures, "_SOURCES", tmp_path)
    with pytest.raises(ValueError, match="cannot lay out the field"):
        structure("some.h", "Some")


def test_a_structure_that_is_not_there_is_told():
    with pytest.raises(ValueError, match=r"mailbox\.h has no struct Mail$"):
        structure("mailbox.h", "Mail")
