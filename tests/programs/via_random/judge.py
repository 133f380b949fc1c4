"""Random programs for the VI engine, judged: may this come of what was posted?

Where timing decides, all that the specification allows passes: on an unreliable VI of a faulty
network any messages may be missing, in order; where a connection breaks, what was under way.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from nicbed.layouts.via import CQ_ENTRY, Event, Reliability, RemoteOperation, Status, ViState

from tests.programs.via_random.plan import Pair, Post, spread
from tests.programs.via_random.play import CQ_LOG, Outcome, Program

__all__ = ["judge", "same_events"]

RR = Reliability.RELIABLE_RECEPTION
PARTIAL = int(Status.PARTIAL)
BREAKS = {Event.POST_DESC, Event.CONN_LOST, Event.VI_OVERRUN, Event.COMP_PROT}
LOCAL = {"unreadable", "receive_unreadable", "misaligned", "disconnect", "cq_full", "cq_refused",
         "dead"}
"""Causes that break an unreliable VI, too."""
Word = tuple[int, int, int | None]
"""Status, Length, ImmediateData (None: as posted)."""


def done(post: Post, error: int = 0, length: int = 0, immediate: int | None = None,
         operation: RemoteOperation | None = None) -> Word:
    kind = post.operation if operation is None else operation
    mark = Status.IMMEDIATE if immediate is not None else 0
    return int(Status.DONE | error | kind << 16 | mark), length, immediate


def flushed(post: Post) -> Word:
    return done(post, Status.FLUSHED)


def arrival(receive: Post, message: Post) -> tuple[Word, int]:
    """How a receive descriptor completes that a message has taken; what the peer is told."""
    kind = RemoteOperation.RECEIVE
    if message.operation == RemoteOperation.RDMA_WRITE:
        kind = RemoteOperation.REMOTE_RDMA_WRITE
    if receive.error == Status.FORMAT:
        return done(receive, Status.FORMAT, operation=kind), \
            Status.RDMA_PROTECTION if message.refused else Status.REMOTE_DESCRIPTOR
    if message.refused:
        return done(receive, Status.RDMA_PROTECTION, operation=kind), Status.RDMA_PROTECTION
    if message.operation == RemoteOperation.SEND:
        if receive.error and message.length > receive.usable:
            return done(receive, receive.error, receive.usable), Status.REMOTE_DESCRIPTOR
        if message.length > receive.length:
            return done(receive, Status.LENGTH, receive.length), Status.REMOTE_DESCRIPTOR
    return done(receive, 0, message.length, message.immediate, kind), 0


@dataclass
class Course:
    """How a direction of a pair goes if nothing else breaks it."""

    sends: list[Word | None] = field(default_factory=list)
    receives: list[Word | None] = field(default_factory=list)
    matched: dict[int, Post] = field(default_factory=dict)
    """Message of each receive, by place in the queue."""


def course(pair: Pair, sender: int) -> Course:
    """The course of what ``sender`` sends."""
    found = Course()
    offered = pair.receives[1 - sender]
    over = deaf = False
    # RD: what is sent behind the message that breaks it may have been in flight before.
    for post in pair.sends[sender]:
        if over:
            found.sends.append(flushed(post))
        elif post.unreadable:
            found.sends.append(None)
            over = True
        elif post.error:
            found.sends.append(done(post, post.error, post.usable))
            over = pair.reliable
        else:
            code, silent = 0, False
            place = len(found.receives)
            if deaf:
                pass
            elif post.consumes and place < len(offered):
                receive = offered[place]
                if receive.unreadable:
                    found.receives.append(None)
                    code, silent = Status.REMOTE_DESCRIPTOR, True
                else:
                    found.matched[place] = post
                    word, code = arrival(receive, post)
                    found.receives.append(word)
            elif post.refused:
                code = Status.RDMA_PROTECTION
            elif post.consumes:
                code = Status.REMOTE_DESCRIPTOR
            told = code if pair.level == RR or post.operation == RemoteOperation.RDMA_READ else 0
            found.sends.append(done(post, told, 0 if told else post.length))
            over = bool(told) and pair.reliable
            deaf = deaf or silent or bool(code) and pair.reliable
    for receive in offered[len(found.receives):]:
        found.receives.append(None if receive.unreadable else flushed(receive))
    return found


def equal(actual: Word, expected: Word, post: Post) -> bool:
    immediate = expected[2] if expected[2] is not None else post.fields.get("immediate", 0)
    return actual == (expected[0], expected[1], immediate)


def follow(name: str, posts: list[Post], actual: list[Word], expected: list[Word | None],
           exact: bool, reliable: bool) -> None:
    """A queue's completions: as expected up to a break, then flushed."""
    over = lost = False
    for number, (post, word, wanted) in enumerate(zip(posts, actual, expected, strict=True)):
        if post.unreadable:
            lost = True
            continue
        where = f"{name}, post {number}: {word}, expected {wanted}"
        if lost and not word[0] & Status.DONE:
            continue
        if wanted is not None and equal(word, wanted, post) and not (
                over and not word[0] & Status.FLUSHED):
            over = over or bool(word[0] & Status.FLUSHED)
            continue
        if post.racy and not reliable and word == (
                Status.DONE | post.racy | post.operation << 16, 0, word[2]):
            continue
        assert lost or not exact or any(one.racy for one in posts), where
        allowed = {int(Status.FLUSHED)}
        if not over:
            allowed |= {int(post.racy), int(post.error)}
            if reliable and not post.receive:
                allowed |= {int(Status.TRANSPORT), int(Status.REMOTE_DESCRIPTOR),
                            int(Status.RDMA_PROTECTION)}
        over = True
        kind = post.operation << 16
        assert any(word[0] == Status.DONE | error | kind for error in allowed - {0}), where
        assert word[1] == 0 or post.receive and word[0] & Status.PROTECTION or \
            post.operation == RemoteOperation.RDMA_READ, where


