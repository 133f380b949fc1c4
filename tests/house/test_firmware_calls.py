"""Firmware: calls between files go one way, and so does what else they share by name.

Each file is compiled alone, by the compiler and flags of the firmware's own build. What its object
defines and what it leaves undefined says which file needs which. What headers have inline counts
for the file that uses it.
"""

import subprocess
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from nicbed.firmware import build

HERE = build.HERE
CRASHING = Path(__file__).parents[1] / "firmware"
FOLDERS = {name: HERE / name for name in build.names()} | {
    path.parent.name: path.parent for path in sorted(CRASHING.rglob("main.c"))}

Symbols = tuple[set[str], set[str]]
"""Names that a file defines for others, and those that it takes from them."""


def symbols(folder: Path, work: Path) -> dict[str, Symbols]:
    """Those of each source file, the runtime's among them."""
    command = build.compiler(folder, "picorv32", work)
    found: dict[str, Symbols] = {}
    for source in build.sources(folder):
        made = work / f"{source.parent.name}-{source.name}.o"
        subprocess.run([*command, "-c", str(source), "-o", str(made)], check=True, timeout=300)
        with open(made, "rb") as stream:
            table = ELFFile(stream).get_section_by_name(".symtab")
            names = [(symbol.name, symbol["st_shndx"] == "SHN_UNDEF")
                     for symbol in table.iter_symbols()
                     if symbol.name and symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK")]
        found[f"{source.parent.name}/{source.name}"] = (
            {name for name, undefined in names if not undefined},
            {name for name, undefined in names if undefined})
    return found


def needs(found: Mapping[str, Symbols]) -> dict[str, dict[str, set[str]]]:
    """For each file the other files that it needs, and the symbols for which it does."""
    return {one: {other: wanted & defined for other, (defined, _) in found.items()
                  if other != one and wanted & defined}
            for one, (_, wanted) in found.items()}


def circle(edges: Mapping[str, Mapping[str, set[str]]]) -> str:
    """A circle, as text: each of its files, and what it needs of the next one. Empty: none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        # Each of these is needed by the next one.
        files = error.args[1][::-1]
        return ", ".join(f"{one} needs {other} ({', '.join(sorted(edges[one][other]))})"
                         for one, other in zip(files, files[1:], strict=False))
    return ""


@pytest.mark.parametrize("name", FOLDERS)
def test_no_circle_of_calls(name: str, tmp_path: Path) -> None:
    edges = needs(symbols(FOLDERS[name], tmp_path))
    assert edges["runtime/crt0.S"][f"{FOLDERS[name].name}/main.c"] == {"main"}
    assert circle(edges) == ""


def test_a_circle_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "round"
    folder.mkdir()
    (folder / "main.c").write_text(
        '#include "nic.h"\nvoid down(void);\nextern int state;\nvoid up(void) { state++; }\n'
        "int main(void) { down(); return 0; }\n")
    (folder / "below.c").write_text("int state;\nvoid up(void);\nvoid down(void) { up(); }\n")
    found = circle(needs(symbols(folder, tmp_path)))
    assert "round/main.c needs round/below.c (down, state)" in found
    assert "round/below.c needs round/main.c (up)" in found
