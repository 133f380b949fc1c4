"""Building firmware: what comes out, its symbols and lines, what a user's mistake is told."""

import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.firmware import build, cache
from nicbed.firmware.build import STACK_BYTES, BuildError, image, main, names
from nicbed.firmware.image import Image
from nicbed.layouts.doors import CORES

HERE = Path(__file__).parent.parent
SOURCE = """\
#include "nic.h"
PARAMETER(speed) = 7;
PARAMETER(table)[3];
SHARED(volatile uint32_t, seen);
PAGED_ARRAY(uint64_t, slots, 16);
__attribute__((noinline)) void helper(void)
{
    panic(3);
}
int main(void)
{
    seen = (uint32_t)speed + (uint32_t)table[2] + (uint32_t)slots[0];
    seen = now();
    helper();
    return 0;
}
"""


def folder(place: Path, text: str = SOURCE, name: str = "small") -> Path:
    made = place / name
    made.mkdir(parents=True)
    (made / "main.c").write_text(text)
    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return image(folder(tmp_path_factory.mktemp("firmware")), "picorv32", 1 << 14)


def test_sizes_and_symbols(small: Image) -> None:
    symbols = small.symbols
    assert symbols["_start"].address == 0 and small.code[:1] != b"\0"
    assert len(small.code) % 8 == 0
    assert small.text + small.data <= len(small.code) < small.text + small.data + 8
    assert symbols["speed"].size == 8 and symbols["table"].size == 24
    assert set(small.parameters) == {"speed", "table", "doorbells_are_words"}
    assert symbols["slots"].address % 4096 == 0 and symbols["slots"].size == 128
    assert symbols["slots"].address + 128 <= symbols["__free"].address
    assert symbols["__stack_top"].address == small.memory == 1 << 14
    assert small.stack == (1 << 14) - small.text - small.data - small.bss >= STACK_BYTES


def test_a_macro_chooses_a_variant(tmp_path: Path) -> None:
    place = folder(tmp_path, SOURCE.replace("int main", "#ifdef MORE\nPARAMETER(more);\n#endif\n"
                                                       "int main").replace("helper();", (
        "#ifdef MORE\nseen = (uint32_t)more;\n#endif\nhelper();")), "variant")
    plain, more = image(place, "picorv32", 1 << 14), image(place, "picorv32", 1 << 14, ["MORE"])
    assert "more" in more.parameters and "more" not in plain.parameters
    assert image(place, "picorv32", 1 << 14).code == plain.code != more.code


def test_a_firmware_has_options_of_its_own(tmp_path: Path) -> None:
    """Another file of them is another image in the cache."""
    made = folder(tmp_path, SOURCE.replace("(uint32_t)speed", "(uint32_t)FAST"))
    (made / "compile_flags.txt").write_text("-DFAST=3\n")
    assert image(made, "picorv32").text > 0
    (made / "compile_flags.txt").write_text("-DFAST=oops\n")
    with pytest.raises(BuildError, match="oops"):
        image(made, "picorv32")


def test_parameters_are_set_in_what_is_loaded(small: Image) -> None:
    def word(code: bytes, name: str, at: int = 0) -> int:
        place = small.symbols[name].address + 8 * at
        return int.from_bytes(code[place:place + 8], "little")
    assert word(small.code, "speed") == 7
    code = small.with_parameters({"table": [1, 2, (1 << 64) - 1]})
    assert [word(code, "table", at) for at in range(3)] == [1, 2, (1 << 64) - 1]
    assert word(code, "speed") == 7 and word(small.with_parameters({"speed": 9}), "speed") == 9


