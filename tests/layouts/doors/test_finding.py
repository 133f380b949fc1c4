"""Doors: objects by name, by entry point and by path, and one line for whatever is wrong."""

import pickle
import sys
from pathlib import Path

import pytest
from nicbed.layouts.doors import NICS, Door, DoorError, NicDesign
from nicbed.layouts.errors import UserError

WIRE = '''
from nicbed.layouts.doors import NicDesign
from .depth import DEPTH

class Wire(NicDesign):
    name = "wire"
    title = "a wire"
    depth = DEPTH
'''


@pytest.fixture
def door():
    """A door of its own, with today's NIC built in."""
    return Door("NIC design", "nicbed.tests", ["rings = nicbed.rtl.nic.design:DESIGN"], NicDesign)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with a design in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "wire"
    place.mkdir()
    (place / "design.py").write_text(WIRE)
    (place / "depth.py").write_text("DEPTH = 4\n")
    return place


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes a distribution with entry points of the door's group."""
    def install(name, entries, modules, version="1.2"):
        place = tmp_path / f"site-{name}"
        about = place / f"{name}-{version}.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n"
                                        f"Version: {version}\n")
        (about / "entry_points.txt").write_text("[nicbed.tests]\n" + "\n".join(entries) + "\n")
        for module, text in modules.items():
            (place / module).write_text(text)
            monkeypatch.delitem(sys.modules, module.removesuffix(".py"), raising=False)
        monkeypatch.syspath_prepend(place)
        return place
    before = set(sys.modules)
    yield install
    for module in set(sys.modules) - before:
        if module.startswith("outside_"):
            del sys.modules[module]


def refused(door, name, **more):
    with pytest.raises(DoorError) as caught:
        door.get(name, **more)
    text = str(caught.value)
    assert isinstance(caught.value, UserError) and isinstance(caught.value, ValueError)
    assert "\n" not in text and "Traceback" not in text
    return text


def test_the_doors_find_what_is_built_in():
    assert NICS.names()[0] == "rings"
    assert NICS.get("rings").name == "rings"
    assert NICS.sources("rings") == () and NICS.is_builtin("rings")
    first = NICS.found()[0]
    assert (first.name, first.origin.kind, first.origin.text) == ("rings", "built in", "built in")
    assert first.load() is NICS.get("rings")


def test_a_path_is_relative_to_the_folder_that_is_told(door, folder, monkeypatch):
    wire = door.get("./wire/design.py:Wire")
    assert (wire.name, wire.depth) == ("wire", 4)
    assert door.get("wire/design.py") is not None
    monkeypatch.chdir("/")
    assert door.get("./design.py:Wire", relative_to=folder) is wire
    assert "no file" in refused(door, "./wire/design.py:Wire")


def test_an_object_is_taken_before_its_class(door, folder):
    with (folder / "design.py").open("a") as file:
        file.write("\nDESIGN = Wire()\nDESIGN.depth = 9\n")
    assert door.get("./wire/design.py").depth == 9


def test_a_name_is_a_text_that_says_nothing_of_the_machine(door, folder):
    named = door.resolve("./wire/design.py:Wire")
    assert named == "wire" and str(named) == "wire" and f"{named}" == "wire"
    assert named.origin.kind == "path" and named.origin.text == "./wire/design.py:Wire"
    assert named.sources == (folder / "depth.py", folder / "design.py")
    assert door.names() == ["rings", "wire"] and door.get("wire") is named.plugin
    again = pickle.loads(pickle.dumps(named))
    assert again == named and again.plugin is named.plugin


def test_a_changed_file_is_loaded_anew(door, folder):
    before = door.resolve("./wire/design.py")
    assert door.resolve("./wire/design.py") is before
    (folder / "depth.py").write_text("DEPTH = 5\n")  # as long as before, in the same second
    after = door.resolve("./wire/design.py")
    assert (before.plugin.depth, after.plugin.depth) == (4, 5)
    assert before != after and before.digest != after.digest and before == str(after)
    assert door.get("wire") is after.plugin
    assert not list(folder.rglob("__pycache__"))


