"""Random programs of Active Messages II, and a plain model of what may come of them."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from nicbed.host.am2 import AM_RETURNED, AM_STATUS, EndpointName
from nicbed.host.port.node import Node
from nicbed.layouts.am2 import LONG

from tests.programs.am2 import SEGMENT, TAG, Cut, Met, Process

__all__ = ["Plan", "Ran", "check", "programs"]

OK, NOT_SENT = AM_STATUS.AM_OK, AM_STATUS.AM_ERR_NOT_SENT
NO_REPLY, SHORT, BULK, XFER, ANSWER, ANSWER_BULK = range(1, 7)
"""Handlers: of requests by how they reply, then of replies."""
UNSET = 77
OTHER_TAG = 6
SECOND = 1
"""The number of the second endpoint of a process, which is made and freed on the way."""
REASONS = {AM_RETURNED.BADTAG, AM_RETURNED.BADHANDLER, AM_RETURNED.BADSEGOFF,
           AM_RETURNED.BADLENGTH, AM_RETURNED.BADENDPOINT, AM_RETURNED.UNREACHABLE}


@dataclass
class Request:
    """A request of a program."""

    number: int
    sender: int
    receiver: int
    second: bool
    kind: str
    handler: int
    length: int
    offset: int

    @property
    def reason(self) -> AM_RETURNED | None:
        """Why it must come back, whatever happens."""
        if self.handler == UNSET and self.kind != "get":
            return AM_RETURNED.BADHANDLER
        if self.kind in ("xfer", "async", "get"):
            if self.offset > SEGMENT:
                return AM_RETURNED.BADSEGOFF
            if self.offset + self.length > SEGMENT:
                return AM_RETURNED.BADLENGTH
        return None


@dataclass
class Plan:
    """What all processes do, by ``seed``; ``cuts``: processes that end behind so many
    operations, or early; ``left``: processes that return behind so many actions."""

    seed: Any
    cpus: int
    actions: int
    cuts: dict[int, tuple[int, bool]] = field(default_factory=dict)
    left: dict[int, int] = field(default_factory=dict)
    requests: dict[int, Request] = field(default_factory=dict)
    does: list[list[tuple[str, int]]] = field(default_factory=list)
    retags: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        draw = Random(f"am2 {self.seed}")
        whole = draw.random() < 0.5
        for cpu in range(self.cpus):
            does: list[tuple[str, int]] = []
            for _ in range(self.actions):
                action = draw.choices(["send", "delay", "poll", "tag", "second"],
                                      [10, 2, 1, 0 if whole else 1, 0 if whole else 1])[0]
                number = draw.randrange(1, 3000)
                if action == "send":
                    number = len(self.requests) + 1
                    self.requests[number] = self._request(draw, number, cpu, whole)
                if action == "tag":
                    self.retags.add(cpu)
                does.append((action, number))
            self.does.append(does)

    def _request(self, draw: Random, number: int, cpu: int, whole: bool) -> Request:
        kind = draw.choice(["short", "short", "short", "bulk", "xfer", "async", "get"])
        handler = draw.choice([NO_REPLY, SHORT, SHORT, BULK, XFER])
        length = draw.choice([0, 1, 8, 100, 1000, LONG]) if kind != "short" else 0
        offset = draw.randrange(0, SEGMENT - length)
        if not whole and draw.random() < 0.1:
            handler = UNSET
        if not whole and draw.random() < 0.1:
            offset = draw.choice([SEGMENT + 1, SEGMENT - length + 1])
        if kind == "get":
            handler = ANSWER_BULK
        return Request(number, cpu, draw.randrange(self.cpus), not whole and draw.random() < 0.2,
                       kind, handler, length, offset)

    @property
    def ended(self) -> set[int]:
        """Processes that end on the way."""
        return {*self.cuts, *self.left}


@dataclass
class Ran:
    """What has happened: the numbers of requests, in order of time."""

    handled: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    back: list[tuple[int, int]] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)
    not_sent: list[int] = field(default_factory=list)
    tried: list[int] = field(default_factory=list)
    outstanding: Counter[int] = field(default_factory=Counter)


def pattern(number: int, length: int) -> bytes:
    """The data of a request, or of its reply."""
    return bytes((number + at) & 0xFF for at in range(256)) * (length // 256 + 1)


class _Runner:
    def __init__(self, node: Node, plan: Plan, ran: Ran) -> None:
        self.process = Process(node)
        self.memory = node.memory
        self.plan, self.ran = plan, ran
        self.data = [node.allocate(LONG) for _ in range(2)]
        self.other: Any = None
        self.times = 0

    async def run(self) -> str:
        process, cpu = self.process, self.process.cpu
        handlers = {f"h{index}": self.handler(index) for index in (NO_REPLY, SHORT, BULK, XFER)}
        await process.open(h5=self.answer, h6=self.answer, **handlers)
        await process.am.AM_SetHandler(process.endpoint, 0, self.came_back)
        self.memory.write(process.segment, pattern(cpu, SEGMENT)[:SEGMENT])
        for other in range(self.plan.cpus):
            await process.am.AM_Map(process.endpoint, 100 + other, EndpointName(0, other, SECOND),
                                    TAG)
        for at, (action, number) in enumerate(self.plan.does[cpu]):
            if at == self.plan.left.get(cpu):
                return "left"
            await getattr(self, action)(number)
        await process.quiet()
        await process.meet()
        await self.settle()
        await process.meet()
        await self.settle()
        self.ran.outstanding[cpu] = process.endpoint.outstanding
        assert not process.endpoint.gets
        await process.meet()
        assert await process.am.AM_Terminate() is OK
        return "terminated"

    async def settle(self) -> None:
        """Poll until nothing comes, and no reply is kept."""
        am, bundle = self.process.am, self.process.bundle
        before = -1
        while before != am.polling.messages or any(
                way.kept(endpoint) for way in am._ways for endpoint in bundle.endpoints):
            before = am.polling.messages
            await am.AM_Poll(bundle)

    # Actions

    async def delay(self, cycles: int) -> None:
        await self.process.port.delay(cycles)
        await self.process.port.flush()

    async def poll(self, number: int) -> None:
        assert await self.process.am.AM_Poll(self.process.bundle) is OK

    async def tag(self, number: int) -> None:
        process = self.process
        await process.am.AM_SetTag(process.endpoint, TAG if number % 2 else OTHER_TAG)

    async def second(self, number: int) -> None:
        """Make the second endpoint; the next time, free it."""
        am, process = self.process.am, self.process
        self.times += 1
        if self.times == 1:
            _, self.other, _ = await am.AM_AllocateEndpoint(process.bundle)
            assert self.other.name.number == SECOND
            await am.AM_SetSeg(self.other, process.segment, SEGMENT)
            self.other.handlers[:] = process.endpoint.handlers
            await am.AM_SetTag(self.other, TAG)
        elif self.times == 2:
            assert await am.AM_FreeEndpoint(self.other) is OK

    async def send(self, number: int) -> None:
        request, am, endpoint = self.plan.requests[number], self.process.am, self.process.endpoint
        where, handler = request.receiver + 100 * request.second, request.handler
        source, length, offset = self.data[0], request.length, request.offset
        if request.kind != "get":
            self.memory.write(source, pattern(number, length)[:length])
        self.ran.tried.append(number)
        if request.kind == "short":
            status = await am.AM_RequestM(endpoint, where, handler, number, number)
        elif request.kind == "bulk":
            status = await am.AM_RequestIM(endpoint, where, handler, source, length, number)
        elif request.kind == "xfer":
            status = await am.AM_RequestXferM(endpoint, where, offset, handler, source, length,
                                              number)
        elif request.kind == "async":
            status = await am.AM_RequestXferAsyncM(endpoint, where, offset, handler, source,
                                                   length, number)
        else:
            status = await am.AM_GetXferM(endpoint, where, offset, handler, 0, length, number)
        if status is NOT_SENT:
            assert request.kind == "async"
            self.ran.not_sent.append(number)
        else:
            assert status is OK

    # Handlers

    def handler(self, index: int) -> Callable[..., Any]:
        async def handle(token: Any, *words: int) -> None:
            number = words[-1]
            request, am, memory = self.plan.requests[number], self.process.am, self.memory
            self.ran.handled.append(number)
            assert index == request.handler and request.receiver == self.process.cpu
            assert am.AM_GetSourceEndpoint(token) == (OK, EndpointName(0, request.sender))
            if request.kind == "short":
                assert words == (number, number)
            else:
                address, length, _ = words
                assert length == request.length
                assert memory.read(address, length) == pattern(number, length)[:length]
                assert request.kind == "bulk" or (address - self.process.segment == request.offset)
            if index in (BULK, XFER):
                source, length = self.data[1], request.length or 40
                memory.write(source, pattern(number + 1, length)[:length])
            if index == SHORT:
                assert await am.AM_ReplyM(token, ANSWER, number) is OK
            elif index == BULK:
                assert await am.AM_ReplyIM(token, ANSWER_BULK, source, length, number) is OK
            elif index == XFER:
                assert await am.AM_ReplyXferM(token, 3, ANSWER_BULK, source, length, number) is OK
        return handle

    def answer(self, token: Any, *words: int) -> None:
        number = words[-1]
        request = self.plan.requests[number]
        assert request.sender == self.process.cpu
        self.ran.answered.append(number)
        if len(words) > 1:
            address, length, _ = words
            found = self.memory.read(address, length)
            if request.kind == "get":
                assert length == request.length
            else:
                assert found == pattern(number + 1, length)[:length]

    def came_back(self, reason: Any, opcode: Any, arguments: tuple[int, ...]) -> None:
        if reason is AM_RETURNED.REPLYREJECTED:
            self.ran.rejected.append(arguments[-1])
        else:
            assert self.plan.requests[arguments[-1]].sender == self.process.cpu
            self.ran.back.append((arguments[-1], reason))


def programs(plan: Plan, ran: Ran) -> list[Any]:
    """The programs of the plan, which note in ``ran`` what happens."""
    def program_of(cpu: int) -> Any:
        async def program(node: Node) -> Any:
            coroutine = _Runner(node, plan, ran).run()
            if cpu in plan.cuts:
                result = await Cut(coroutine, *plan.cuts[cpu])
            else:
                result = await coroutine
            if result != "terminated":
                node.run_service(Met).gone.add(cpu)
            return result
        return program
    return [program_of(cpu) for cpu in range(plan.cpus)]


def check(plan: Plan, ran: Ran, ended: set[int]) -> None:
    """Everything has come exactly once, in order, or come back for a good reason; processes that
    have ``ended`` may have lost what is theirs."""
    assert not any(ran.outstanding.values()), ran.outstanding
    counts = {name: Counter(numbers) for name, numbers in (
        ("handled", ran.handled), ("answered", ran.answered), ("rejected", ran.rejected),
        ("back", [number for number, _ in ran.back]))}
    for name, counted in counts.items():
        assert all(count == 1 for count in counted.values()), (name, counted)
    reasons = dict(ran.back)
    for number, request in plan.requests.items():
        handled, answered, rejected, back = (
            counts[name][number] for name in ("handled", "answered", "rejected", "back"))
        if number in ran.not_sent or number not in ran.tried:
            assert not handled + answered + rejected + back, request
            continue
        if request.sender in ended:
            continue
        reason = reasons.get(number)
        known = request.reason
        assert not (handled and known), request
        if reason is not None:
            _check_reason(plan, request, reason, known, ended)
        if request.receiver in ended:
            # The data of a get may have been rejected here, and nobody is there to hear of it.
            lost = request.kind == "get" and request.sender in plan.retags
            assert back + answered <= 1 and (back or answered or handled or lost), request
            continue
        if request.kind == "get":
            assert not handled and answered + rejected + back == 1, request
        else:
            assert handled + back == 1, request
            replies = handled and request.handler in (SHORT, BULK, XFER)
            # One that is rejected finds nobody where its endpoint has been freed.
            lost = request.second and request.sender in plan.retags
            assert answered + rejected == replies or (lost and not answered + rejected), request
        assert not rejected or request.sender in plan.retags, request
    orders: dict[Any, int] = defaultdict(int)
    for name in ("handled", "answered"):
        for number in getattr(ran, name):
            request = plan.requests[number]
            pair = (name, request.sender, request.receiver, request.second)
            assert number > orders[pair], (pair, number)
            orders[pair] = number


def _check_reason(plan: Plan, request: Request, reason: int, known: Any, ended: set[int]) -> None:
    """Whether it may have come back for this reason."""
    assert reason in REASONS, reason
    if reason == AM_RETURNED.BADENDPOINT:
        assert request.second or request.receiver in ended, request
    elif reason == AM_RETURNED.UNREACHABLE:
        assert request.receiver in ended, request
    elif reason == AM_RETURNED.BADTAG:
        assert request.receiver in plan.retags or request.second, request
    else:
        assert reason == known, request
