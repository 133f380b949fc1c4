"""Sides are measured on the target, and wrong ones are refused."""

import json
import subprocess
from pathlib import Path

import pytest
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import document as files
from nicbed.testbench.why import common_layer, difference, observe
from nicbed.testbench.why.local import described
from nicbed.testbench.why.observation import Observation
from nicbed.testbench.why.round_trip import split

ROOT = Path(__file__).parents[3]


def quiet(*_: object) -> None:
    pass


@pytest.fixture(scope="module")
def one() -> Observation:
    """The default NIC."""
    return observe("default", (), "am", quiet)


def test_a_longer_link_is_in_the_flights_alone(one: Observation) -> None:
    """Twenty cycles more on each of two links: forty more each way, and nothing else."""
    other = observe("default", ("link.latency=24",), "am", quiet)
    found = difference(one, other)
    assert all(check["ok"] for check in found["checks"])
    by_way: dict[str, float] = {}
    for name, a, b in found["parts"]:
        way = name.split(":")[0]
        by_way[way] = by_way.get(way, 0) + b - a
    assert by_way["out"] == pytest.approx(40, abs=1) and by_way["back"] == pytest.approx(40, abs=1)
    assert by_way["requester"] == pytest.approx(0, abs=1)
    assert found["total"][1] - found["total"][0] == pytest.approx(sum(by_way.values()))
    assert found["work"][1] and all(a == b for _, a, b in found["work"][1])
    assert found["parting"] is not None


def test_a_side_against_itself_does_not_differ(one: Observation) -> None:
    found = difference(one, one)
    assert found["parting"] is None and all(a == b for _, a, b in found["parts"])


@pytest.mark.full
def test_messages_of_via() -> None:
    found = observe("default", (), "via", quiet)
    assert all(check["ok"] for check in difference(found, found)["checks"])
    assert found.work[0] and found.work[1]


def test_a_longer_link_on_a_layer_without_marks_of_messages() -> None:
    """MPL sends a message as several packets; each way crosses two links."""
    near, far = (observe("default", (f"link.latency={latency}",), "mpl", quiet)
                 for latency in (4, 24))
    found = difference(near, far)
    assert all(check["ok"] and check["detail"] == "exactly" for check in found["checks"])
    assert sum(cycles for _, cycles in split(near)) == near.total
    assert near.total == pytest.approx(near.figures["RTT"], rel=0.01)
    ways = [sum((b - a for name, a, b in found["parts"] if name.startswith(f"{way}: ")), 0)
            for way in ("out", "back")]
    assert ways == [pytest.approx(40, abs=2)] * 2


@pytest.mark.full
@pytest.mark.parametrize("layer, more", [("gm", ("nic.processor=picorv32",)), ("tcp", ()),
                                         ("fm", ("nic.processor=picorv32",))])
def test_other_layers_without_marks_of_messages(layer: str, more: tuple[str, ...]
                                                        ) -> None:
    near, far = (observe("default", (f"link.latency={latency}", *more), layer, quiet)
                 for latency in (4, 24))
    found = difference(near, far)
    assert all(check["ok"] and check["detail"] == "exactly" for check in found["checks"])
    assert near.total == pytest.approx(near.figures["RTT"], rel=0.02)
    flights = sum(b - a for name, a, b in found["parts"] if name.startswith(("out: ", "back: ")))
    assert flights == pytest.approx(80, abs=4)


@pytest.mark.full
def test_a_revision_of_the_project_measures(one: Observation) -> None:
    """The last commit, which may differ from the working tree in what no cycle depends on."""
    assert observe("default@HEAD", (), "am", quiet) == one


def test_a_result_file_is_its_configuration(tmp_path: Path) -> None:
    description = described("default", ("link.latency=24",), "am")
    path = tmp_path / "a.json"
    path.write_text(files.text(files.build("logp", "am", "verilator", description, {}, {})))
    assert described(str(path), (), "am") == description


@pytest.mark.parametrize("side, overrides, layer, told", [
    ("nothing", (), "am", "nothing"),
    ("nothing.json", (), "am", "cannot be read"),
    ("default", (), "mpi", "layer mpi: why takes am, am2, via, gm, unet, vmmc, fm, mpl, tcp, raw$"),
    ("default", (), "rpc", "layer rpc: why takes am"),
    ("default", ("node.nics=2",), "am", "node.nics = 2: why needs nodes with one NIC"),
    ("default@nothing", (), "am", "revision nothing"),
    ("default@4b825dc642cb6eb9a060e54bf8d69288fbee4904", (), "am", "take one that has"),
])
def test_what_is_no_side_is_refused(side: str, overrides: tuple[str, ...], layer: str, told: str
                                    ) -> None:
    if "@" in side and subprocess.run(["git", "-C", str(ROOT), "rev-parse"],
                                      capture_output=True).returncode:
        pytest.skip("no checkout")
    with pytest.raises(UserError, match=told) as error:
        observe(side, overrides, layer, quiet)
    assert "\n" not in str(error.value)


RESULT = {"benchmark": "logp", "layer": "am", "config_hash": "0"}


@pytest.mark.parametrize("content, overrides, told", [
    ("{}", (), "is no result file"),
    ("[", (), "is no result file"),
    (json.dumps({**RESULT, "config": {}, "study": {}}), (), "is no result file of one"),
    (json.dumps(RESULT), (), "is no result file of one"),
    (json.dumps({**RESULT, "config": {"nic": {"mtu": 3}}}), (),
     "does not go with this nicbed: nic.mtu"),
    ("{}", ("link.latency=5",), "--set does not go with a result file"),
])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str, overrides: tuple[str, ...],
                                      told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(UserError, match=told):
        described(str(path), overrides, "am")


def test_a_result_says_its_layer(tmp_path: Path) -> None:
    for layer in ("am", "gm"):
        (tmp_path / f"{layer}.json").write_text(json.dumps({**RESULT, "layer": layer}))
    am, gm = str(tmp_path / "am.json"), str(tmp_path / "gm.json")
    assert common_layer(("default", "default@HEAD"), None) == "am"
    assert common_layer(("default", "memory-bus"), "via") == "via"
    assert common_layer(("default", gm), None) == common_layer((f"{gm}@HEAD", gm), "gm") == "gm"
    for sides, layer, told in (((am, gm), None, "gm.json: is a result of layer gm, .* layer am"),
                               (("default", gm), "via", "gm.json: is a result of layer gm")):
        with pytest.raises(UserError, match=told):
            common_layer(sides, layer)