def some_of(name: str, posts: list[Post], actual: list[Word], messages: list[Post],
            after: bytes) -> dict[int, Post]:
    """An unreliable VI's receives, of messages some of which are lost; message of each receive."""
    at, matched, over = 0, {}, False
    for number, (post, word) in enumerate(zip(posts, actual, strict=True)):
        if post.unreadable or over:
            assert post.unreadable or word[0] in (0, flushed(post)[0]), (name, number, word)
            over = True
            continue
        if equal(word, flushed(post), post):
            over = True
            continue
        if post.racy and word[0] & Status.PROTECTION:
            continue
        while at < len(messages):
            message = messages[at]
            at += 1
            wanted, _ = arrival(post, message)
            if equal(word, wanted, post) and landed(post, message, wanted, after):
                matched[number] = message
                break
        else:
            raise AssertionError(f"{name}, post {number}: {word} is of no message left")
    return matched


def landed(receive: Post, message: Post, word: Word, after: bytes) -> bool:
    if message.operation != RemoteOperation.SEND:
        return True
    return all(after[physical:physical + len(part)] == part
               for physical, part in spread(receive.places, message.payload[:word[1]]))


class Image:
    """What a node's memory may be."""

    def __init__(self, outcome: Outcome) -> None:
        self.after = np.frombuffer(outcome.after, np.uint8)
        self.wanted = np.frombuffer(outcome.before, np.uint8).copy()
        self.strict = np.zeros(len(self.after), bool)
        self.may = np.zeros(len(self.after), bool)

    def must_be(self, address: int, data: bytes) -> None:
        self.wanted[address:address + len(data)] = np.frombuffer(data, np.uint8)
        self.strict[address:address + len(data)] = True

    def may_be(self, address: int, data: bytes) -> None:
        part = slice(address, address + len(data))
        self.may[part] |= self.after[part] == np.frombuffer(data, np.uint8)

    def undefined(self, address: int, length: int) -> None:
        self.may[address:address + length] = True

    def any(self, address: int, length: int) -> None:
        self.wanted[address:address + length] = self.after[address:address + length]

    def check(self, name: str) -> None:
        wrong = np.flatnonzero((self.after != self.wanted) & (self.strict | ~self.may))
        assert not len(wrong), (
            f"{name}: memory {wrong[0]:#x} to {wrong[-1]:#x}, {len(wrong)} bytes: "
            f"{self.after[wrong[:8]]} instead of {self.wanted[wrong[:8]]}")