def test_the_digest_is_of_the_bytes_and_not_of_the_place(door, folder, tmp_path):
    (folder / "rtl").mkdir()
    (folder / "rtl" / "wire.v").write_text("module wire; endmodule\n")
    one = door.resolve("./wire/design.py")
    assert folder / "rtl" / "wire.v" in one.sources
    folder.rename(tmp_path / "moved")
    assert door.resolve("./moved/design.py").digest == one.digest
    (tmp_path / "moved" / "rtl" / "wire.v").write_text("module wire(); endmodule\n")
    assert door.resolve("./moved/design.py").digest != one.digest
    assert "2 of this name were loaded" in refused(door, "wire")


def test_tests_and_other_modules_beside_it_do_not_count(door, folder):
    (folder / "other.py").write_text("")
    one = door.resolve("./wire/design.py")
    assert folder / "other.py" not in one.sources
    (folder / "__init__.py").write_text("")
    (folder / "test_wire.py").write_text("")
    two = door.resolve("./wire/design.py")
    assert folder / "other.py" in two.sources and folder / "test_wire.py" not in two.sources


def test_imports_elsewhere_count(door, folder, tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "outside_words.py").write_text("WORDS = 2\n")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    (folder / "depth.py").write_text("import outside_words\nDEPTH = outside_words.WORDS\n")
    named = door.resolve("./wire/design.py")
    assert tmp_path / "lib" / "outside_words.py" in named.sources
    del sys.modules["outside_words"]


@pytest.mark.parametrize("name, text", [
    ("./wire/desing.py", "./wire/desing.py: there is no file ./wire/desing.py; did you mean "
                         "design.py or depth.py?"),
    ("./wire", "./wire: is a folder: a NIC design is in a file, such as ./wire/design.py"),
    ("./wire/depth.py", "./wire/depth.py: ./wire/depth.py has no NIC design in it (an object or a "
                        "class of NicDesign)"),
    ("./wire/design.py:Wier", "./wire/design.py:Wier: ./wire/design.py has no Wier; did you mean "
                              "Wire?"),
    ("./wire/design.py:DEPTH", "./wire/design.py:DEPTH: must be an object or a class of "
                               "NicDesign, not int"),
    ("./wire/notes.txt", "./wire/notes.txt: a NIC design is in a file of Python (.py)"),
    ("ring", "no NIC design is called ring; did you mean rings?; one of your own is given "
             "by its path, ./ring.py"),
])
def test_one_line_says_what_is_wrong(door, folder, name, text):
    (folder / "notes.txt").write_text("")
    assert refused(door, name) == text


@pytest.mark.parametrize("added, text", [
    ("\nclass Other(Wire):\n    name = 'other'\n",
     "2 of them, Wire and Other: say which, ./wire/design.py:Wire"),
    ("\nimport missing_module\n",
     "./wire/design.py:10: ModuleNotFoundError: No module named 'missing_module'"),
    ("\nimport depth\n", "No module named 'depth'; a module of the same folder is imported by "
                         "from .depth import …"),
    ("\nfrom .depth import WIDTH\n", "./wire/design.py:10: ImportError: cannot import name"),
    ("\nx = 1 / 0\n", "./wire/design.py:10: ZeroDivisionError: division by zero"),
    ("\ndef f(:\n", "./wire/design.py:10: invalid syntax"),
    ("\n    def __init__(self, depth):\n        pass\n", "missing 1 required positional argument"),
    ("\n    def __init__(self):\n        raise ValueError('a\\nb')\n",
     "./wire/design.py:11: ValueError: a b"),
    ("    name = 'Wire NIC'\n", "name = 'Wire NIC': a NIC design has a name of small letters"),
    ("    name = 'rings'\n", "name = 'rings': a NIC design of this name is built in"),
])
def test_one_line_says_where_a_file_is_wrong(door, folder, added, text):
    with (folder / "design.py").open("a") as file:
        file.write(added)
    said = refused(door, "./wire/design.py")
    assert said.startswith("./wire/design.py: ") and text in said
    (folder / "design.py").write_text(WIRE)
    assert door.get("./wire/design.py").name == "wire", "what failed must leave nothing behind"


