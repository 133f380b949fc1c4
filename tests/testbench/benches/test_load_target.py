"""Load on the real target, at every layer and design point: without a loss nothing is sent again,
however long or short the time-outs and windows, and many take what the stage takes that they share.
Many more rows on the model: host/am/test_load, firmware/test_load, host/via/trap/test_load."""

from collections.abc import Sequence
from typing import Any

import pytest
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions import load as descriptions

from tests.labs.rows import more
from tests.programs import load_jobs
from tests.programs.vipl import SMALL

PATIENT, LONGEST = 10_000_000, 1 << 24
"""Time-outs, in cycles, that never pass here."""
AM = [{"am.retry_timeout": PATIENT}, {}, {"am.retry_timeout": 1000},
      {"am.request_window": 4, "am.reply_window": 5}]
VIA = [{"via.retry_timeout": LONGEST}, {}, {"via.retry_timeout": 2000}]
GM = [{"gm.retry_timeout": PATIENT}, {}, {"gm.window": 2}]
FM: list[dict[str, Any]] = [{}]
POINTS = {
    "am": ("am", [], AM), "engine": ("via", [], VIA), "kernel trap": ("via", ["via.design=kernel"],
                                                                      VIA),
    **{f"{layer}, {core}": (layer, [f"nic.processor={core}"], settings)
       for core in ("picorv32", "vexriscv", "serv")
       for layer, settings in (("am", AM[:3]), ("via", VIA[:2]), ("gm", GM), ("fm", FM))},
}
"""Each has the time-out that never passes first."""


def check(point: str, nodes: int, name: str, parameters: dict[str, Any],
          overrides: Sequence[str] = (), slack: float = 1.1) -> None:
    """Every row of the point holds its checks, sends nothing again, shares within 5 %, and is as
    fast as the first with its window, the patient one."""
    layer, knobs, settings = POINTS[point]
    description = descriptions.for_layer(
        descriptions.load(overrides=[*knobs, *overrides], nodes=nodes), layer)
    found = run_job(description, function=f"{load_jobs.__name__}:run", arguments={
        "rows": [(name, layer, parameters, one) for one in settings]})
    for one, got in zip(settings, found, strict=True):
        assert not got["failed"] and got["again"] == 0, (point, one, got)
        assert got["least"] > 0.95 and got["most"] < 1.05, (point, one, got)
        if not any("window" in knob for knob in one):
            for patient, goodput in zip(found[0]["goodput"], got["goodput"], strict=True):
                assert goodput * slack > patient, (point, one, got, found[0])


@pytest.mark.parametrize("point", [
    "am", "engine", more("kernel trap"),
    "am, picorv32", *(more(f"{layer}, picorv32") for layer in ("via", "gm", "fm"))])
def test_two_both_ways(point):
    """On the simulators that other tests have, too."""
    check(point, 2, "alltoall", {"nodes": [2], "sizes": [256] if "," in point else [16, 1024]},
          overrides=[f"{knob}={value}" for knob, value in SMALL.items()] if point == "engine"
          else [])


@pytest.mark.parametrize("point", [more(point) for point in POINTS])
def test_three_to_one(point):
    check(point, 4, "incast", {"senders": [1, 3], "sizes": [16, 1024], "bytes": 16384,
                               "loss": [0.0]})


@pytest.mark.full
@pytest.mark.parametrize("point", ["am", "engine", "kernel trap", "am, picorv32", "via, picorv32",
                                   "gm, picorv32", "fm, picorv32"])
def test_fifteen_to_one(point):
    check(point, 16, "incast", {"senders": [1, 9, 15], "sizes": [16], "bytes": 1024,
                                "loss": [0.0]})


@pytest.mark.full
def test_fifteen_senders_of_requests():
    """15 senders of 256 requests each take what they take where no time-out passes."""
    description = descriptions.load(nodes=16)
    rows = [("many-to-one", "am", {"senders": [1, 15]}, {"am.retry_timeout": timeout})
            for timeout in (PATIENT, 20_000)]
    patient, default = run_job(description, function=f"{load_jobs.__name__}:streams",
                               arguments={"rows": rows})
    assert default["again"] == 0 and not default["failed"]
    assert default["cycles"] < 1.1 * patient["cycles"]


@pytest.mark.parametrize("vis", [more([1, 8]), more([1, 4, 16, 32, 64])], ids=["few", "many"])
def test_vis_with_long_messages(vis):
    """12 messages of 4 KB each on V VIs, one way: linear in V, whatever the time-out."""
    description = descriptions.for_layer(descriptions.load(), "via")
    found = run_job(description, function=f"{load_jobs.__name__}:flows", arguments={
        "runs": [(many, timeout) for many in vis for timeout in (20_000, 200_000)]})
    one = found[0]["cycles"]
    for (many, _), got in zip([(many, t) for many in vis for t in (0, 1)], found, strict=True):
        assert got["again"] == 0
        assert 0.9 * many * one < got["cycles"] < 1.05 * many * one, (many, got, one)


@pytest.mark.full
def test_three_clients_with_many_vis():
    description = descriptions.for_layer(descriptions.load(nodes=4), "via")
    found = run_job(description, function=f"{load_jobs.__name__}:flows", arguments={
        "runs": [(many, timeout) for many in (1, 8, 16) for timeout in (20_000, 200_000)],
        "clients": 3})
    for many, got in zip((1, 1, 8, 8, 16, 16), found, strict=True):
        assert got["again"] == 0 and got["least"] > 0.9
        assert got["cycles"] < 1.1 * many * found[0]["cycles"], (many, got, found[0])
