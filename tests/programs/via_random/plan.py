"""Random programs for the VI engine, drawn: what two nodes post, and what is to come of each post.

All VIs of both nodes are connected in pairs. A pair is *good* (nothing goes wrong by itself) or has
a *cause*: one thing that is wrong, at one side. Every buffer is used by one post only, so that the
memories at the end tell what arrived where.
"""

import random
from dataclasses import dataclass, field
from typing import Any

from nicbed.layouts.via import Operation, Reliability, RemoteOperation, Status

__all__ = ["CAUSES", "MAX_TRANSFER", "TAGS", "Area", "Cause", "Pair", "Plan", "Post", "drawn",
           "spread"]

TAGS = (7, 8)
MAX_TRANSFER = 5000
UD, RD, RR = Reliability

CAUSES = ("format", "length", "protection", "refused", "unreadable", "misaligned", "disconnect",
          "receive_format", "receive_short", "receive_protection", "receive_none",
          "receive_unreadable", "stale", "deregistered", "cq_full", "cq_refused", "dead",
          "disabled", "read_protection")
"""What can be wrong with a pair."""


class AreaFull(Exception):
    """A plan has drawn more than the memory can hold."""


@dataclass
class Area:
    """Registered memory of a node, given out from its beginning."""

    node: int
    region: Any
    content: bytes
    used: int = 0

    def room(self) -> int:
        return self.region.length - self.used

    def take(self, length: int, gap: int) -> int:
        """Offset of ``length`` bytes behind a gap, which nobody gets."""
        offset = self.used + gap
        if offset + length > self.region.length:
            raise AreaFull
        self.used = offset + length
        return offset


@dataclass
class Post:
    """A descriptor, or a token for none, and what is to come of it by itself."""

    node: int
    vi: int
    receive: bool
    operation: RemoteOperation = RemoteOperation.SEND
    segments: list[tuple[int, int, int]] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    length: int = 0
    payload: bytes = b""
    """What a send or write carries; what a read is to bring."""
    places: list[tuple[int, int]] = field(default_factory=list)
    """Physical addresses and bytes, in order, of where data lands: for a receive and a read here,
    for a write at the peer."""
    immediate: int | None = None
    error: int = 0
    """Status it completes with whatever comes; a receive that is bad behind ``usable`` bytes only
    if a longer message comes."""
    usable: int = 0
    """Bytes of a receive that can be written."""
    refused: bool = False
    """The peer refuses this RDMA."""
    unreadable: bool = False
    racy: int = 0
    """Status that it may complete with, or not: its memory goes while it is under way."""
    offset: int = -1
    """Place in the node's descriptors."""

    @property
    def consumes(self) -> bool:
        """Takes a receive descriptor at the peer."""
        return self.operation == RemoteOperation.SEND or (
            self.operation == RemoteOperation.RDMA_WRITE and self.immediate is not None)


def spread(places: list[tuple[int, int]], data: bytes) -> list[tuple[int, bytes]]:
    """``data`` laid over places, as far as there are any."""
    found, at = [], 0
    for physical, count in places:
        part = data[at:at + count]
        if part:
            found.append((physical, part))
        at += count
    return found


@dataclass
class Cause:
    name: str
    node: int
    """The node where it is: of a sender's error the sender's, of a receiver's the receiver's."""


@dataclass
class Pair:
    """Two connected VIs: ``vis[node]``; of each node, what it sends and its receives, in order."""

    vis: tuple[int, int]
    level: Reliability
    tags: tuple[int, int]
    sends: tuple[list[Post], list[Post]] = field(default_factory=lambda: ([], []))
    receives: tuple[list[Post], list[Post]] = field(default_factory=lambda: ([], []))
    causes: list[Cause] = field(default_factory=list)
    attributes: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))

    @property
    def reliable(self) -> bool:
        return self.level != UD


