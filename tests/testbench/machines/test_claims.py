"""What the studies claim of network interfaces in general, on the machines' descriptions: by runs
on the simulator, whatever single figures say. ``--full`` has all machines."""

import json

import pytest
from nicbed.testbench.descriptions import load
from nicbed.testbench.machines.measured import Job, job_for, measure
from nicbed.testbench.machines.quantities import Quantity

from tests.labs.rows import more

SIGNATURE = json.dumps({"delays": ["0", "1/32", "1/8", "1/4", "1", "3/2"], "issues": 256},
                       sort_keys=True)
OTHERS = [more(machine) for machine in ("paragon", "meiko-cs2", "myrinet-ss20")]


def signature(machine, *changes):
    """Results of the LogP signature."""
    description = load.for_layer(load.load(machine, changes, 2), "am")
    [found] = measure([Job(description, "logp", SIGNATURE)])
    return found["results"]


@pytest.mark.parametrize("machine", ["cm5", more("paragon"), more("myrinet-ss20")])
def test_the_sender_is_the_bottleneck_beyond_the_knee(machine):
    """The cost of an issue is then o_s + D + o_r, also at a D that o_r was not measured at."""
    found = signature(machine)
    needed = found["o_s"] + found["o_r"]
    beyond = [one for one in found["cost_by_delay"]
              if found["g"] - needed < 1.5 * one["delay"] and one["delay"] < found["rtt"]
              and one["delay"]]
    assert beyond
    for one in beyond:
        assert one["cost"] - one["delay"] == pytest.approx(needed, rel=0.12), one


@pytest.mark.full
@pytest.mark.parametrize("machine", ["paragon", "meiko-cs2", "myrinet-ss20"])
def test_computation_within_the_idle_time_costs_nothing(machine):
    found = signature(machine)
    assert found["idle"] > 0.3 * found["g"]
    first = min((one for one in found["cost_by_delay"] if one["delay"]),
                key=lambda one: one["delay"])
    assert first["delay"] < found["idle"] / 4
    assert first["cost"] == pytest.approx(found["g"], rel=0.02)


@pytest.mark.full
def test_overhead_follows_the_attachment_and_latency_the_processing():
    """On the machine with an I/O bus and a processor in the NIC: a bus of half the speed, and a
    processor of half the speed."""
    usual = signature("myrinet-ss20")
    bus = signature("myrinet-ss20", "bus.pio_write=16", "bus.pio_read=44", "bus.burst_beat=12")
    processor = signature("myrinet-ss20", "processor.clock_divider=4")
    for name in ("o_s", "o_r"):
        assert bus[name] > 1.3 * usual[name], name
        assert processor[name] == pytest.approx(usual[name], rel=0.15), name
    for name in ("L", "g"):
        assert processor[name] > 1.8 * usual[name], name
        assert bus[name] < 1.1 * usual[name], name


@pytest.mark.parametrize("machine", ["cm5", *OTHERS])
def test_all_pairs_at_once_change_no_two_digits(machine):
    description = load.for_layer(load.load(machine, nodes=4), "am")
    [found] = measure([Job(description, "pairs")])
    assert found["results"]["worst"] < 0.005


@pytest.mark.parametrize("machine, program, keys", [
    ("cm5", "sample-sort", 512), ("cm5", "radix-sort", 256),
    *(more(machine, program, 512) for machine in ("cs2-40", "unet-atm", "sp2-thin")
      for program in ("sample-sort", "radix-sort"))])
def test_bulk_messages_beat_small_ones_in_every_sort(machine, program, keys):
    """In what communication takes; what a program computes differs between the two, too."""
    wanted = Quantity("x", "s", "x", program, lambda results: None,
                      {"runs": [{"variant": name, "keys": keys} for name in ("sm", "lg")]})
    [found] = measure([job_for(load.load(machine), wanted)])
    small, large = (sum(one["communication"]["cycles"] for one in run["processes"])
                    for run in found["results"]["runs"])
    assert large < 0.95 * small
