"""The queues of a context, alone: the oldest that fits, and a charge for each entry compared."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
from nicbed.host.mpi import ANY_SOURCE, ANY_TAG
from nicbed.host.mpi.point_to_point.matching import Matching, Unexpected
from nicbed.host.mpi.point_to_point.requests import Receive
from nicbed.host.mpi.progress.packets import Header, Packet


class Port:
    """Counts charges by name."""

    def __init__(self) -> None:
        self.spent: dict[str, int] = {"search": 0, "match": 0}

    def joint(self, *names: str) -> tuple[str, ...]:
        return names

    def spend(self, names: Any) -> None:
        for name in (names,) if isinstance(names, str) else names:
            self.spent[name] += 1


def queues() -> tuple[Matching, Port]:
    port = Port()
    return Matching(port, "search", "match"), port  # type: ignore[arg-type]


def receive(source: int = ANY_SOURCE, tag: int = ANY_TAG, context: int = 0) -> Receive:
    """One that was posted with these, and no data."""
    found = Receive.__new__(Receive)
    found.context, found.rank, found.tag = context, source, tag
    found.comm = SimpleNamespace(rank=0, name="COMM_WORLD")
    return found


def header(source: int, tag: int, context: int = 0) -> Header:
    return Header(Packet.EAGER, context, source, 0, tag, 0)


@pytest.mark.parametrize("source, tag, takes", [
    (3, 7, True), (ANY_SOURCE, 7, True), (3, ANY_TAG, True), (ANY_SOURCE, ANY_TAG, True),
    (2, 7, False), (3, 6, False), (ANY_SOURCE, 6, False), (2, ANY_TAG, False)])
def test_matching_by_source_and_tag(source, tag, takes):
    for first in ("receive", "message"):
        matching, _ = queues()
        wanted, message = receive(source, tag), Unexpected(header(3, 7), 0)
        if first == "receive":
            assert matching.post(wanted) is None
            assert (matching.arrived(message.header) is wanted) == takes
        else:
            matching.keep(message)
            assert (matching.find(0, source, tag) is message) == takes
            assert (matching.post(wanted) is message) == takes
    assert matching.find(1, ANY_SOURCE, ANY_TAG) is None


def test_contexts_are_apart():
    matching, port = queues()
    matching.post(receive(context=1))
    assert matching.arrived(header(0, 0, context=2)) is None
    matching.keep(Unexpected(header(0, 0, context=2), 0))
    assert matching.post(receive(context=3)) is None
    assert port.spent == {"search": 0, "match": 0}


def test_the_oldest_that_fits_is_taken_and_each_entry_compared_is_charged():
    matching, port = queues()
    three = [receive(1, 5), receive(tag=5), receive()]
    for one in three:
        matching.post(one)
    assert port.spent == {"search": 0, "match": 0}
    assert matching.arrived(header(2, 5)) is three[1]
    assert port.spent == {"search": 2, "match": 1}
    assert matching.arrived(header(1, 6)) is three[2]
    assert port.spent == {"search": 4, "match": 2}
    assert matching.arrived(header(9, 9)) is None
    assert port.spent == {"search": 5, "match": 2}
    assert matching.withdraw(three[0]) and not matching.withdraw(three[0])
    assert port.spent == {"search": 6, "match": 2} and not matching.posted[0]


def test_a_message_that_was_kept_is_found_and_stays():
    matching, port = queues()
    three = [Unexpected(header(source, 5), source) for source in (1, 2, 1)]
    for one in three:
        matching.keep(one)
    assert matching.find(0, 1, 5) is three[0] and matching.find(0, 2, ANY_TAG) is three[1]
    assert port.spent["search"] == 3
    assert matching.find(0, 3, 5) is None and port.spent["search"] == 6
    assert matching.post(receive(2)) is three[1] and port.spent["search"] == 8
    assert matching.post(receive(1)) is three[0] and port.spent["search"] == 9
    assert matching.find(0, ANY_SOURCE, ANY_TAG) is three[2] and port.spent["match"] == 0


@pytest.mark.parametrize("seed", range(8))
def test_random_calls_against_plain_lists(seed):
    rng = random.Random(seed)
    matching, port = queues()
    posted: list[Receive] = []
    kept: list[Unexpected] = []
    compared = 0

    def fits(wanted: Receive, found: Header) -> bool:
        return (wanted.context == found.context and wanted.rank in (ANY_SOURCE, found.source)
                and wanted.tag in (ANY_TAG, found.tag))

    def first(several: list, context: Any, good: Any) -> Any:
        nonlocal compared
        for one in several:
            if context(one):
                compared += 1
                if good(one):
                    return one
        return None

    for _ in range(500):
        context = rng.randrange(2)
        call = rng.choice(["post", "arrived", "arrived", "post", "find", "withdraw"])
        if call == "arrived":
            found = header(rng.randrange(3), rng.randrange(3), context)
            wanted = first(posted, lambda one, to=context: one.context == to,
                           lambda one, to=found: fits(one, to))
            assert matching.arrived(found) is wanted
            if wanted is None:
                kept.append(Unexpected(found, 0))
                matching.keep(kept[-1])
            else:
                posted.remove(wanted)
            continue
        wanted = receive(rng.choice([ANY_SOURCE, 0, 1, 2]), rng.choice([ANY_TAG, 0, 1, 2]), context)
        if call == "withdraw":
            one = rng.choice([*posted, wanted])
            there = one in posted
            assert matching.withdraw(one) == there
            if there:
                compared += 1
                posted.remove(one)
            continue
        message = first(kept, lambda one, to=context: one.header.context == to,
                        lambda one, to=wanted: fits(to, one.header))
        if call == "find":
            assert matching.find(context, wanted.rank, wanted.tag) is message
        elif message is None:
            assert matching.post(wanted) is None
            posted.append(wanted)
        else:
            assert matching.post(wanted) is message
            kept.remove(message)
        assert port.spent["search"] == compared