@pytest.mark.parametrize("values, text", [
    ({"sped": 1}, "has no parameter 'sped'; there are doorbells_are_words, speed, table"),
    ({"speed": 1 << 64}, "parameter speed of firmware small takes up to 1 numbers of 64 bits"),
    ({"speed": -1}, "numbers of 64 bits, not -1"),
    ({"table": [1, 2, 3, 4]}, "takes up to 3 numbers"),
    ({"seen": 1}, "no parameter 'seen'"),
])
def test_wrong_parameters(small: Image, values: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        small.with_parameters(values)


def test_a_program_counter_in_words(small: Image) -> None:
    helper = small.symbols["helper"]
    found = [small.lookup(helper.address + at) for at in range(0, helper.size, 4)]
    assert found[0] in ("helper+0x0 (small/main.c:7)", "helper+0x0 (small/main.c:8)")
    assert found[-1] == f"helper+{helper.size - 4:#x} (small/main.c:8)"
    line = small.line(small.symbols["main"].address)
    assert line is not None and line[:2] == ("main", "small/main.c") and line.number in (11, 12)
    assert small.lookup(0).startswith("_start+0x0 (firmware/runtime/crt0.S:")
    assert small.lookup(small.symbols["seen"].address) == "no function is there"
    assert small.lookup(1 << 14) == small.lookup(-1) == "outside NIC memory"


def test_a_function_in_line_and_its_place(small: Image) -> None:
    """now() of the runtime, in main: both lines are said."""
    main = small.symbols["main"]
    for at in range(main.address, main.address + main.size, 4):
        line, own = small.line(at), small.own_line(at)
        assert line is not None and own is not None and own.function == "main"
        assert own.file == "small/main.c" and 11 <= own.number <= 16
        if line.file.endswith("nic.h"):
            assert own.number == 13 and small.lookup(at).endswith(
                f"(small/main.c:13, firmware/runtime/nic.h:{line.number})")
            break
    else:
        pytest.fail("nothing of nic.h is there")


def test_no_lines_of_dropped_functions(small: Image) -> None:
    """Functions that the linker dropped have line tables too."""
    files = {line.file for pc in range(0, small.text, 4) if (line := small.line(pc)) is not None}
    assert "small/main.c" in files and "firmware/runtime/queue.c" not in files


@pytest.mark.parametrize("core", CORES.builtin)
def test_instructions_that_the_core_has(core: str, tmp_path: Path) -> None:
    """rv32i has no multiplication: the compiler's library does it."""
    made = image(folder(tmp_path, '#include "nic.h"\nint main(void) { return now() * node(); }\n'),
                 core)
    words = [int.from_bytes(made.code[at:at + 4], "little") for at in range(0, made.text, 4)]
    multiplies = any(word & 0xFE00007F == 0x02000033 for word in words)
    assert multiplies == (core != "serv")


def test_the_image_does_not_depend_on_the_folder(tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for place in ("one", "another/deeper"):
        monkeypatch.setenv("NICBED_CACHE", str(tmp_path / place / "cache"))
        made = image(folder(tmp_path / place), "vexriscv")
        found.append((made.code, made.symbols, made.lookup(made.symbols["main"].address)))
    assert found[0] == found[1]


def test_paths_as_people_have_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the cache, of the sources and of the working folder."""
    odd = tmp_path / "wörk: ing; 'place' $e #1" / ("q" * 200)
    odd.mkdir(parents=True)
    monkeypatch.setenv("NICBED_CACHE", str(odd / "c: ache"))
    monkeypatch.chdir(odd)
    made = image(folder(odd), "picorv32")
    assert made.lookup(made.symbols["main"].address)
    assert (odd / "c: ache" / "firmware").is_dir()


def test_the_cache_holds_until_an_input_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                             ) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    place = folder(tmp_path)
    first = image(place, "picorv32")
    monkeypatch.setattr(build, "_build", lambda *_: pytest.fail("built again"))
    assert image(place, "picorv32").code == first.code
    (place / "main.c").write_text(SOURCE.replace("= 7", "= 8"))
    with pytest.raises(pytest.fail.Exception, match="built again"):
        image(place, "picorv32")


def test_firmware_larger_than_memory(tmp_path: Path) -> None:
    text = '#include "nic.h"\nSHARED(char, big)[20000];\nint main(void) { return big[node()]; }\n'
    place = folder(tmp_path, text)
    assert image(place, "picorv32", 1 << 15).bss >= 20000
    with pytest.raises(BuildError, match=r"^firmware small does not fit: text \d+, data \d+, "
                       r"bss 200\d\d and 1024 for the stack are \d+ bytes, NIC memory has 16384 "
                       r"\(processor.memory\)$"):
        image(place, "picorv32", 1 << 14)


def test_the_compilers_own_words(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        image(folder(tmp_path, '#include "nic.h"\nint main(void) { return nothing; }\n'), "serv")
    text, words = str(caught.value), caught.value.log
    assert text.startswith("firmware small for serv does not compile: ") and "\n" not in text
    assert text.endswith("main.c:2:25: error: use of undeclared identifier 'nothing'")
    assert text.rpartition("compile: ")[2] in words and len(words.splitlines()) > 2
    assert str(cache.root()) not in words


@pytest.mark.parametrize("name, core, text", [
    ("nothing", "serv", "there is no firmware 'nothing': a name is one of .*turnaround"),
    ("turnaround", "z80", "^no core is called z80; there are: serv, "),
])
def test_wrong_names(name: str, core: str, text: str) -> None:
    with pytest.raises(BuildError, match=text):
        image(name, core)


def test_sizes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["turnaround", "picorv32", "32768"]) == 0
    heads, row = capsys.readouterr().out.splitlines()
    made = image("turnaround", "picorv32", 32768)
    assert heads.split() == ["firmware", "core", "text", "data", "bss", "stack", "room", "of"]
    assert row.split() == ["turnaround", "picorv32", *map(str, (
        made.text, made.data, made.bss, made.stack, 32768))]
    assert main(["turnaround"]) == main(["turnaround", "serv", "much"]) == 2
    assert main(["nothing", "serv"]) == 2
    assert "there is no firmware 'nothing'" in capsys.readouterr().err


def test_every_firmware_has_a_name() -> None:
    assert "example/turnaround" in names()


def test_assembler_and_c_agree_on_constants() -> None:
    """The header is C and assembler."""
    done = subprocess.run([sys.executable, "-m", "nicbed.firmware.header"], capture_output=True,
                          text=True, check=True)
    assert "#define NICBED_MMIO_WAIT " in done.stdout and "__ASSEMBLER__" in done.stdout
