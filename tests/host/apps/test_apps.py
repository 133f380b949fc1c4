"""Programs over Split-C: answers, messages, and what computation takes."""

import shutil
from fractions import Fraction

import numpy as np
import pytest
from nicbed.host.apps import mm, radix_sort, sample_sort
from nicbed.host.apps.data import fixed_bytes, random_keys, random_matrix
from nicbed.host.splitc import SplitCError
from nicbed.testbench import apps
from nicbed.testbench.backends.session import run_job
from nicbed.testbench.descriptions.load import load

from tests.programs import apps as programs
from tests.programs.am import FAULTY, describe
from tests.programs.apps import run_app

SORTS = ("sample-sort", "radix-sort")
MODULES = {"sample-sort": sample_sort, "radix-sort": radix_sort}


def good(found):
    assert all(one["ok"] for one in found.outcome["checks"]), found.outcome["checks"]
    return found


@pytest.mark.parametrize("nodes", [2, 3, 8])
@pytest.mark.parametrize(("blocks", "block"), [(1, 1), (2, 4), (3, 5), (5, 3)])
def test_mm(nodes, blocks, block):
    good(run_app("mm", nodes, {"blocks": blocks, "block": block, "seed": nodes}))


@pytest.mark.parametrize("nodes", [2, 3, 8])
@pytest.mark.parametrize("variant", ["sm", "lg"])
@pytest.mark.parametrize("keys", [1, 2, 65, 300])
def test_sample_sort(nodes, variant, keys):
    good(run_app("sample-sort", nodes, {"variant": variant, "keys": keys, "seed": keys}))


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("variant", ["sm", "lg"])
@pytest.mark.parametrize(("keys", "passes"), [(1, 4), (2, 8), (65, 4), (300, 6), (100, 3)])
def test_radix_sort(nodes, variant, keys, passes):
    good(run_app("radix-sort", nodes, {"variant": variant, "keys": keys, "passes": passes,
                                       "seed": passes}))


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("variant", ["sm", "lg"])
def test_equal_keys_and_extreme_ones(name, variant):
    given = {"variant": variant, "keys": 90} | ({"passes": 4} if name == "radix-sort" else {})
    rows = np.array([[7] * 90, [0xFFFF_FFFF] * 90, [0, 7, 0xFFFF_FFFF] * 30], np.uint32)
    for data in (np.full((3, 90), 5, np.uint32), rows):
        good(run_app(name, 3, given, data=data))


def test_a_process_that_gets_too_many_keys_ends_the_run():
    """All keys are equal, so all go to one process, which has room for twice its share."""
    for variant in ("sm", "lg"):
        with pytest.raises(SplitCError, match="gets more keys than it has room for, 2224: the "
                                              "samples were bad; try another seed"):
            run_app("sample-sort", 4, {"variant": variant, "keys": 600},
                    data=np.full((4, 600), 9, np.uint32))


@pytest.mark.parametrize("name", SORTS)
def test_a_wrong_order_is_found(name):
    found = run_app(name, 2, {"keys": 40})
    results = [answer for answer, *_ in found.run.results]
    check = MODULES[name].check
    assert check(results, found.inputs, found.parameters)[0]
    swapped = [results[0][::-1], results[1]]
    assert check(swapped, found.inputs, found.parameters) == (False, "key 0 is not numpy's")
    assert check([results[0]], found.inputs, found.parameters) == (
        False, f"{len(results[0])} keys, not 80")


def test_a_wrong_block_is_found():
    found = run_app("mm", 2, {"blocks": 2, "block": 3})
    results = [dict(answer) for answer, *_ in found.run.results]
    assert mm.check(results, found.inputs, found.parameters)[0]
    results[1][3] = results[1][3] + 1
    assert mm.check(results, found.inputs, found.parameters) == (
        False, "1 of 4 blocks differ from numpy's product")
    assert not mm.check(results[:1], found.inputs, found.parameters)[0]


def test_messages_that_are_not_the_algorithms_are_found():
    found = run_app("sample-sort", 2, {"keys": 40})
    found.run.results[1][1]["bulk_store"]["messages"] += 1
    from nicbed.testbench.apps.measurement import evaluate

    checks = evaluate(found.module, found.run, found.inputs, found.parameters,
                      [(0, 0), (1, 0)])["checks"]
    assert [one["check"] for one in checks if not one["ok"]] == [
        "messages are as many as the algorithm sends"]


# The study counts the messages of its sorts: 229,376 with two keys a process and permutation, which
# is 7/8 of 512 K keys, by two.
STUDY = 229_376


def test_the_study_s_number_of_messages_in_the_sample_sort():
    parameters = sample_sort.defaults({"variant": "sm", "keys": 1 << 19})
    found = sample_sort.messages(sample_sort.inputs(parameters, 8), parameters, 8)
    for one in found:
        assert one["store"] == pytest.approx(STUDY, rel=0.05)  # the shares are not equal
    assert sum(one["store"] for one in found) == pytest.approx(8 * STUDY, rel=0.01)
    assert [one.get("bulk_store", 0) for one in found] == [0] + [1] * 7  # samples


def test_the_study_s_number_of_messages_in_the_radix_sort():
    parameters = radix_sort.defaults({"variant": "sm", "keys": 1 << 17})
    for passes in (2, 3, 4):
        given = {**parameters, "passes": passes}
        found = radix_sort.messages(radix_sort.inputs(given, 8), given, 8)
        for one in found:
            assert one["store"] == pytest.approx(passes * STUDY / 4, rel=0.05)
            assert one["bulk_store"] == passes * 14
        each = sum(one["store"] for one in found) / passes / 8
        assert each == pytest.approx(STUDY / 4, rel=0.01)


