"""Class A on the target."""

import pytest
from nicbed import Testbed


@pytest.mark.full
def test_sp_of_class_a_on_the_simulator():
    """One of 400 iterations: 5 MB, as the one before it, which is not timed."""
    told = []

    with Testbed(nodes=4, store=None) as bed:
        bed.listener.told = told.append
        result = bed.app("sp", **{"class": "A", "iterations": 1}).document
    results = result["results"]
    assert all(check["ok"] for check in result["checks"]) and len(result["checks"]) >= 2
    assert results["verification"]["verdict"] == "NOT PERFORMED"
    assert (results["iterations"], results["of"]) == (1, 400)
    assert sum(row["bytes"] for row in results["slope"]["messages"]) == 400 * 4918272
    # 64³ points of 9,200 CPU cycles for each iteration on 4 CPUs of 200 MHz, and what is sent.
    computed = 400 * 64 ** 3 * 9200 / 4 / 200e6
    assert computed < results["slope"]["seconds"] < 1.1 * computed
    assert not told