class Plan:
    """A round of a program. ``areas[node][name]``: what there is; ``faulty``: packets get lost;
    ``second``: the area "victim" is deregistered already."""

    def __init__(self, seed: str, areas: list[dict[str, Area]], vis: int, faulty: bool,
                 second: bool) -> None:
        self.draw = random.Random(seed)
        self.areas, self.faulty, self.second = areas, faulty, second
        self.pairs: list[Pair] = []
        self.actions: tuple[list[tuple[str, Any]], list[tuple[str, Any]]] = ([], [])
        """What the nodes do besides posting: doorbells of others, arming."""
        order = list(range(vis))
        self.draw.shuffle(order)
        for number in range(vis):
            tags = (self.draw.choice(TAGS), self.draw.choice(TAGS))
            pair = Pair((number, order[number]), self.draw.choice([UD, RD, RD, RR, RR]), tags)
            self.pairs.append(pair)
            for node in (0, 1):
                for _ in range(self.draw.choice([1, 2, 3, 4, 6])):
                    self.message(pair, node)
            for node in (0, 1):
                self.offer(pair, node)
            if number >= 3 and self.draw.random() < 0.75:
                self.spoil(pair, self.draw.choice(CAUSES), self.draw.randrange(2))
        for pair in self.pairs:
            for node in (0, 1):
                self.warm(pair, node)
                self.ring(pair, node)

    def warm(self, pair: Pair, node: int) -> None:
        """A good use of what is deregistered later."""
        area = self.areas[node]["victim"]
        for post in pair.sends[node]:
            if not self.second and pair.tags[node] == TAGS[0] and not post.error and \
                    len(post.segments) == 1 and 0 < post.length < 300 and not post.racy and \
                    post.operation != RemoteOperation.RDMA_READ:
                post.segments = [area.region.at(0, post.length)]
                post.payload = area.content[:post.length]

    # Memory

    def length(self) -> int:
        draw = self.draw
        return draw.choice([0, 1, 8, draw.randrange(70), draw.randrange(70), draw.randrange(300),
                            draw.randrange(300), draw.randrange(1500),
                            draw.randrange(MAX_TRANSFER) if draw.random() < 0.4 else 4])

    def cut(self, length: int) -> list[int]:
        """``length`` bytes in parts, some of which may be empty."""
        parts = self.draw.choice([1, 1, 1, 2, 2, 3, 5, 9 if self.draw.random() < 0.3 else 2])
        ends = sorted(self.draw.randrange(length + 1) for _ in range(parts - 1))
        return [high - low for low, high in zip([0, *ends], [*ends, length], strict=True)]

    def gather(self, node: int, tag: int, length: int) -> tuple[list[tuple[int, int, int]], bytes]:
        """Segments of the node's source, and what is there."""
        area = self.areas[node][f"source {tag}"]
        segments, payload = [], b""
        for part in self.cut(length):
            offset = self.draw.randrange(area.region.length - part + 1) \
                if part < area.region.length else 0
            segments.append(area.region.at(offset, part))
            payload += area.content[offset:offset + part]
        return segments, payload

    def scatter(self, area: Area, length: int) -> tuple[list[tuple[int, int, int]],
                                                        list[tuple[int, int]]]:
        """Segments of ``area`` that nobody else has, and where they are."""
        segments, places = [], []
        for part in self.cut(length):
            offset = area.take(part, self.draw.choice([1, 2, 8, self.draw.randrange(1, 24)]))
            segments.append(area.region.at(offset, part))
            places.append((area.region.base + offset, part))
        return segments, places

    def fits(self, area: Area, length: int) -> int:
        return max(0, min(length, area.room() - 300))

    # Posts

    def message(self, pair: Pair, node: int, kind: str | None = None,
                length: int | None = None) -> Post:
        """Another one at the end of a send queue."""
        draw, peer = self.draw, 1 - node
        tag, remote_tag = pair.tags[node], pair.tags[peer]
        length = self.length() if length is None else length
        kind = kind or draw.choice(["send", "send", "send", "write", "read" if pair.reliable
                                    else "write"])
        post = Post(node, pair.vis[node], False)
        if kind == "read":
            post.operation = RemoteOperation.RDMA_READ
            sink = self.areas[node][f"sink {tag}"]
            length = self.fits(sink, min(length, 3000))
            post.segments, post.places = self.scatter(sink, length)
            source = self.areas[peer][f"source {remote_tag}"]
            offset = draw.randrange(source.region.length - length + 1)
            post.payload = source.content[offset:offset + length]
            post.fields = {"remote": source.region.at(offset)[:2],
                           "operation": Operation.RDMA_READ}
        else:
            if kind == "write":
                post.operation = RemoteOperation.RDMA_WRITE
                target = self.areas[peer][f"target {remote_tag}"]
                length = self.fits(target, length)
                offset = target.take(length, draw.randrange(1, 20))
                post.places = [(target.region.base + offset, length)]
                post.fields = {"remote": target.region.at(offset)[:2]}
            post.segments, post.payload = self.gather(node, tag, length)
            if draw.random() < 0.4:
                post.immediate = post.fields["immediate"] = draw.randrange(1 << 32)
        post.length = length
        pair.sends[node].append(post)
        return post

    def offer(self, pair: Pair, node: int) -> None:
        """Receives for what the peer sends; on an unreliable VI of a faulty network any may get
        any message."""
        draw = self.draw
        sink = self.areas[node][f"sink {pair.tags[node]}"]
        wanted = [post.length if post.operation == RemoteOperation.SEND else 0
                  for post in pair.sends[1 - node] if post.consumes]
        most = max(wanted, default=0)
        for length in wanted + [draw.randrange(30)] * draw.choice([0, 0, 1, 2]):
            if self.faulty and not pair.reliable:
                length = most
            elif draw.random() < 0.5:
                length += draw.randrange(40)
            self.receive(pair, node, sink, length)

    def receive(self, pair: Pair, node: int, sink: Area, length: int) -> Post:
        post = Post(node, pair.vis[node], True, RemoteOperation.RECEIVE)
        if self.fits(sink, length) < length:
            # A shorter one would break a pair in which nothing is to be wrong.
            raise AreaFull
        post.length = post.usable = length
        post.segments, post.places = self.scatter(sink, length)
        pair.receives[node].append(post)
        return post

    # What goes wrong

    def spoil(self, pair: Pair, name: str, node: int) -> None:
        """One thing of the pair is wrong from now on, at ``node``."""
        alone = name in ("cq_full", "cq_refused") and any(
            (cause.name, cause.node) == (name, node) for other in self.pairs
            for cause in other.causes)
        if not alone and getattr(self, f"_{name}")(pair, node) is not False:
            pair.causes.append(Cause(name, node))

    def _some(self, posts: list[Post]) -> Post:
        return self.draw.choice(posts)

    def _format(self, pair: Pair, node: int) -> None:
        post, draw = self._some(pair.sends[node]), self.draw
        kind = draw.randrange(4)
        if kind == 0:
            post.fields["control"] = 1 << draw.randrange(4, 16)
        elif kind == 1:
            post.fields["operation"] = Operation.RESERVED
            post.operation = RemoteOperation.SEND
        elif kind == 2:
            post.fields["count"] = draw.choice([253, 1000, 65535])
        else:
            post.fields |= {"operation": Operation.RDMA_READ, "immediate": 1}
            post.operation = RemoteOperation.RDMA_READ
        post.error = Status.FORMAT

    def _length(self, pair: Pair, node: int) -> None:
        post, draw = self._some(pair.sends[node]), self.draw
        post.fields["length"] = draw.choice([post.length + 1, post.length + draw.randrange(1, 2000),
                                             max(0, post.length - 1) if post.length else 5,
                                             MAX_TRANSFER + 1, (1 << 32) - 1])
        post.error = Status.LENGTH

    def bad(self, node: int, tag: int, length: int) -> tuple[tuple[int, int, int], int]:
        """A segment that is refused, and behind how many bytes."""
        draw, areas = self.draw, self.areas[node]
        good = areas[f"source {tag}"].region
        va, handle, _ = good.at(draw.randrange(good.length - length + 1) if length < good.length
                                else 0)
        other = areas[f"source {TAGS[0] + TAGS[1] - tag}"].region
        return draw.choice([
            ((va, handle + 1, length), 0), ((va, handle ^ 1 << 20, length), 0),
            ((va | 1 << draw.randrange(38, 64), handle, length), 0),
            ((va, handle | 1 << draw.randrange(26, 32), length), 0),
            (other.at(0, length), 0), ((good.va - 1, handle, length), 0),
            ((good.va + good.length, handle, length), 0), ((0, 0, length), 0)])

    def _protection(self, pair: Pair, node: int) -> None:
        if all(post.operation == RemoteOperation.RDMA_READ for post in pair.sends[node]):
            # Whole packets before the refused segment go out: they need a receive that long.
            self._offer_again(pair, node, self.message(pair, node, "send"))
        post = self._some([post for post in pair.sends[node]
                           if post.operation != RemoteOperation.RDMA_READ])
        extra, _ = self.bad(node, pair.tags[node], self.draw.choice([1, 8, 70]))
        at = self.draw.randrange(len(post.segments) + 1)
        post.segments.insert(at, extra)
        total = post.length + extra[2]
        post.fields["length"] = total
        # Too long is found before any segment is looked at.
        post.error = Status.PROTECTION if total <= MAX_TRANSFER else Status.LENGTH

    def _read_protection(self, pair: Pair, node: int) -> bool:
        """What an RDMA read brings has no place to go to."""
        if not pair.reliable:
            return False
        post = self.message(pair, node, "read", self.draw.choice([1, 60, 2500]))
        self._move(pair.sends[node], post)
        at = self.draw.randrange(len(post.segments))
        post.usable = sum(part for _, _, part in post.segments[:at])
        post.places = post.places[:at]
        extra, _ = self.bad(node, pair.tags[node], post.length - post.usable)
        post.segments[at:] = [extra]
        post.error = Status.PROTECTION if extra[2] else 0
        return bool(extra[2])

    def _refused(self, pair: Pair, node: int) -> None:
        """The remote address is wrong, from its beginning or from somewhere on."""
        draw = self.draw
        kind = draw.choice(["write", "write", "read" if pair.reliable else "write"])
        post = self.message(pair, node, kind, draw.choice([1, 40, 1100]))
        self._move(pair.sends[node], post)
        name, other = ("target", "source") if kind == "write" else ("source", "target")
        peer, tag = self.areas[1 - node], pair.tags[1 - node]
        right = peer[f"{name} {tag}"].region
        inside = draw.randrange(post.length) if post.length > 1 and kind == "write" else 0
        post.fields["remote"] = draw.choice([
            (right.va, right.handle + 1), peer[f"{other} {tag}"].region.at(0)[:2],
            (right.va - 1, right.handle), (12345, 678),
            peer[f"{name} {TAGS[0] + TAGS[1] - tag}"].region.at(0)[:2],
            (right.va + right.length - min(inside, 250), right.handle)])
        if kind == "write":
            start = post.fields["remote"][0] - right.va - right.length
            post.places = [(right.base + right.length + start, -start)] if -250 <= start < 0 else []
        post.refused = post.length > 0
        self._offer_again(pair, node, post)

    def _offer_again(self, pair: Pair, node: int, post: Post) -> None:
        """Receives anew, now that ``post`` was added to what ``node`` sends."""
        if post.consumes:
            pair.receives[1 - node].clear()
            self.offer(pair, 1 - node)

    def _move(self, posts: list[Post], post: Post) -> None:
        posts.remove(post)
        posts.insert(self.draw.randrange(len(posts) + 1), post)

    def _disabled(self, pair: Pair, node: int) -> None:
        """The VI does not let its peer write, or read."""
        kind = self.draw.choice(["write", "read" if pair.reliable else "write"])
        post = self.message(pair, 1 - node, kind, 8)
        pair.attributes[node][f"rdma_{kind}"] = 0
        for other in pair.sends[1 - node]:
            if other.operation == post.operation:
                other.refused = True
                if kind == "write":
                    other.places = []
        self._offer_again(pair, 1 - node, post)

    def _unreadable(self, pair: Pair, node: int, receive: bool = False) -> None:
        draw, areas = self.draw, self.areas[node]
        tag = pair.tags[node]
        right = areas[f"descriptors {tag}"].region
        queue = (pair.receives if receive else pair.sends)[node]
        other = areas[f"descriptors {TAGS[0] + TAGS[1] - tag}"].region
        post = Post(node, pair.vis[node], receive, unreadable=True)
        post.fields = {"token": draw.choice([
            (right.va, right.handle + 1), (other.va, other.handle),
            (right.va + right.length, right.handle), (64, 5)])}
        queue.insert(draw.randrange(len(queue) + 1), post)

    def _receive_unreadable(self, pair: Pair, node: int) -> None:
        self._unreadable(pair, node, True)

    def _misaligned(self, pair: Pair, node: int) -> None:
        right = self.areas[node][f"descriptors {pair.tags[node]}"].region
        word = right.va + self.draw.randrange(1, 64), right.handle
        self.actions[node].append(("misaligned", (pair.vis[node], self.draw.randrange(2), word)))

    def _disconnect(self, pair: Pair, node: int) -> None:
        self.actions[node].append(("disconnect", pair.vis[node]))

    def _wanted(self, pair: Pair, node: int) -> list[Post]:
        """Receives that a message comes for."""
        count = sum(post.consumes for post in pair.sends[1 - node])
        if not count:
            self.message(pair, 1 - node, "send")
            pair.receives[node][:] = []
            self.offer(pair, node)
            count = 1
        return pair.receives[node][:count]

    def _receive_format(self, pair: Pair, node: int) -> None:
        post = self._some(self._wanted(pair, node))
        post.fields |= self.draw.choice([{"control": 1 << self.draw.randrange(4, 16)},
                                         {"operation": Operation(self.draw.randrange(1, 4))},
                                         {"count": self.draw.choice([253, 65535])}])
        post.error, post.usable = Status.FORMAT, 0

    def _long(self, pair: Pair, node: int) -> Post:
        """A send of the peer's longer than nothing, and its receive."""
        self._wanted(pair, node)
        post = self.message(pair, 1 - node, "send", self.draw.choice([1, 9, 100, 2100]))
        self._move(pair.sends[1 - node], post)
        pair.receives[node][:] = []
        self.offer(pair, node)
        consuming = [one for one in pair.sends[1 - node] if one.consumes]
        return pair.receives[node][consuming.index(post)]

    def _receive_short(self, pair: Pair, node: int) -> None:
        post = self._long(pair, node)
        post.segments, post.places, post.length, post.usable = [], [], 0, 0
        wanted = [one for one in pair.sends[1 - node] if one.consumes]
        most = wanted[pair.receives[node].index(post)].length
        length = self.draw.randrange(most)
        post.length = post.usable = length
        post.segments, post.places = self.scatter(
            self.areas[node][f"sink {pair.tags[node]}"], length)

    def _receive_protection(self, pair: Pair, node: int) -> None:
        post = self._long(pair, node)
        extra, _ = self.bad(node, pair.tags[node], self.draw.choice([1, 50, 3000]))
        at = self.draw.randrange(len(post.segments) + 1)
        post.usable = sum(part for _, _, part in post.segments[:at])
        wanted = [one for one in pair.sends[1 - node] if one.consumes]
        if post.usable >= wanted[pair.receives[node].index(post)].length:
            at = post.usable = 0
        post.segments.insert(at, extra)
        post.places = post.places[:at]
        post.error = Status.PROTECTION

    def _receive_none(self, pair: Pair, node: int) -> None:
        count = len(self._wanted(pair, node))
        del pair.receives[node][self.draw.randrange(count):]

    def _mortal(self, pair: Pair, node: int, name: str) -> Area | None:
        """Memory that is deregistered some time: one pair may use it so."""
        area = self.areas[node][name]
        if pair.tags[node] != TAGS[0] or area.used:
            return None
        area.used = 1
        return area

    def _stale(self, pair: Pair, node: int) -> bool:
        """Memory that was deregistered, after use, is used."""
        area = self._mortal(pair, node, "victim") if self.second else None
        if area is None:
            return False
        post = self.message(pair, node, "send", 40)
        self._move(pair.sends[node], post)
        post.segments = [area.region.at(self.draw.randrange(300), 40)]
        post.error = Status.PROTECTION
        self._offer_again(pair, node, post)
        return True

    def _deregistered(self, pair: Pair, node: int) -> bool:
        """Memory is deregistered while it is sent from, or received into."""
        area = self._mortal(pair, node, "prey")
        if area is None:
            return False
        sender = node if self.draw.random() < 0.5 else 1 - node
        for _ in range(3):
            post = self.message(pair, sender, "send", 900)
            offset = self.draw.randrange(64)
            if sender == node:
                post.segments, post.racy = [area.region.at(offset, 900)], Status.PROTECTION
                post.payload = area.content[offset:offset + 900]
        self._offer_again(pair, sender, post)
        if sender != node:
            for receive in pair.receives[node][-5:]:
                if receive.length >= 900:
                    receive.segments, receive.places = [area.region.at(0, receive.length)], []
                    receive.racy = Status.PROTECTION
        self.actions[node].append(("deregister", "prey"))
        return True

    def _cq_full(self, pair: Pair, node: int) -> None:
        """A completion queue of two entries that nobody takes."""
        pair.attributes[node].update(receive_on_cq=1, receive_cq=2, send_on_cq=1, send_cq=2)
        while len(pair.sends[node]) < 3:
            self._offer_again(pair, node, self.message(pair, node, "send"))

    def _cq_refused(self, pair: Pair, node: int) -> None:
        pair.attributes[node].update(send_on_cq=1, send_cq=3)

    def _dead(self, pair: Pair, node: int) -> None:
        """``node``'s VI is not connected."""

    # What else goes on

    def ring(self, pair: Pair, node: int) -> None:
        draw = self.draw
        vi = pair.vis[node]
        if draw.random() < 0.3:
            self.actions[node].append(("foreign", (vi, 8 * draw.randrange(4), draw.randrange(
                1 << 64), draw.randrange(2, 256))))
        if not pair.causes and draw.random() < 0.4:
            self.actions[node].append(("arm", (vi, draw.randrange(2))))
        if draw.random() < 0.1:
            self.actions[node].append(("trespass", draw.choice(["vi_command", "table_base",
                                                                "invalidate", "cq_config"])))
        if draw.random() < 0.1:
            self.actions[node].append(("foreign", (draw.choice([8, 9, 100, 2047]), 0, 64, 0)))


def drawn(seed: str, areas: list[dict[str, Area]], vis: int, faulty: bool, second: bool) -> Plan:
    """A plan that the areas have room for: one that they have not (of 10,000 programs fifteen
    have one) is drawn anew."""
    used = [{name: area.used for name, area in of.items()} for of in areas]
    for attempt in range(100):
        try:
            return Plan(f"{seed} {attempt}" if attempt else seed, areas, vis, faulty, second)
        except AreaFull:
            for of, before in zip(areas, used, strict=True):
                for name, area in of.items():
                    area.used = before[name]
    raise AreaFull(seed)
