"""The two axes: points are made from names, and the shapes come out on the target."""

from functools import cache

import pytest
from nicbed.testbench import benches
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches.common.gap_bound import BusyBlock, GapBound
from nicbed.testbench.benches.common.logp_results import RegimeEnds
from nicbed.testbench.benches.fields import plain
from nicbed.testbench.benches.via.logp_results import SizeResults, ViaLogpResults
from nicbed.testbench.commands import profile
from nicbed.testbench.descriptions import axes
from nicbed.testbench.descriptions import load as descriptions
from nicbed.testbench.errors import UserError
from nicbed.testbench.results import axes as report
from nicbed.testbench.results import document as files

from tests.labs.rows import more
from tests.models.signatures import logp_results

CHOSEN = {
    ("am", "logp"): {"issues": 256, "delays": ["0", "1", "3/2"]},
    ("via", "logp"): {"sizes": [4], "delays": ["0"], "bytes": 65536, "interrupts": 0},
    ("via", "connections"): {"vis": [1, 8, 32]},
}


@cache
def measured(layer: str, name: str, overrides: tuple[str, ...]) -> dict:
    """The results of a benchmark on the default NIC with ``overrides``."""
    description = descriptions.for_layer(descriptions.load(overrides=overrides), layer)
    module = benches.get(name).module(layer)
    parameters = {**module.parameters(description), **CHOSEN.get((layer, name), {})}
    outcome = run_job(description, function="nicbed.testbench.benches:run",
                      arguments={"name": name, "layer": layer, "parameters": parameters})
    return files.build(name, layer, "verilator", description, parameters, outcome)


def signature(layer: str, *overrides: str) -> dict:
    """o_s, o_r, g, L, RTT in cycles."""
    return report.point({"logp": {"": measured(layer, "logp", overrides)}}, "")


def point(**place: str) -> tuple[str, ...]:
    """On one axis, or on the cross of both."""
    return next(one.overrides for one in axes.points(list(place)) if one.place == place)


def test_points_of_an_axis():
    made = axes.points(["processor"])
    assert [one.name for one in made] == ["hardwired", "vexriscv", "picorv32", "serv"]
    assert "nic.processor=none" in made[0].overrides
    assert len({one.overrides for one in made}) == len(made)


def test_the_cross_of_both():
    made = axes.points(["processor", "attachment"])
    assert len(made) == 12
    assert made[0].place == {"processor": "hardwired", "attachment": "memory bus"}
    for one in made:  # every point is a valid description
        descriptions.load(overrides=one.overrides)
    # Along one axis nothing of the other changes.
    serv = [set(one.overrides) for one in made if one.place["processor"] == "serv"]
    assert all("nic.processor=serv" in knobs for knobs in serv)
    assert all({text.split("=")[0] for text in knobs} == {text.split("=")[0] for text in serv[0]}
               for knobs in serv)


BOUND = GapBound("link", 0.5, [BusyBlock("link", 0, 0.5), BusyBlock("bus", 1, 0.25)])
OF_VIA = SizeResults(o_s=10, o_s_alone=9, o_r=None, L=None, g=None, rate=25, g_visible=False,
                     half=60, bound_by="link", busy=0.5)
SIGNATURES = {
    "am": logp_results(o_s=10, o_r=11, g=25, L=39, rtt=120, bound=BOUND),
    "via": ViaLogpResults(**vars(OF_VIA), size=4, by_size={"4": OF_VIA}, o_s_per_byte=None,
                          bound=BOUND, regimes=RegimeEnds(1, 2)),
}
"""Of AM as version 0.2 wrote it, without the costs by D; of VIA with a gap that the CPUs hide."""


@pytest.mark.parametrize("layer, o_r, latency", [("am", 11, 39), ("via", None, None)])
def test_the_figures_of_a_point(layer, o_r, latency):
    results = plain(SIGNATURES[layer])
    assert "cost_by_delay" not in results
    found = report.point({"logp": {"x": {"benchmark": "logp", "layer": layer, "clock_mhz": 50,
                                         "results": results}}}, "x")
    assert found.pop("shares") == {"processor": None, "bus": 0.25, "DMA": None, "link": 0.5}
    assert found == {"o_s": 10, "o_r": o_r, "g": 25, "L": latency, "rtt": 120, "rate": 2,
                     "bound": "link", "busy": 0.5}


@pytest.mark.parametrize(("chosen", "said"), [
    (["processors"], "no axis is called processors"),
    (["attachment", "attachment"], "is given twice"),
])
def test_no_such_axis(chosen, said):
    with pytest.raises(UserError, match=said):
        axes.points(chosen)


def test_profile_needs_a_processor():
    with pytest.raises(UserError, match="nic.processor = none"):
        profile.check(descriptions.load(), "verilator")
    with pytest.raises(UserError, match="needs verilator"):
        profile.check(descriptions.load(overrides=["nic.processor=serv"]), "icarus")


