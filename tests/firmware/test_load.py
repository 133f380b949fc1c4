"""Firmware of the NIC processor under load, on the model target: without a loss nothing is sent
again, however long the time-outs, nobody starves, and many senders take what the stage takes that
they share. With a loss only what was lost goes again."""

import asyncio
from collections.abc import Callable

import pytest
from nicbed.host.endpoint import Exchange
from nicbed.host.port.sent_again import Cause
from nicbed.layouts import gm, via
from nicbed.layouts.packet import HEADER, Protocol
from nicbed.testbench.benches.load.cells import together
from nicbed.testbench.benches.load.traffic import measure_traffic
from nicbed.testbench.descriptions import load as descriptions

from tests.labs import model as model_lab
from tests.labs.model import ModelLab
from tests.labs.rows import more
from tests.models.target import Model

PATIENT = 1 << 24
"""A time-out, in cycles, that never passes here."""
KNOB = {"am": "am.retry_timeout", "via": "via.retry_timeout", "gm": "gm.retry_timeout"}


class Load:
    """``senders`` nodes send ``count`` messages of ``size`` bytes each to node 0, over ``vis`` VIs
    each. ``cycles``: until all have come; ``spread``: the most over the least that one got while
    all sent; ``again``: packets sent again; ``lost``: those that were lost."""

    def __init__(self, layer: str, senders: int, count: int, *, size: int = 16, vis: int = 1,
                 crowd: int = 15, knobs: tuple[str, ...] = (), core: str = "picorv32",
                 lose: Callable[[bytes], bool] | None = None) -> None:
        description = descriptions.for_layer(descriptions.load(
            overrides=[f"nic.processor={core}", "via.vis=64", *knobs], nodes=senders + 1), layer)
        lab = ModelLab(description)
        plan = Exchange(size, count, {node: [0] for node in range(1, senders + 1)}, streams=vis,
                    crowd=crowd)
        with pytest.MonkeyPatch.context() as patch:
            if lose is not None:
                patch.setattr(model_lab, "Model", losing(lose))
            raw = asyncio.run(measure_traffic(lab, layer, plan))
        self.cycles = (max(times[-1] for times in raw["arrived"].values())
                       - max(raw["begin"].values())) / 256
        shared = together(raw)
        self.spread = float(shared.most - shared.least)
        self.again = raw["again"]
        assert self.again == lab.account.found.total() and Cause.RETURNED not in {
            one.cause for one in lab.account.found}


def losing(rule: Callable[[bytes], bool]) -> type[Model]:
    class Losing(Model):
        def __init__(self, description):
            super().__init__(description)
            self.nics[1].lose = rule
    return Losing


def timeouts(layer: str, *cycles: int) -> list[tuple[str, ...]]:
    return [(f"{KNOB[layer]}={timeout}",) if layer in KNOB else () for timeout in cycles]


@pytest.mark.parametrize(("layer", "senders", "short"), [
    ("am", 3, 2000), more("gm", 3, 20_000), more("fm", 3, 0), ("via", 3, 5000),
    *(more(layer, senders, short) for layer, short in (
        ("am", 2000), ("gm", 20_000), ("fm", 0), ("via", 5000)) for senders in (2, 6)),
    *(more(layer, 15, short) for layer, short in (("am", 2000), ("gm", 20_000), ("fm", 0)))])
def test_many_senders(layer, senders, short):
    count = 10 if layer == "via" else 24
    patient, default = timeouts(layer, PATIENT, short)
    longest = Load(layer, senders, count, knobs=patient)
    assert longest.again == 0
    # A window's worth may come at once.
    assert longest.spread < 0.05 + 8 / count
    if default:
        found = Load(layer, senders, count, knobs=default)
        assert found.again == 0 and found.cycles < 1.1 * longest.cycles


@pytest.mark.parametrize("knobs", [
    ("via.send_slots=4", "via.window=2"), more(("via.send_slots=16", "via.window=8")),
    more(("via.send_slots=64", "via.window=32", "processor.memory=131072"))],
    ids=lambda knobs: knobs[0])
def test_vis_that_share_slots(knobs):
    """They ask for acknowledgements when slots run short, so none waits for a time-out."""
    patient = (*knobs, f"via.retry_timeout={PATIENT}")
    one = Load("via", 1, 4, size=3000, knobs=patient)
    found = Load("via", 1, 4, size=3000, vis=8, knobs=patient)
    assert found.again == 0 and found.cycles < 1.1 * 8 * one.cycles


def data(layer: str, header: int, word: int) -> int | None:
    """The sequence number of a packet that carries data."""
    protocol, detail = HEADER.get(header, "protocol"), HEADER.get(header, "detail")
    if layer == "via" and protocol == Protocol.VIA:
        kind = via.DETAIL.unpack(detail)["kind"]
        return via.VIA_HEADER.unpack(word)["sequence"] if kind == via.PacketKind.SEND else None
    if layer == "gm" and protocol == Protocol.GM:
        fields = gm.DETAIL.unpack(detail)
        if fields["kind"] == gm.PacketKind.DATA and not fields["priority"]:
            return gm.GM_HEADER.unpack(word)["sequence"]
    return None


class Loses:
    """Loses packet ``sequence``, the first ``times`` times."""

    def __init__(self, layer: str, sequence: int, times: int) -> None:
        self.layer, self.sequence, self.times = layer, sequence, times

    def __call__(self, packet: bytes) -> bool:
        header, word = (int.from_bytes(packet[at:at + 8], "little") for at in (0, 8))
        if not self.times or data(self.layer, header, word) != self.sequence:
            return False
        self.times -= 1
        return True


@pytest.mark.parametrize("layer", ["via", "gm"])
@pytest.mark.parametrize("times", [more(1), 3])
def test_only_what_was_lost_goes_again(layer, times):
    """The last packet: a time-out asks, and the answer says that it was lost. The check that
    nothing is sent again sees it."""
    timeout = 50_000
    knobs = timeouts(layer, timeout)[0]
    lossless = Load(layer, 1, 10, knobs=knobs)
    rule = Loses(layer, 9, times)
    found = Load(layer, 1, 10, knobs=knobs, lose=rule)
    assert lossless.again == 0 and not rule.times and found.again == times
    again = timeout if layer == "via" else 2 * timeout * times
    assert lossless.cycles + timeout / 2 < found.cycles < lossless.cycles + timeout + again + 30_000


@pytest.mark.parametrize("layer", ["via", "gm"])
def test_a_loss_that_a_later_packet_shows_needs_no_time_out(layer):
    knobs = timeouts(layer, PATIENT)[0]
    lossless = Load(layer, 1, 12, knobs=knobs)
    found = Load(layer, 1, 12, knobs=knobs, lose=Loses(layer, 3, 1))
    assert 0 < found.again <= 9 and found.cycles < lossless.cycles + 100_000


def test_a_peer_that_is_busy_is_not_given_up():
    """Time-outs far below a round trip end in probes alone."""
    found = Load("via", 3, 6, knobs=("via.retry_timeout=100", "via.retries=3"))
    assert found.again == 0
