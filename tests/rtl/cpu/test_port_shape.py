"""The structure of a host port."""

from dataclasses import replace
from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.rtl.cpu.port_shape import PortShape

SHAPE = PortShape(posted_writes=2, cache_lines=16)


@pytest.mark.parametrize("options, text", [
    ({"flushes": True, "peers": 2}, "bus.coherent = false needs node.cpus = 1, not 3"),
    ({"cas_in_cache": True, "coherent": True}, "cpu.cas_place = 'cache' needs nic.attachment = "
     "'io_bus' or 'local_bus', not 'memory_bus'"),
])
def test_options_that_exclude_each_other_are_named_by_their_knobs(options: dict[str, Any],
                                                                  text: str) -> None:
    """One of the port's own, and one of its cache's (test_cache_shape.py has them all)."""
    with pytest.raises(ValueError) as caught:
        replace(SHAPE, **options)
    assert str(caught.value) == text
    for option in options:
        replace(SHAPE, **{option: options[option]})


def test_it_comes_from_a_description() -> None:
    described = Description.model_validate({
        "bus": {"posted_writes": 5}, "node": {"cpus": 3, "nics": 2}, "memory": {"width": 16},
        "cpu": {"cache_lines": 32, "line_bytes": 64, "l2_lines": 128, "l2_hit": 7,
                "cas_place": "cache", "copy_by": "block"}})
    shape = PortShape(posted_writes=5, cache_lines=32, line_bytes=64, beat_bytes=16, l2_lines=128,
                      l2_hit=7, peers=2, nics=2, cas_in_cache=True, block_stores=True)
    assert PortShape.of(described) == shape
    assert PortShape.of(described, cpus=4) == replace(shape, peers=3)
    on_memory_bus = Description.model_validate({"nic": {"attachment": "memory_bus"}})
    assert PortShape.of(on_memory_bus).coherent
    not_coherent = Description.model_validate({"bus": {"coherent": False}})
    assert PortShape.of(not_coherent).flushes


def test_swaps_are_in_the_cache_with_peers_always() -> None:
    assert not SHAPE.owned_swaps
    assert replace(SHAPE, peers=1).owned_swaps and replace(SHAPE, cas_in_cache=True).owned_swaps
