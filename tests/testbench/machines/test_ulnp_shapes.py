"""The shapes of the cluster study on its machines: which orders and signs hold, whatever single
figures say. All of them run on the simulator, with ``--full``; what the study's page has as rows
is read from its tables."""

from functools import cache

import pytest
from nicbed.testbench.machines import studies
from nicbed.testbench.machines.reproduction import measured

pytestmark = pytest.mark.full

MVIA, BVIA, CLAN, GM = "mvia-gnic2", "bvia-lanai43", "clan1000", "gm-lanai43"
NOTHING = 0.5
"""µs: less is nothing, as in the study's tables."""


@cache
def table(name):
    """A table of the study, measured: ours by machine and quantity, without its layer."""
    [(_, [one])] = studies.chosen(f"ulnp/{name}")
    found = measured(one)
    every = [(row.figure.machine, row.figure.name, row.ours) for row in found.rows]
    every += [(one.machine, one.quantity.name, one.ours) for one in found.predictions]
    return {(machine, name.removesuffix(", VIA").removesuffix(", GM")): ours
            for machine, name, ours in every}


def test_latency_is_least_in_hardware_and_most_in_firmware_of_via():
    """1. cLAN < GM, about M-VIA < Berkeley VIA."""
    half = {machine: table("latency")[machine, "latency of 4 B"]
            for machine in (MVIA, BVIA, CLAN, GM)}
    assert half[CLAN] < min(half[GM], half[MVIA]) and max(half[GM], half[MVIA]) < half[BVIA]
    assert half[GM] == pytest.approx(half[MVIA], rel=0.1)


@pytest.mark.parametrize("size", ["1 KB", "4 KB", "32 KB"])
def test_bandwidth_of_m_via_is_above_berkeley_via_at_every_size(size):
    """2. And cLAN's is above both."""
    rate = {machine: table("bandwidth")[machine, f"bandwidth of {size}"]
            for machine in (MVIA, BVIA, CLAN)}
    assert rate[BVIA] < rate[MVIA] < rate[CLAN]


@pytest.mark.parametrize("machine", [MVIA, BVIA, CLAN])
def test_o_s_grows_with_the_message_where_the_host_copies(machine):
    """3. In M-VIA alone."""
    small, large = (table("logp")[machine, name] for name in ("o_s", "o_s of 32 KB"))
    if machine == MVIA:
        assert large > 10 * small
    else:
        assert large == pytest.approx(small, rel=0.1)


def test_new_pages_cost_where_tables_are_in_host_memory():
    """4. In Berkeley VIA and GM."""
    cost = {machine: table("buffers")[machine, "new pages"] for machine in (MVIA, BVIA, CLAN, GM)}
    assert min(cost[BVIA], cost[GM]) > NOTHING > max(cost[MVIA], cost[CLAN])


def test_connections_cost_where_firmware_polls_all_vis():
    """5. In Berkeley VIA alone."""
    ratio = {machine: table("connections")[machine, "16 VIs over 1"]
             for machine in (MVIA, BVIA, CLAN)}
    assert ratio[BVIA] > 1.03 and ratio[MVIA] == pytest.approx(1, abs=0.02)
    assert ratio[CLAN] == pytest.approx(1, abs=0.02)


def test_blocking_costs_most_in_gm_and_nothing_in_m_via():
    """6."""
    cost = {machine: table("blocking")[machine, "blocking"] for machine in (MVIA, BVIA, CLAN, GM)}
    assert abs(cost[MVIA]) < NOTHING and max(cost, key=lambda machine: cost[machine]) == GM


def test_segments_cost_on_clan_and_more_the_smaller_they_are():
    """7. As a share of the latency in one segment."""
    found = table("gather")
    small, large = (found[CLAN, f"{total} in 16"] / found[CLAN, f"{total} in 1"]
                    for total in ("256 B", "4 KB"))
    assert small > large > 1.01


@pytest.mark.parametrize("machine", [MVIA, BVIA, CLAN])
def test_a_completion_queue_costs_the_same_for_any_number_of_work_queues(machine):
    """8."""
    one, many = (table("connections")[machine, f"completion queue of {count}"]
                 for count in (1, 16))
    half = table("latency")[machine, "latency of 4 B"]
    assert many == pytest.approx(one, abs=0.02 * half)


def test_a_round_trip_of_active_messages_ii_and_its_bandwidth():
    """Nothing is fitted to them."""
    assert table("latency")["am2-now", "round trip, AM-II"] == pytest.approx(42, rel=0.15)
    assert table("bandwidth")["am2-now", "bandwidth, AM-II"] == pytest.approx(31, rel=0.15)