@pytest.mark.parametrize("layer", ["gm", "fm"])
def test_layers_of_firmware_need_a_processor(layer):
    with pytest.raises(UserError, match=f"layer {layer} is firmware"):
        descriptions.for_layer(descriptions.load(), layer)


@pytest.mark.parametrize("place", [
    {"processor": "picorv32"}, {"attachment": "memory bus"},
    more({"attachment": "I/O bus"}), more({"processor": "vexriscv"}), more({"processor": "serv"}),
    *(more({"processor": core, "attachment": bus}) for core in ("vexriscv", "picorv32", "serv")
      for bus in ("memory bus", "I/O bus"))], ids=lambda place: ", ".join(place.values()))
def test_the_estimates_agree_with_the_truth(place):
    checks = measured("am", "logp", point(**place))["checks"]
    assert len(checks) == 12 and all(check["ok"] for check in checks), checks


@pytest.mark.full
class TestShapes:
    """What the field has seen, on the target."""

    @pytest.mark.parametrize("core", ["hardwired", "picorv32"])
    def test_overhead_follows_the_attachment(self, core):
        buses = [signature("am", *point(processor=core, attachment=name))["o_s"]
                 for name in ("memory bus", "I/O bus")]
        assert buses[0] < 0.85 * buses[1]

    def test_gap_and_latency_follow_the_processing(self):
        cores = [signature("am", *point(processor=name))
                 for name in ("hardwired", "vexriscv", "picorv32", "serv")]
        for key in ("g", "L"):
            values = [one[key] for one in cores]
            assert values == sorted(values), (key, values)
        assert cores[0]["g"] < cores[1]["g"] / 2

    def test_overhead_does_not_follow_the_processing(self):
        """Beyond what a full queue costs a sender: the first sends find it empty."""
        cores = [signature("am", *point(processor=name)) for name in ("vexriscv", "picorv32")]
        assert abs(cores[0]["o_s"] - cores[1]["o_s"]) < cores[0]["o_s"] / 20

    def test_a_slower_clock_moves_gap_and_latency_and_leaves_overhead(self):
        base = point(processor="picorv32")
        fast, slow = signature("am", *base), signature("am", *base, "processor.clock_divider=4")
        assert slow["g"] > 3 * fast["g"] and slow["L"] > 2 * fast["L"]
        assert abs(slow["o_s"] - fast["o_s"]) < fast["o_s"] / 20

    def test_the_engine_beats_every_processor(self):
        engine = signature("via")
        firmware = signature("via", "nic.processor=picorv32", "via.vis=64",
                             *(f"{knob}={value}" for knob, value in axes.PATIENCE.items()))
        assert engine["g"] < firmware["g"] / 5 and engine["L"] < firmware["L"] / 2

    def test_polled_doorbells_cost_by_the_number_of_vis(self):
        def growth(doorbells: str) -> float:
            half = measured("via", "connections", (
                "nic.processor=picorv32", "via.vis=64", f"processor.doorbells={doorbells}",
                *(f"{knob}={value}" for knob, value in axes.PATIENCE.items())))["results"]["half"]
            [by_vis] = [one for name, one in half.items()][:1]
            return by_vis["32"] / by_vis["1"]

        assert growth("queue") < 1.05
        assert growth("words") > 1.1

    def test_the_thin_firmware_leaves_the_work_to_the_host(self):
        cores = ("nic.processor=picorv32",)
        found = {layer: signature(layer, *cores) for layer in ("fm", "gm")}
        assert found["fm"]["g"] < found["gm"]["g"] / 2
        assert found["fm"]["L"] < found["gm"]["L"] / 2


@pytest.mark.full
def test_a_profile_is_of_the_processor_alone():
    """It takes no time: the trips are those of a run without; what it counts is awake."""
    description = descriptions.for_layer(descriptions.load(
        overrides=["nic.processor=picorv32"]), "am")
    [plain, outcome] = run_job(description, function=f"{__name__}:both")
    assert plain == outcome["results"]["half"]
    for node in outcome["results"]["nodes"]:
        assert 0 < node["cycles"] < 2 * outcome["results"]["half"]
        assert abs(sum(cycles for _, cycles in node["functions"]) - node["cycles"]) < 1
        assert {"main", "forward_receive"} <= {name for name, _ in node["functions"]}


async def both(lab) -> list:
    """In the simulator's process: half a round trip without profiling, and the profile."""
    from nicbed.testbench.benches.latency import trips_of
    trips = (await trips_of("am")(lab, profile.SIZE, 2 * profile.TRIPS, profile.WARM))["trips"]
    half = sum(trips[profile.TRIPS:]) / (2 * profile.TRIPS) / 256
    return [files.number(half), await profile.run(lab, "am", profile.SIZE)]
