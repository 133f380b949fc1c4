"""``nicbed new``: what it writes is an example by another name, and refusals are one line."""

from pathlib import Path

import pytest
from nicbed.layouts.doors import LAYERS, NICS
from nicbed.testbench.benches import BENCHES
from nicbed.testbench.commands.new import EXAMPLES, example, write_new
from nicbed.testbench.descriptions import load
from nicbed.testbench.errors import UserError

KINDS = [("nic", False), ("nic", True), ("layer", False), ("bench", False), ("firmware", False)]


@pytest.mark.parametrize(("kind", "verilog"), KINDS)
def test_a_folder_is_the_example_by_another_name(kind: str, verilog: bool, tmp_path: Path) -> None:
    write_new(kind, "my_own", tmp_path, verilog=verilog)
    source = example(kind, verilog=verilog)
    files = [path for path in source.rglob("*") if path.is_file()
             and "__pycache__" not in path.parts]
    assert files
    for path in files:
        name = str(path.relative_to(source)).replace(source.name, "my_own")
        text = (tmp_path / "my_own" / name).read_text()
        camel = source.name.title().replace("_", "")
        again = text.replace("my_own", source.name).replace("MyOwn", camel)
        assert again.replace("MY_OWN", source.name.upper()) == path.read_text()
        assert source.name not in text and "wire" not in name


@pytest.mark.parametrize("verilog", [False, True])
def test_a_nic_can_be_named(verilog: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "my_own_v" if verilog else "my_own"
    write_new("nic", name, tmp_path, verilog=verilog)
    description = load.load(name, [f"{name}.gap=7"])
    assert description.design.name == description.nic.design == name
    assert getattr(description, name).gap == 7
    assert NICS.get(f"./{name}/design.py").name == name
    assert load.for_layer(description, "raw")
    with pytest.raises(UserError, match=f"layer am needs a NIC driver .*{name}"):
        load.for_layer(description, "am")


def test_a_layer_and_a_benchmark_can_be_named(tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_new("layer", "my_tap", tmp_path)
    write_new("bench", "my_first", tmp_path)
    assert LAYERS.get("./my_tap/layer.py").name == "my_tap"
    assert BENCHES.get("./my_first/bench.py").name == "my_first"


@pytest.mark.parametrize(("kind", "name", "verilog", "says"), [
    ("nic", "My", False, "a name has small letters, digits and underscores"),
    ("nic", "a/b", False, "a name has small letters"),
    ("nic", "x" * 33, False, "is not longer than 32: such as my_nic"),
    ("nic", "rings", False, "rings: a NIC design of nicbed's is called so: try my_rings"),
    ("layer", "am", False, "am: a layer of nicbed's is called so"),
    ("bench", "logp", False, "logp: a benchmark of nicbed's is called so"),
    ("nic", "link", False, "link: a section of a description is called so"),
    ("nic", "class", False, "class: is a word of the language: try my_class"),
    ("nic", "module", True, "module: is a word of the language"),
    ("nic", "nicbed_x", True, "nicbed_x: is a word of the language"),
    ("nic", "there", False, "there: is there already: nothing was written"),
])
def test_refuses(kind: str, name: str, verilog: bool, says: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(UserError, match=says) as found:
        write_new(kind, name, tmp_path, verilog=verilog)
    assert "\n" not in str(found.value)
    assert [*tmp_path.iterdir()] == [tmp_path / "there"]


def test_the_examples_in_verilog_and_amaranth_differ_in_their_logic_alone() -> None:
    for name in ("driver.py", "registers.py"):
        one = (EXAMPLES / "wire_nic" / name).read_text()
        other = (EXAMPLES / "wire_nic_verilog" / name).read_text()
        renamed = one.replace("wire_nic", "wire_nic_verilog").replace("WireNic", "WireNicVerilog")
        assert renamed.split("\n")[1:] == other.split("\n")[1:]
