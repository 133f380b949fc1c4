"""The side of a policy: the rules by which the cache of a node's only CPU decides."""

from typing import Any

from amaranth.hdl import Module
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from .fault import Fault
from .tags import tag_change

__all__ = ["Access", "Policy", "Snooped", "Step", "follow_snoops", "look_up"]


class Step(enum.Enum, shape=3):
    """The first thing that an access does."""

    END = 0
    """Nothing: it ends."""
    CHANGE = 1
    """It changes the state of its line, and ends."""
    UPGRADE = 2
    """It takes its line, which is in the cache, by an upgrade."""
    READ = 3
    """It reads its line."""
    BACK = 4
    """It writes back the line in its slot, and then reads its own."""
    FLUSH = 5
    """It writes back its line, and then changes its state."""


class Access(data.Struct):
    """An access to the line at ``address``. ``hit``: the line is in the cache."""

    address: 32
    store: 1
    fetch: 1
    block: 1
    flush: 1
    hit: 1


class Snooped(data.Struct):
    """With ``valid``, an access of another initiator to the word at ``address``.

    ``known``: the cache has its line. ``meets``: it is the access's line. ``passed``: the access
    has read the word already, if it meets."""

    valid: 1
    write: 1
    address: 32
    known: 1
    meets: 1
    passed: 1


class Policy(wiring.Signature):
    """A policy, as it sees itself. It has no state: all outputs follow the inputs in their cycle.

    A component with this signature has ``state``, the layout of a line's state, with ``held`` and
    ``dirty``, and ``steps``, the steps that it gives.

    Members
    -------
    access : ``In(Access)``, own : ``In(state)``
        An access, and the state of the line in its slot: that of its own line if there is a hit.
    snoop : ``In(Snooped)``, other : ``In(state)``
        A snoop, and the state of the line in its slot.
    step : ``Out(Step)``
        What the access does first, in a cycle in which it is looked up.
    waits : ``Out(1)``
        An access that would end without a change has to wait if a snoop changes a state meanwhile.
    fills : ``Out(1)``
        A line that the access reads comes into the cache.
    entered : ``Out(state)``
        The state of the access's line when the access has changed it.
    change : ``Out(tag_change(state))``
        What the snoop does to its line.
    strikes : ``Out(1)``
        The snoop makes old what the access reads.
    fault : ``Out(Fault)``
        What a program has forgotten.
    """

    def __init__(self, state: data.StructLayout) -> None:
        super().__init__({
            "access": In(Access),
            "own": In(state),
            "snoop": In(Snooped),
            "other": In(state),
            "step": Out(Step),
            "waits": Out(1),
            "fills": Out(1),
            "entered": Out(state),
            "change": Out(tag_change(state)),
            "strikes": Out(1),
            "fault": Out(Fault),
        })


def follow_snoops(m: Module, policy: Any) -> None:
    """Let a snooped write make its line invalid, and a snooped read make it clean, as on a coherent
    bus."""
    snoop = policy.snoop
    with m.If(snoop.valid):
        m.d.comb += [
            policy.change.valid.eq(snoop.known & (snoop.write | policy.other.dirty)),
            policy.change.address.eq(snoop.address),
            policy.change.state.held.eq(~snoop.write),
            policy.strikes.eq(snoop.write & snoop.meets),
        ]


def look_up(m: Module, policy: Any, takes: Step) -> None:
    """Let an access to a line in the cache end; a store to a clean one first ``takes`` it. Other
    accesses read their line, after a dirty line in its slot has been written back. A fetch of a
    line in the cache reads it, too, and leaves the slot as it is."""
    access, own = policy.access, policy.own
    m.d.comb += [
        policy.step.eq(Step.READ),
        policy.fills.eq(~access.hit),
        policy.entered.held.eq(1),
        policy.entered.dirty.eq(access.store),
    ]
    with m.If(access.hit & ~access.fetch):
        m.d.comb += policy.step.eq(Step.END)
        with m.If(access.store & ~own.dirty):
            m.d.comb += policy.step.eq(takes)
    with m.Elif(~access.hit & own.held & own.dirty):
        m.d.comb += policy.step.eq(Step.BACK)
