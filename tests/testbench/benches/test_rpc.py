"""The LogP signature of RPC, on the functional model and on the machine of the study."""

import asyncio

from nicbed.testbench.backends.session import run_job
from nicbed.testbench.benches import get, run
from nicbed.testbench.descriptions import load as descriptions

from tests.labs.model import ModelLab


def parameters(description):
    return {**get("logp").module("rpc").parameters(description), "issues": 64}


def holds(outcome):
    assert not [check for check in outcome["checks"] if not check["ok"]], outcome["checks"]
    return outcome["results"]


def test_the_host_is_the_bottleneck():
    """g is o_s + o_r, every D comes on top; with work for nobody the checks say that it is not."""
    description = descriptions.for_layer(descriptions.load(), "rpc")
    found = holds(asyncio.run(run(ModelLab(description), "logp", "rpc", parameters(description))))
    for one in found["cost_by_delay"][1:]:
        more = one["cost"] - found["g"]
        assert abs(more - one["delay"]) < 0.05 * found["g"]
    cheap = descriptions.for_layer(descriptions.load("default", [
        "cpu.path_scale=1/100", "link.bytes_per_cycle=1/8"]), "rpc")
    outcome = asyncio.run(run(ModelLab(cheap), "logp", "rpc", parameters(cheap)))
    assert [check["ok"] for check in outcome["checks"][1:3]] == [False, False]


def test_on_ethernet_the_first_computation_raises_the_gap():
    """The study's claim, on the simulator: an Ethernet is slow, and still the host is slower."""
    description = descriptions.for_layer(descriptions.load("ss10-ethernet", nodes=2), "rpc")
    outcome = run_job(description, "verilator", function="nicbed.testbench.benches:run",
                      arguments={"name": "logp", "layer": "rpc",
                                 "parameters": parameters(description)})
    found = holds(outcome)
    assert found["bound"]["block"] in ("host", "receiver")
    assert found["o_s"] + found["o_r"] > 0.5 * found["rtt"] / 2
