"""Gate files: read, written with their comments, and refused in one line."""

from pathlib import Path

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.gate.file import Entry, accept, first, read

TEXT = """\
reason = "first values"

# The NIC that ships.
[[gate]]
name = "near"
bench = ["logp", "rtt"]
set = {"link.latency" = 5, bus = {dma_setup = 7}}

[gate.accepted.logp]
o_s = 21.819754  # as a figure
g = "none"

[[gate]]
name = "far"
nic = "far.toml"
nodes = 4
layer = "via"
why = false
bench = ["rtt"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "gate.toml"
    made.write_text(TEXT)
    return made


def test_a_file_is_read(path: Path) -> None:
    gate = read(path)
    near, far = gate.entries
    assert gate.reason == "first values" and gate.entry() is near and gate.entry("far") is far
    assert near == Entry("near", "default", ("logp", "rtt"), ("link.latency=5", "bus.dma_setup=7"),
                         accepted={"logp": {"o_s": 21.819754, "g": "none"}})
    assert far == Entry("far", "far.toml", ("rtt",), (), 4, "via", False)


def test_a_description_is_seen_from_the_gates_folder(path: Path) -> None:
    near, far = read(path).entries
    assert near.place(path) == "default" and far.place(path) == "far.toml"
    (path.parent / "far.toml").write_text("")
    assert far.place(path) == str(path.parent / "far.toml")


def test_accepted_values_come_back_and_comments_stay(path: Path) -> None:
    values = {"near": {"logp": {"o_s": 0.1 + 0.2, "g": 60}, "rtt": {"RTT, 1 word": 195.104248}},
              "far": {"rtt": {"a.b": "none"}}}
    accept(read(path), values, " a faster bus ")
    gate = read(path)
    assert {one.name: one.accepted for one in gate.entries} == values
    assert gate.reason == "a faster bus"
    assert "# The NIC that ships." in path.read_text() and "# as a figure" in path.read_text()


def test_a_bench_that_is_gone_takes_its_values_along(path: Path) -> None:
    path.write_text(TEXT.replace('["logp", "rtt"]', '["rtt"]'))
    accept(read(path), {"near": {"rtt": {"x": 1}}, "far": {"rtt": {"x": 1}}}, "less")
    assert "logp" not in path.read_text()


def test_a_first_file_is_what_was_asked_for(tmp_path: Path) -> None:
    entry = Entry("near", "default", ("logp",), ("link.latency=5", "bus.coherent=true"), 4, "am",
                  False)
    path = tmp_path / "gate.toml"
    first(path, entry)
    assert read(path).entries == (entry,)
    with pytest.raises(UserError, match="is there"):
        first(path, entry)


def test_a_first_file_says_what_is_not_usual_alone(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    first(path, Entry("near", "default", ("logp",)))
    text = path.read_text()
    assert text.startswith("# What `nicbed gate check` holds to, to the last digit.\n")
    assert not any(word in text for word in ("nodes", "layer", "why", "set"))
    assert read(path).reason == ""


@pytest.mark.parametrize("text, told", [
    ("[", "not TOML"),
    ("", r"has tables \[\[gate\]\]"),
    ("gate = [1]", r"has tables \[\[gate\]\]"),
    ("gats = 1", "has no gats; did you mean gate"),
    ("reason = 1", "reason must be a text"),
    ("[[gate]]\nname = 'a'", "gate a: bench must be a list of benchmarks"),
    ("[[gate]]\nbench = [1]", "gate 1: bench must be a list of benchmarks"),
    ("[[gate]]\nbenhc = ['rtt']", "a gate has no benhc; did you mean bench"),
    ("[[gate]]\nbench = 'rtt'", "bench must be a list"),
    ("[[gate]]\nbench = ['rtt']\nnodes = true", "nodes must be a whole number"),
    ("[[gate]]\nbench = ['rtt']\nwhy = 1", "why must be true or false"),
    ("[[gate]]\nbench = ['rtt']\nset = {'nic.mtu' = [512]}", r"gate 1: nic.mtu: \[512\] is no"),
    ("[[gate]]\nbench = ['rtt']\naccepted.rtt = 3", "accepted.rtt must be a table"),
    ("[[gate]]\nbench = ['rtt']\naccepted.rtt.x = 'y'", "x = 'y': must be a number or \"none\""),
    ("[[gate]]\nbench = ['rtt']\naccepted.rtt.x = true", "x = True: must be a number"),
    ("[[gate]]\nbench = ['rtt']\n[[gate]]\nbench = ['rtt']", "another gate has that name"),
])
def test_what_is_no_gate_file_is_refused(path: Path, text: str, told: str) -> None:
    path.write_text(text)
    with pytest.raises(UserError, match=told) as error:
        read(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read(tmp_path / "gate.toml")


def test_an_entry_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(UserError, match="no gate is called fra; did you mean far"):
        read(path).entry("fra")


@pytest.mark.parametrize("reason", ["", "  ", "one\ntwo"])
def test_a_reason_is_one_line(path: Path, reason: str) -> None:
    with pytest.raises(UserError, match="--reason: say in one line"):
        accept(read(path), {"near": {}, "far": {}}, reason)
    assert path.read_text() == TEXT
