"""VI engines under load, without losses: the link is the bound stage, whatever the number of VIs,
the slots, the window and the time-out; nothing is sent again; no VI starves."""

from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.via import Reliability
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions.advice import CONTROL_BYTES
from nicbed.testbench.descriptions.load import for_layer, load

from tests.labs.rows import more
from tests.programs import via_load_jobs as jobs

RD, RR = Reliability.RELIABLE_DELIVERY, Reliability.RELIABLE_RECEPTION


def described(**via: int) -> Description:
    ideal = for_layer(load("ideal"), "via")
    return ideal.model_copy(update={"via": ideal.via.model_copy(update=via)})


def run(description: Description, runs: list[dict[str, Any]]) -> None:
    """Each takes what the link takes, and alike."""
    found = run_job(description, function=f"{jobs.__name__}:many", arguments={"runs": runs})
    for one, got in zip(runs, found, strict=True):
        packets = one["vis"] * one["count"] * -(-one["length"] // 1024)
        assert got["packets"] == packets and got["again"] == 0, one
        wire = (packets - 1) * (1024 + CONTROL_BYTES) / float(description.link.bytes_per_cycle)
        assert got["cycles"] <= 1.1 * wire, (one, got["cycles"], wire)
        # All end within the last two rounds.
        assert min(got["ends"]) >= got["cycles"] * (1 - 2 / one["count"]), (one, got["ends"])


@pytest.mark.full
@pytest.mark.parametrize("via", [
    {}, more({"send_slots": 4, "window": 2}), more({"send_slots": 64, "window": 32})])
def test_many_vis(via: dict[str, int]) -> None:
    shape = {"count": 4, "length": 4096}
    run(described(**via), [
        {"vis": 1, "level": RD, "timeout": 500, **shape},
        {"vis": 8, "level": RD, "timeout": 500, **shape},
        {"vis": 8, "level": RR, "timeout": 1 << 24, **shape},
        {"vis": 8, "level": RD, "timeout": 20_000, "both": True, **shape},
        {"vis": 64, "level": RR, "timeout": 500, **shape},
    ])
