"""The surroundings of a NIC in a check: host memory behind its DMA ports, and links."""

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from amaranth.lib import data

from ...host.port.memory import ArrayMemory
from ...rtl.node.nic_side import NicSide
from .nic_ports import NicPorts

__all__ = ["DmaPort", "Stalls", "Wire"]


class Stalls:
    """The stalls of a side: cycles at random with ``probability``, or all but one of each
    ``every``."""

    def __init__(self, seed: str, probability: float = 0.0, every: int = 1) -> None:
        self._random = random.Random(seed)
        self._probability, self._every = probability, every
        self._at = 0

    def __call__(self) -> bool:
        self._at += 1
        if self._every > 1 and self._at % self._every:
            return True
        return self._probability > 0 and self._random.random() < self._probability

    def choose(self, count: int) -> int:
        """A number below ``count``."""
        return self._random.randrange(count)


@dataclass
class _Burst:
    write: int
    address: int
    jump: int
    beats: int
    tag: int
    given: int = 0
    words: deque[int] = field(default_factory=deque)


class DmaPort:
    """Host memory behind port ``number`` of ``nic``. It takes requests and moves words with
    ``stalls``; bursts with different tags are served in any order."""

    def __init__(self, nic: NicPorts, number: int, side: NicSide, memory: ArrayMemory,
                 stalls: Stalls) -> None:
        self._nic, self._memory, self._stalls = nic, memory, stalls
        self.name = f"dma[{number}]"
        self._width, self._tags = side.width, side.tags
        signature = side.members["dma"].signature
        self._request = _layout(signature, "request")
        self._word = _layout(signature, "write")
        self._read = _layout(signature, "read") if side.tags > 1 else None
        port = f"dma__{number}__"
        self._names = {part: port + part for part in (
            "request__valid", "request__ready", "request__payload", "write__valid",
            "write__ready", "write__payload", "read__valid", "read__ready", "read__payload",
            "done", "done_tag")}
        self._under_way: dict[int, _Burst] = {}
        self._writes: deque[_Burst] = deque()
        self._over: deque[_Burst] = deque()
        self._offered: _Burst | None = None
        self._ready = self._write_ready = self._done = False

    def sampled(self) -> None:
        """Take what the NIC did in the cycle that ends."""
        nic, names = self._nic, self._names
        if self._done:
            burst = self._over.popleft()
            del self._under_way[burst.tag]
            nic.set(names["done"], 0)
            self._done = False
            if not self._under_way:
                nic.bus_free(self)
        if self._ready and nic.get(names["request__valid"]):
            self._take(nic.get(names["request__payload"]))
        if self._write_ready and nic.get(names["write__valid"]):
            self._written(nic.get(names["write__payload"]))
        if self._offered is not None and nic.get(names["read__ready"]):
            burst, self._offered = self._offered, None
            nic.moved(self.name + ".read", burst.words[0])
            burst.words.popleft()
            if not burst.words:
                self._over.append(burst)

    def drive(self) -> None:
        """Set what the NIC sees in the cycle that begins."""
        nic, names, stalls = self._nic, self._names, self._stalls
        self._ready = (len(self._under_way) < self._tags and not stalls()
                       and nic.bus_for(self, nic.get(names["request__valid"])))
        nic.set(names["request__ready"], int(self._ready))
        self._write_ready = bool(self._writes) and not stalls()
        nic.set(names["write__ready"], int(self._write_ready))
        if self._offered is None:
            reads = [burst for burst in self._under_way.values() if burst.words]
            if reads and not stalls():
                burst = self._offered = reads[stalls.choose(len(reads))]
                word = burst.words[0]
                if self._read is not None:
                    word |= burst.tag << self._read["tag"].offset
                    word |= (len(burst.words) == 1) << self._read["last"].offset
                nic.set(names["read__payload"], word)
        nic.set(names["read__valid"], int(self._offered is not None))
        if self._over and not stalls():
            self._done = True
            nic.set(names["done"], 1)
            if self._tags > 1:
                nic.set(names["done_tag"], self._over[0].tag)

    def _take(self, payload: int) -> None:
        nic = self._nic
        asked = _fields(self._request, payload)
        nic.moved(self.name + ".request", payload)
        burst = _Burst(asked["write"], asked["address"], asked.get("jump_address", 0),
                       asked["beats"], asked.get("tag", 0))
        if burst.beats == 0 or burst.tag in self._under_way:
            return  # broken, and reported: the rest of the run is not served
        self._under_way[burst.tag] = burst
        if burst.write:
            self._writes.append(burst)
            return
        size = burst.beats * self._width
        if not nic.allow(burst.address, size):
            nic.broken("dma memory", self.name + ".request",
                               f"reads {size} bytes at {burst.address:#x}, beyond what it was "
                               "given")
            burst.words.extend([0] * burst.beats)
            return
        read = self._memory.read(burst.address, size)
        burst.words.extend(int.from_bytes(read[at:at + self._width], "little")
                           for at in range(0, size, self._width))

    def _written(self, payload: int) -> None:
        nic, burst = self._nic, self._writes[0]
        word = _fields(self._word, payload)
        nic.moved(self.name + ".write", payload)
        address = burst.jump if word.get("jump") else burst.address + burst.given * self._width
        burst.given += 1
        strobe, value = word["strobe"], word["data"]
        if strobe and not nic.allow(address, self._width):
            nic.broken("dma memory", self.name + ".write",
                               f"writes at {address:#x}, beyond what it was given")
        elif strobe:
            old = self._memory.read(address, self._width)
            new = value.to_bytes(self._width, "little")
            self._memory.write(address, bytes(
                new[at] if strobe >> at & 1 else old[at] for at in range(self._width)))
        if burst.given == burst.beats:
            self._writes.popleft()
            self._over.append(burst)


class Wire:
    """A link from one NIC to the other. It holds ``room`` flits, and takes and gives them with
    stalls."""

    def __init__(self, source: NicPorts, target: NicPorts, taking: Stalls, giving: Stalls,
                 room: int = 16) -> None:
        self._source, self._target = source, target
        self._taking, self._giving = taking, giving
        self._room = room
        self._flits: deque[int] = deque()
        self._ready = self._valid = False

    def sampled(self) -> None:
        source, target = self._source, self._target
        if self._ready and source.get("link__tx__valid"):
            flit = source.get("link__tx__payload")
            self._flits.append(flit)
            source.moved("link.tx", flit)
        if self._valid and target.get("link__rx__ready"):
            target.moved("link.rx", self._flits.popleft())
            self._valid = False

    def drive(self) -> None:
        self._ready = len(self._flits) < self._room and not self._taking()
        self._source.set("link__tx__ready", int(self._ready))
        if not self._valid and self._flits and not self._giving():
            self._valid = True
            self._target.set("link__rx__payload", self._flits[0])
        self._target.set("link__rx__valid", int(self._valid))


def _layout(signature: Any, stream: str) -> Any:
    """The layout of a stream's payload; None of plain bits."""
    shape = signature.members[stream].signature.members["payload"].shape
    try:
        return data.Layout.cast(shape)
    except TypeError:
        return None


def _fields(layout: Any, value: int) -> dict[str, int]:
    return {str(name): value >> one.offset & (1 << one.width) - 1 for name, one in layout}