def test_a_file_beside_too_many_is_refused(door, folder, monkeypatch):
    monkeypatch.setattr("nicbed.layouts.doors.sources.MOST", 1)
    assert "needs a folder of its own" in refused(door, "./wire/design.py")


def test_an_entry_point_is_found_by_name(door, installed):
    place = installed("wire-nic", ["wire = outside_wire:Wire"],
                      {"outside_wire.py": WIRE.replace("from .depth import DEPTH", "DEPTH = 3")})
    assert door.get("wire").depth == 3
    named = door.resolve("wire")
    assert named.sources == (place / "outside_wire.py",)
    assert [(one.name, one.origin.kind, one.origin.text) for one in door.found()] == [
        ("rings", "built in", "built in"), ("wire", "entry point", "wire-nic 1.2")]
    assert pickle.loads(pickle.dumps(named)).plugin is named.plugin


def test_what_is_built_in_asks_nothing_of_what_is_installed(door, monkeypatch):
    monkeypatch.setattr("nicbed.layouts.doors.finding.entry_points", None)
    assert door.get("rings").name == "rings"


def test_broken_entry_points_stand_in_nobodys_way(door, installed):
    plain = WIRE.replace("from .depth import DEPTH", "DEPTH = 3")
    installed("bad-nic", ["bad = outside_bad:Wire", "gone = outside_gone:Wire",
                          "thing = outside_thing:THING", "lost = outside_thing:LOST",
                          "rings = outside_thing:Wire", "wire = outside_thing:Wire",
                          "misnamed = outside_thing:Wire"],
              {"outside_bad.py": "\nraise RuntimeError('no\\nway')\n",
               "outside_thing.py": plain + "THING = 5\n"})
    installed("wire-nic", ["wire = outside_thing:Wire"], {})
    assert door.get("rings").name == "rings"
    where = "bad-nic 1.2: entry point {0} = {1} (nicbed.tests): "
    for name, value, text in [
            ("bad", "outside_bad:Wire", "outside_bad.py:2: RuntimeError: no way"),
            ("gone", "outside_gone:Wire", "No module named 'outside_gone'"),
            ("thing", "outside_thing:THING", "must be an object or a class of NicDesign, not int"),
            ("lost", "outside_thing:LOST", "has no attribute 'LOST'"),
            ("misnamed", "outside_thing:Wire", "the object's name is wire")]:
        said = refused(door, name)
        assert said.startswith(where.format(name, value)) and text in said
    assert refused(door, "wire") == (
        "wire: 2 distributions have a NIC design of this name (entry points nicbed.tests): "
        "wire-nic 1.2 and bad-nic 1.2")
    broken = []
    for one in door.found():
        try:
            one.load()
        except DoorError:
            broken.append((one.name, one.origin.text))
    assert ("rings", "bad-nic 1.2") in broken and ("rings", "built in") not in broken
    assert len(broken) == len(door.found()) - 1


def test_other_files_are_read_by_a_function(folder, monkeypatch):
    made = folder / "outside_reader.py"
    made.write_text(WIRE.replace("from .depth import DEPTH", "DEPTH = 3") + '''
def read(path):
    if not path.read_text():
        raise ValueError(f"{path.name}: is empty")
    return Wire()
''')
    monkeypatch.syspath_prepend(folder)
    door = Door("NIC design", "nicbed.tests", [], NicDesign, {".toml": "outside_reader:read"})
    (folder / "graph.toml").write_text("")
    assert refused(door, "wire/graph.toml") == "wire/graph.toml: graph.toml: is empty"
    (folder / "graph.toml").write_text("x = 1")
    assert door.get("wire/graph.toml").name == "wire"
    assert door.sources("wire/graph.toml") == (Path(folder / "graph.toml"),)
    del sys.modules["outside_reader"]
