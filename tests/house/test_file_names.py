"""A file that has one public class is named after it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_LAYER = "a layer has its own, and its folder says whose it is"
_PLURAL = "what it has of the class is a set of them"
_FIELD = "the field's name of the class, and the room's"

EXCEPTIONS = {
    "attributes: Attributed": _FIELD,
    "attributes: Keyvals": _FIELD,
    "base: Communicator": "the base of all communicators",
    "bed: GatedTestbed": "a kind of testbed/bed",
    "bt: BlockTridiagonal": "the benchmark's name is BT",
    "costs: Prices": _LAYER,
    "costs: TrapPrices": _LAYER,
    "creation: Windows": "what creates them",
    "done_count: Report": "how the count is told",
    "executor: Cluster": "an executor, as concurrent.futures has them",
    "groups: Group": _PLURAL,
    "library: Mpi": _FIELD,
    "locks: Lock": _PLURAL,
    "lu: LowerUpper": "the benchmark's name is LU",
    "matched: Message": _FIELD,
    "memory: PagedMemory": _LAYER,
    "operands: Operand": _PLURAL,
    "operators: Op": _FIELD,
    "output: Lines": "a part of the output",
    "parallel: EmbarrassinglyParallel": "the benchmark's name is EP",
    "peers: Peer": _PLURAL,
    "perfetto: Timeline": "the format that the timeline is written in",
    "design: Rings": "a design is in a file of that name in its folder",
    "serving: Server": "what serves",
    "sp: ScalarPentadiagonal": "the benchmark's name is SP",
    "target: Model": "a target, as the simulators have one",
    "window: Win": _FIELD,
    "windows: Win": _FIELD,
}
"""Files that have another name than their class, wherever they are, and why. Do not add any: rename
one of the two."""


def words(name: str) -> list[str]:
    """The words of a class's name, or of a file's or a folder's, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def main_class(source: str) -> str | None:
    """The public class that the file ``source`` is about, if there is one: its only component, or
    the only one of its public names that is no constant's."""
    tree = ast.parse(source)
    listed = {name for node in tree.body if isinstance(node, ast.Assign)
              and ast.unparse(node.targets[0]) == "__all__"
              for name in ast.literal_eval(node.value)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)
               and not node.name.startswith("_") and (not listed or node.name in listed)]
    components = [node.name for node in classes
                  if any(ast.unparse(base).endswith("Component") for base in node.bases)]
    if len(components) == 1:
        return components[0]
    functions = {node.name for node in tree.body
                 if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                 and not node.name.startswith("_")}
    others = {name for name in listed or functions if not name.isupper()}
    return classes[0].name if len(classes) == 1 and others <= {classes[0].name} else None


def named_after(path: Path, name: str) -> bool:
    """The file's name is class ``name`` in snake case, however its words are parted. Words of the
    file's folders may be left out at either end: GmChannel may be in ``channels/gm.py``."""
    stem = path.stem.replace("_", "")
    folders = {form for folder in path.parts[:-1] for word in words(folder)
               for form in (word, word.removesuffix("s"))}
    whole = words(name)
    return any("".join(whole[start:end]) == stem
               and folders.issuperset(whole[:start] + whole[end:])
               for start in range(len(whole)) for end in range(start + 1, len(whole) + 1))


def misnamed(root: Path) -> set[str]:
    found = set()
    for top in ("rtl", "host", "testbench"):
        for path in sorted((root / top).rglob("*.py")):
            path, name = path.relative_to(root), main_class(path.read_text())
            if path.stem != "__init__" and name and not named_after(path, name):
                found.add(f"{path.stem}: {name}")
    return found


def test_files_are_named_after_their_classes() -> None:
    assert misnamed(ROOT) <= EXCEPTIONS.keys()


def test_no_exception_is_there_in_vain() -> None:
    assert misnamed(ROOT) >= EXCEPTIONS.keys()


@pytest.mark.parametrize("path, name, good", [
    ("rtl/vi/send/packet_build.py", "PacketBuild", True),
    ("rtl/vi/send/packet_build.py", "SendWalk", False),
    ("rtl/vi/send/slots.py", "SendSlots", True),
    ("rtl/vi/send/slots.py", "SendSlotsTwice", False),
    ("host/mpi/channels/gm.py", "GmChannel", True),
    ("rtl/processor/core/picorv32/picorv32.py", "PicoRv32", True)])
def test_tells_a_file_from_its_class(path: str, name: str, good: bool) -> None:
    assert named_after(Path(path), name) is good


@pytest.mark.parametrize("source, name", [
    ("class One: ...\ndef two(): ...", None),
    ("class One: ...\nTWO = 1", "One"),
    ("__all__ = ['One', 'TWO']\nclass One: ...\nclass Two: ...", "One"),
    ("__all__ = ['One', 'two']\nclass One(wiring.Component): ...\nclass Two: ...", "One"),
    ("class One: ...\nclass Two: ...", None)])
def test_finds_the_class_that_a_file_is_about(source: str, name: str | None) -> None:
    assert main_class(source) == name
