"""The socket for a NIC: its members, and the parameters that it refuses."""

from typing import Any

import pytest
from amaranth.hdl import Shape
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from nicbed.rtl.bus.burst import Burst, BurstRequest, BurstWord
from nicbed.rtl.node.nic_side import LinkSide, NicSide
from nicbed.rtl.parts.flit import FlitStream, flit_stream

OWN = data.StructLayout({"speed": 12})


def test_arrays_also_of_one() -> None:
    side = NicSide()
    assert side.members["dma"] == Out(Burst()).array(1)
    assert side.members["taken"].dimensions == (1,)
    assert side.members["events"].dimensions == (0,)
    assert side.members["link"].signature.members == LinkSide().members
    assert "own" not in side.members


def test_parameters_are_readable_and_make_equal_sides_equal() -> None:
    given = {"dma": 3, "width": 32, "tags": 4, "link_width": 16, "irqs": 2, "cpus": 5, "events": 7,
             "own": OWN}
    side = NicSide(**given)
    assert {name: getattr(side, name) for name in given} == given
    assert side == NicSide(**given)
    assert side != NicSide(**{**given, "irqs": 3})
    assert repr(Burst(32, 4)) in repr(side.members["dma"])
    assert side.members["own"] == In(OWN)


@pytest.mark.parametrize("given, error, text", [
    ({"dma": 15}, ValueError, "dma must be at most 14, not 15"),
    ({"dma": -1}, ValueError, "dma must be at least 0, not -1"),
    ({"width": 12}, ValueError, "width must be a power of two, at least 8, not 12"),
    ({"width": 128}, ValueError, "width must be at most 64, not 128"),
    ({"tags": 0}, ValueError, "tags must be at least 1, not 0"),
    ({"tags": 257}, ValueError, "tags must be at most 256, not 257"),
    ({"link_width": 4}, ValueError, "width must be a power of two, at least 8, not 4"),
    ({"irqs": 17}, ValueError, "irqs must be at most 8, not 17"),
    ({"cpus": "2"}, TypeError, "cpus must be an integer, not '2'"),
    ({"own": 3}, TypeError, "own must be a StructLayout, not 3"),
])
def test_refuses(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        NicSide(**given)


def test_bursts_and_flits_of_8_bytes_are_those_of_the_bus_and_the_link() -> None:
    request, write = (Burst().members[name].signature for name in ("request", "write"))
    shapes = [one.members["payload"].shape for one in (request, write)]
    assert shapes == [BurstRequest, BurstWord]
    assert Burst().members["read"].signature.flip() == stream.Signature(64)
    assert set(Burst().members) == {"request", "write", "read", "done"}
    assert flit_stream(8) == FlitStream


@pytest.mark.parametrize("width, tags, beats", [(8, 2, 512), (16, 1, 256), (64, 256, 64)])
def test_wide_bursts_have_the_same_bytes(width: int, tags: int, beats: int) -> None:
    burst = Burst(width, tags)
    request = burst.members["request"].signature.members["payload"].shape
    assert Shape.cast(request["beats"].shape).width == beats.bit_length()
    assert ("jump_address" in dict(request)) == (width == 8)
    assert isinstance(burst.members["read"].signature, stream.Signature)
    assert ("done_tag" in burst.members) == (tags > 1)
    assert isinstance(burst.create(), wiring.PureInterface)