class Judge:
    """A round."""

    def __init__(self, program: Program, number: int) -> None:
        self.program, self.plan = program, program.plans[number]
        self.outcomes = [program.outcomes[node][number] for node in (0, 1)]
        self.images = [Image(outcome) for outcome in self.outcomes]

    def words(self, pair: Pair, node: int, receive: bool) -> list[Word]:
        """Completions of a queue, without PARTIAL where it is beside another error."""
        return [(status & ~PARTIAL if status & Status.ERRORS & ~PARTIAL else status, *rest)
                for status, *rest in self.outcomes[node].words.get((pair.vis[node], receive), [])]

    def judge(self) -> None:
        for pair in self.plan.pairs:
            for sender in (0, 1):
                self.direction(pair, sender)
        for node in (0, 1):
            self.node(node)

    def certain(self, pair: Pair, sender: int, receive: bool) -> bool:
        """Whether nothing but the course decides about a queue."""
        if not pair.causes:
            return pair.reliable or not self.program.faulty or not receive
        if self.program.faulty:
            return False
        cause = pair.causes[0]
        if not pair.reliable:
            return cause.name not in LOCAL
        if cause.name in ("format", "length", "protection", "read_protection"):
            return cause.node == sender and (not receive or pair.level == RR)
        if cause.name == "refused":
            return cause.node == sender and (receive or pair.level == RR)
        if cause.name in ("receive_format", "receive_short", "receive_protection", "receive_none",
                          "disabled"):
            return cause.node != sender and (receive or pair.level == RR)
        return False

    def direction(self, pair: Pair, sender: int) -> None:
        """What one sends to the other."""
        receiver = 1 - sender
        found = course(pair, sender)
        name = f"{pair.level.name} {pair.vis} from {sender} {pair.causes}"
        sends, receives = pair.sends[sender], pair.receives[receiver]
        sent = self.words(pair, sender, False)
        received = self.words(pair, receiver, True)
        follow(f"{name}, sends", sends, sent, found.sends, self.certain(pair, sender, False),
               pair.reliable)
        messages = [post for post in sends if post.consumes and not post.error
                    and not post.unreadable]
        image = self.images[receiver]
        matched = found.matched
        gone = any(cause.name == "deregistered" for cause in pair.causes)
        if pair.reliable or not self.program.faulty and not gone:
            follow(f"{name}, receives", receives, received, found.receives,
                   self.certain(pair, sender, True), pair.reliable)
        else:
            matched = some_of(f"{name}, receives", receives, received, messages,
                              self.outcomes[receiver].after)
        for number, (post, word) in enumerate(zip(receives, received, strict=True)):
            message = matched.get(number)
            flush = bool(word[0] & Status.FLUSHED) or not word[0] & Status.DONE
            begun = [message, *(other for other in sends if other.error)]
            for other in begun if pair.reliable else sends:
                if other is not None and other.operation == RemoteOperation.SEND:
                    for place in spread(post.places, other.payload):
                        image.may_be(*place)
            if message is not None and not flush and message.operation == RemoteOperation.SEND:
                for place in spread(post.places, message.payload[:word[1]]):
                    image.must_be(*place)
        if self.program.settings.get("faults.corrupt"):
            # Before DONE, and behind Length, there is what bad packets brought.
            for owner, posts in ((receiver, receives), (sender, [
                    post for post in sends if post.operation == RemoteOperation.RDMA_READ])):
                for post in posts:
                    for place in post.places:
                        self.images[owner].undefined(*place)
        sure = not pair.causes and (pair.reliable or not self.program.faulty)
        for post, word in zip(sends, sent, strict=True):
            good = bool(word[0] & Status.DONE) and not word[0] & Status.ERRORS
            if post.operation == RemoteOperation.RDMA_WRITE:
                use = image.must_be if not post.refused and (
                    sure or good and pair.level == RR) else image.may_be
                for place in spread(post.places, post.payload):
                    use(*place)
            elif post.operation == RemoteOperation.RDMA_READ:
                use = self.images[sender].must_be if good else self.images[sender].may_be
                for place in spread(post.places, post.payload):
                    use(*place)
        if pair.level == RR and not any(post.unreadable for post in receives):
            got = sum(not word[0] & Status.ERRORS for word in received)
            told = sum(not word[0] & Status.ERRORS for post, word in zip(sends, sent, strict=True)
                       if post.consumes and word[0] & Status.DONE)
            assert told <= got, f"{name}: {told} sends succeeded, {got} arrived"

    def node(self, node: int) -> None:
        """What is of the node as a whole: memory, completion queue, events, counters."""
        outcome, image, areas = self.outcomes[node], self.images[node], self.program.areas[node]
        name = f"node {node}"
        image.any(0, 12)
        for area in ("cq", "cq small", "cq bad"):
            image.any(areas[area].region.base, areas[area].region.length)
        image.must_be(areas["prey"].region.base, outcome.prey)
        if any(action == ("deregister", "prey") for action in self.plan.actions[node]):
            raw = areas["prey"].region.raw
            image.any(raw.table, 16 * raw.via.translations)
        bound: Counter[tuple[int, bool]] = Counter()
        for pair in self.plan.pairs:
            vi, tag = pair.vis[node], pair.tags[node]
            region = areas[f"descriptors {tag}"].region
            for receive, queue in ((False, pair.sends[node]), (True, pair.receives[node])):
                self.links(image, region, queue)
                words = self.words(pair, node, receive)
                key = "receive" if receive else "send"
                attributes = pair.attributes[node]
                if attributes.get(f"{key}_on_cq") and attributes[f"{key}_cq"] == 1:
                    bound[vi, receive] = sum(word[0] & Status.DONE for word in words)
            posted, completed = outcome.counts[vi]
            assert posted == completed, f"{name}, VI {vi}: {posted:#x} posted, {completed:#x} done"
            if not pair.causes:
                assert outcome.states[vi] == ViState.CONNECTED, (name, vi)
            self.events(pair, node)
        image.check(name)
        entries = [CQ_ENTRY.unpack(entry) for entry in outcome.cq if entry]
        assert all(entry["phase"] for entry in entries)
        assert all(outcome.cq[:len(entries)]) and len(entries) < 1 << CQ_LOG
        told = Counter((entry["vi"], bool(entry["receive"])) for entry in entries)
        assert +told == +bound, f"{name}: entries {told}, completions {bound}"
        assert outcome.counters["doorbells_lost"] == outcome.counters["events_lost"] == 0
        plans = self.program.plans[:self.program.plans.index(self.plan) + 1]
        refused = Counter(what for plan in plans for what, _ in plan.actions[node])
        assert outcome.counters["doorbells_foreign"] == refused["foreign"]
        assert outcome.counters["process_refused"] == refused["trespass"]

    def links(self, image: Image, region: object, queue: list[Post]) -> None:
        """What software and NIC write into a queue's descriptors."""
        for post, following in zip(queue, [*queue[1:], None], strict=False):
            if post.unreadable:
                continue
            at = region.base + post.offset
            image.any(at + 20, 12)
            if following is not None:
                va, handle = following.fields["token"] if following.unreadable else (
                    region.va + following.offset, region.handle)
                image.must_be(at, va.to_bytes(8, "little") + handle.to_bytes(4, "little"))

    def events(self, pair: Pair, node: int) -> None:
        outcome, vi = self.outcomes[node], pair.vis[node]
        found = Counter(code for code, number in outcome.events if number == vi)
        later = Counter(code for code, number in outcome.later if number == vi)
        assert set(later) <= {Event.CONN_LOST, Event.SEND_DONE, Event.RECEIVE_DONE} | (
            {Event.VI_OVERRUN, Event.COMP_PROT} if pair.causes else set())
        where = f"node {node}, {pair.level.name} VI {vi}, {pair.causes}: events {dict(found)}"
        assert sum(found[code] + later[code] for code in BREAKS) <= 1, where
        armed = {(Event.RECEIVE_DONE if what[1] else Event.SEND_DONE) for action, what
                 in self.plan.actions[node] if action == "arm" and what[0] == vi
                 and (pair.receives if what[1] else pair.sends)[node]}
        for code in (Event.RECEIVE_DONE, Event.SEND_DONE):
            assert found.pop(code, 0) + later[code] == (code in armed), where
        if not pair.causes:
            assert not found, where


def judge(program: Program) -> None:
    """Raises AssertionError if what came cannot come of the program."""
    for number in range(len(program.plans)):
        Judge(program, number).judge()


def same_events(program: Program, model: Program) -> None:
    """Where timing does not decide, events and states are the model's."""
    if program.faulty:
        return
    for number, plan in enumerate(program.plans):
        for pair in plan.pairs:
            if any(cause.name == "deregistered" for cause in pair.causes):
                continue
            for node in (0, 1):
                found, wanted = program.outcomes[node][number], model.outcomes[node][number]
                vi = pair.vis[node]
                where = f"round {number}, node {node}, {pair.level.name} VI {vi}, {pair.causes}"
                ours, theirs = (sorted(code for code, other in one.events if other == vi
                                       and code < Event.SEND_DONE) for one in (found, wanted))
                assert ours == theirs, f"{where}: events {ours}, the model's {theirs}"
                assert found.states[vi] == wanted.states[vi], \
                    f"{where}: state {found.states[vi]}, the model's {wanted.states[vi]}"