def test_what_the_bulk_variants_send():
    """To each other process: counts and keys; in the radix sort digits' counts and ranks too."""
    parameters = sample_sort.defaults({"keys": 4096})
    found = sample_sort.messages(sample_sort.inputs(parameters, 8), parameters, 8)
    assert [one["bulk_store"] for one in found] == [14] + [15] * 7
    parameters = radix_sort.defaults({"keys": 4096})
    found = radix_sort.messages(radix_sort.inputs(parameters, 8), parameters, 8)
    assert [one["bulk_store"] for one in found] == [3 * 28] * 8


def test_mm_fetches_what_is_elsewhere():
    """Of 4 x 4 blocks on 8 processes, process 5 has result blocks 5 (row 1, column 1) and 13 (row
    3, column 1). Row 1 of A is on 4, 5, 6, 7, and so is row 3; column 1 of B on 1, 5, 1, 5."""
    parameters = mm.defaults({"blocks": 4, "block": 1})
    assert mm.messages(mm.inputs(parameters, 8), parameters, 8)[5] == {"bulk_get": 2 * (3 + 2)}
    assert mm.messages((), {"blocks": 3}, 3)[0] == {"bulk_get": 3 * 2}


def times(found, name):
    return next(one["cycles"] for one in found.outcome["results"]["phases"] if one["name"] == name)


@pytest.mark.parametrize("interval", [0, 1000])
def test_what_computation_takes(interval):
    """The price of a flop by their number; a program that polls takes as much longer as polls
    take."""
    found = good(run_app("mm", 3, {"blocks": 3, "block": 10},
                         {"apps.poll_interval": interval, "apps.flop": "7/3"}))
    assert sum(port.tally()["flop"] for port in found.runtime.ports) == 2 * 30 ** 3
    for node in range(3):
        exact = Fraction(7, 3) * 2 * 30 ** 3 / 3 * Fraction(66, 200)
        computing = found.outcome["results"]["processes"][node]["computation"]
        own = computing["cycles"] - computing["messages"] - computing["waiting"]
        assert abs(own - exact) < 4  # below a CPU cycle in each of its nine products
        assert bool(computing["waiting"]) == bool(interval)
        assert times(found, "multiply")[node] == computing["cycles"]


@pytest.mark.parametrize(("name", "variant", "item", "count"), [
    ("sample-sort", "lg", "sort_key", None), ("sample-sort", "sm", "sort_key", None),
    ("radix-sort", "lg", "radix_key", 2 * 101 * 4), ("radix-sort", "sm", "radix_key", 2 * 101 * 4)])
def test_what_the_sorts_charge(name, variant, item, count):
    """A key in one pass; both local sorts of a key, of which sm has but one."""
    given = {"variant": variant, "keys": 101} | ({"passes": 4} if name == "radix-sort" else {})
    found = run_app(name, 2, given)
    charged = sum(port.tally()[item] for port in found.runtime.ports)
    if count is None:
        last = sum(len(answer) // 2 for answer, *_ in found.run.results)
        count = last + 2 * 64 // 2 + (2 * 51 if variant == "lg" else 0)  # and the samples
    assert charged == count


def test_data_do_not_change():
    """The first keys of a seed, and a matrix: they are the same with every numpy."""
    assert random_keys(3, 1).tolist() == [2198257139, 4082210491, 619160822]
    assert random_matrix(2, 1).tolist() == [[0, 7], [-6, 7]]
    assert not np.array_equal(random_keys(9, 1), random_keys(9, 2))


RATES = {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05}
JOBS = [("mm", {"blocks": 3, "block": 8}),
        *((name, {"variant": variant, "keys": 200}) for name in SORTS for variant in ("sm", "lg"))]


def on_target(nodes, jobs, sim="verilator"):
    found = run_job(describe({"fabric.nodes": nodes}), sim,
                    function=f"{programs.__name__}:cycles_on_lab", arguments={"jobs": jobs})
    assert all(isinstance(cycles, int) for cycles in found), found
    return found


def test_on_the_target_with_and_without_faults():
    jobs = [(*job, settings) for job in JOBS for settings in ({}, {**FAULTY, **RATES})]
    on_target(3, jobs)


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_same_cycles_on_icarus():
    jobs = [("mm", {"blocks": 2, "block": 4}, {}), ("sample-sort", {"keys": 20}, {})]
    assert on_target(2, jobs) == on_target(2, jobs, "icarus")


WAYS = {"rings": {}, "firmware": {"nic.processor": "picorv32"},
        "memory bus": {"nic.processor": "vexriscv", "nic.attachment": "memory_bus"},
        "two CPUs": {"node.cpus": 2}}


@pytest.mark.parametrize("way", WAYS)
def test_on_every_way_to_the_nic_and_within_the_memory_that_is_asked_for(way):
    """The firmware is the real image, instruction by instruction."""
    for name, given in JOBS:
        if "keys" in given:
            given = {**given, "keys": 60}
        found = good(run_app(name, 3, given, WAYS[way]))
        asked = fixed_bytes(found.description, 3) + found.module.needed(found.parameters, 3)
        for node in found.runtime.nodes:
            assert found.description.memory.bytes - node.host.allocator.free <= asked


def test_defaults_fit_in_the_memory_of_the_default_nic():
    for app in apps.APPS.values():
        assert apps.parameters(app, {}, load(nodes=app.nodes))
