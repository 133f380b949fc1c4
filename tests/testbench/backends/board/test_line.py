"""The back end's end of the line: each command is executed once, or there is an error; whatever
the line does."""

import random
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from nicbed.layouts.board import (
    COMMAND_FRAME,
    FLAG,
    HEADER,
    IDENTITY_WORDS,
    MAGIC,
    RESPONSE_FRAME,
    SECTION,
    STATUS_WORDS,
    Kind,
    Section,
)
from nicbed.testbench.backends.board.line import Line, LineError, decode, encode
from nicbed.testbench.errors import UserError

from tests.labs.board.frames import TRICKY, frame, header, words_of
from tests.labs.board.ports import (
    IDENTITY,
    REFUSED_WORD,
    RUN_WORD,
    FakePort,
    ModelBoard,
    Noise,
    SimulatedPort,
    seed_nonces,
)
from tests.labs.rows import more


def line_to(port: Any, **options: Any) -> Line:
    return Line(port, clock=lambda: port.now, **options)


def random_command(rng: random.Random) -> list[int]:
    count = rng.choice([0, 1, 2, 3, rng.randrange(20), rng.randrange(20)])
    return [int.from_bytes(bytes(rng.choice([*TRICKY, rng.randrange(256)]) for _ in range(4)),
                           "little") for _ in range(count)]


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nonces are the same in each run of a test."""
    seed_nonces(monkeypatch, 4)


def test_frames_are_those_of_the_layout() -> None:
    rng = random.Random(1)
    for _ in range(300):
        words = [header(rng.randrange(256)), *random_command(rng)]
        sent = encode(words)
        assert sent == frame(words)
        assert decode(sent[1:-1]) == tuple(words) == tuple(words_of(sent[1:-1]) or ())
        # A frame that is hurt is none, or what it was.
        hurt = Noise(0.02, rng.randrange(1 << 30)).through(sent[1:-1])
        for body in hurt.split(bytes([FLAG])):
            assert decode(body) in (None, tuple(words))


@pytest.mark.parametrize("words", [[], [1, 2], [0x6E63_0001, 5]])
def test_wrong_frames_are_refused(words: list[int]) -> None:
    assert decode(frame(words)[1:-1]) is None
    assert decode(frame([header(0), 1])[1:-2]) is None
    assert decode(b"") is None and decode(b"\0\0\0") is None and decode(b"\0" * 9) is None


def test_session() -> None:
    board = ModelBoard()
    port = FakePort(board.take)
    line = line_to(port)
    found = line.hello()
    assert found[STATUS_WORDS] == SECTION.pack(kind=Section.IDENTITY, count=IDENTITY_WORDS + 3)
    assert found[STATUS_WORDS + 2:] == IDENTITY
    rng = random.Random(1)
    commands = [random_command(rng) for _ in range(600)]
    commands += [[FLAG] * (COMMAND_FRAME - 2)] * 2
    total = 0
    for words in commands:
        total += sum(words)
        assert line.transact(words) == [total & 0xFFFF_FFFF, *words[::-1]]
    assert board.executed == commands
    assert port.writes == 1 + len(commands), "nothing is sent twice without need"
    assert line.hello()[STATUS_WORDS + 1] != found[STATUS_WORDS + 1], "another nonce"
    assert line.transact([5]) == [5, 5]


@pytest.mark.parametrize("rates", [
    (0.01, 0.0), (0.0, 0.01), (0.003, 0.003), (0.01, 0.01), (0.02, 0.02)])
def test_noise_costs_time_alone(rates: tuple[float, float]) -> None:
    """Whatever is hurt either way: responses are right, commands executed once, or LineError."""
    hurt = failed = 0
    rng = random.Random(round(1000 * rates[0]))
    while hurt < 1000:
        there, back = (Noise(rate, rng.randrange(1 << 30)) for rate in rates)
        board = ModelBoard(busy=rng.randrange(4))
        port = FakePort(board.take, there=there, back=back, doubled=0.1, lag=rng.choice(
            [0.001, 0.3]), seed=rng.randrange(1 << 30))
        port.say(rng.randbytes(rng.randrange(200)))
        line = line_to(port, patience=40.0)
        done: list[list[int]] = []
        try:
            assert line.hello()[STATUS_WORDS + 2:] == IDENTITY
            total = 0
            for _ in range(40):
                words = random_command(rng)
                if rng.random() < 0.1:
                    words.append(RUN_WORD)
                done.append(words)
                total += sum(words)
                assert line.transact(words) == [total & 0xFFFF_FFFF, *words[::-1]]
        except LineError:
            failed += 1
            assert board.executed in (done, done[:-1])
            with pytest.raises(LineError, match="session|answers|bytes came"):
                line.transact([1])
        else:
            assert board.executed == done
        hurt += there.hurt + back.hurt
    # A frame of 130 bytes passes a line that hurts one in a hundred every fourth time.
    if max(rates) <= 0.01:
        assert failed == 0


def test_old_responses_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a session before: other numbers, other nonces, even with HELLO's number."""
    monkeypatch.setattr(secrets, "randbits", lambda bits: {32: 77, 8: 5}[bits])
    board = ModelBoard()
    port = FakePort(board.take, lag=0.01)
    for sequence in range(256):
        for body in [0, 0, 0, 0, 0, 76, *IDENTITY], [77] * 3, [9] * 20, []:
            port.say(frame([header(sequence, Kind.DONE), *body]))
        port.say(frame([header(sequence, Kind.LOST), 0]))
    line = line_to(port)
    assert line.hello()[STATUS_WORDS + 1:] == [77, *IDENTITY]
    for sequence in set(range(256)) - {6}:
        for kind in Kind.DONE, Kind.LOST, Kind.REFUSED, Kind.BUSY:
            port.say(frame([header(sequence, kind), 1]))
    assert line.transact([3]) == [3, 3]
    assert port.writes == 2


def test_busy_is_waited_for() -> None:
    board = ModelBoard(busy=40)
    port = FakePort(board.take)
    line = line_to(port, patience=3.0)
    line.hello()
    cycles: list[int] = []
    for kind in Kind.COMMAND, Kind.HELLO, 9:
        for sequence in range(256):
            port.say(frame([header(sequence, kind), 1, 2]))
    assert line.transact([RUN_WORD], on_busy=cycles.append) == [RUN_WORD, RUN_WORD]
    assert cycles == [7 | left << 32 for left in range(39, -1, -1)]
    assert 20 < port.now < 45, "asked every second at the most, longer than the patience"
    assert board.executed == [[RUN_WORD]]
    board.lose()
    with pytest.raises(LineError, match="lost the session"):
        line.transact([1])


def test_repetitions_back_off() -> None:
    times: list[float] = []
    port = FakePort(None)
    port.write = lambda sent: times.append(port.now)  # type: ignore[method-assign]
    with pytest.raises(LineError):
        line_to(port, resend=0.1, patience=6.0).hello()
    gaps = [after - before for before, after in zip(times, times[1:], strict=False)]
    assert gaps[:5] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0], abs=0.06)
    assert port.now == pytest.approx(6.0, abs=0.06)


def test_a_slow_line_has_its_time() -> None:
    """Neither repetition nor the end of patience while the frames are on their way."""
    board = ModelBoard()
    port = FakePort(board.take, lag=6.0)
    port.baudrate = 9600  # type: ignore[attr-defined]
    line = line_to(port)
    line.hello()
    writes = port.writes
    words = list(range(1022))
    assert line.transact(words)[1:] == words[::-1]
    assert port.now > 10 and port.writes - writes <= 3


def test_a_response_that_trickles_is_waited_for() -> None:
    board = ModelBoard()
    port = FakePort(board.take)
    line = line_to(port)
    line.hello()
    slow: list[bytes] = []
    port.say = slow.append  # type: ignore[method-assign]
    port.write = _then(port, slow)  # type: ignore[method-assign]
    assert line.transact([1, 2, 3]) == [6, 3, 2, 1]
    assert port.now > 1.5 and port.writes == 2


def _then(port: FakePort, slow: list[bytes]) -> Callable[[bytes], int]:
    write = port.write

    def trickle(sent: bytes) -> int:
        size = write(sent)
        for place, byte in enumerate(slow.pop()):
            port.pending.append((port.now + 0.1 * place, bytes([byte])))
        return size
    return trickle


def test_nothing_answers() -> None:
    port = FakePort(None)
    with pytest.raises(LineError, match="/dev/fake: no board answers within 2 s: is it powered"):
        line_to(port, patience=2.0).hello()


def test_bytes_but_no_frame() -> None:
    """Without an end, too: neither a wait for ever, nor memory without bound."""
    port = FakePort(None)
    port.baudrate = 3_000_000  # type: ignore[attr-defined]
    rng = random.Random(1)
    line = line_to(port, patience=2.0)
    port.read = _babble(port, rng)  # type: ignore[method-assign]
    with pytest.raises(LineError, match="[0-9]+ bytes came, but no frame .* baud rate of 3000000"):
        line.hello()
    assert port.now < 3 and len(line._rest) < 5 * 4 * RESPONSE_FRAME


def _babble(port: FakePort, rng: random.Random) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        port.now += 0.001
        assert port.now < 10, "a wait without end"
        return rng.randbytes(64).replace(b"\x7e", b"")
    return read


def test_answers_to_others() -> None:
    port = FakePort(lambda words: [header(HEADER.get(words[0], "sequence") ^ 1, Kind.DONE), 0])
    with pytest.raises(LineError, match="a board answers, but not to what it was sent"):
        line_to(port).hello()


def test_the_board_lost_the_session() -> None:
    board = ModelBoard()
    line = line_to(FakePort(board.take))
    line.hello()
    line.transact([1])
    board.lose()
    with pytest.raises(LineError, match="the board lost the session"):
        line.transact([2])
    with pytest.raises(LineError, match="session with the board is over"):
        line.transact([2])
    assert board.executed == [[1]]
    line.hello()
    assert line.transact([3]) == [3, 3]


def test_a_command_is_refused() -> None:
    board = ModelBoard()
    line = line_to(FakePort(board.take))
    line.hello()
    with pytest.raises(LineError, match=r"refuses the command at word 3 .* \(0x00000bad\)"):
        line.transact([1, 2, REFUSED_WORD, 3])
    line.hello()
    with pytest.raises(LineError, match="refuses the command at word 1 "):
        line.transact([REFUSED_WORD])


def test_an_exception_ends_the_session() -> None:
    """The number of a command whose fate is unknown is not given to another."""
    board = ModelBoard(busy=5)
    line = line_to(FakePort(board.take))
    line.hello()

    def interrupt(cycle: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        line.transact([RUN_WORD], on_busy=interrupt)
    with pytest.raises(LineError, match="over: begin a new one"):
        line.transact([1])
    line.hello()
    assert line.transact([2]) == [2, 2]


def test_a_command_without_a_session() -> None:
    with pytest.raises(LineError, match="begin a new one"):
        line_to(FakePort(ModelBoard().take)).transact([])


@pytest.mark.parametrize("what", ["timeout", "reset_input_buffer", "write", "in_waiting", "read"])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_port_that_fails(what: str, terminal: bool) -> None:
    """One line, whatever fails; terminals have an exception of their own."""
    failing = pytest.importorskip("termios").error if terminal else OSError

    class Failing(FakePort):
        def __getattribute__(self, name: str) -> Any:
            if name == what and name != "timeout":
                raise failing(5, "Input/output\nerror")
            return super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            if name == what == "timeout" and value:
                raise failing(5, "Input/output\nerror")
            super().__setattr__(name, value)

    port = Failing(ModelBoard().take)
    with pytest.raises(LineError, match="^/dev/fake: the serial port failed: .*Input/out.*;") \
            as caught:
        line_to(port).hello()
    assert "\n" not in str(caught.value) and isinstance(caught.value, UserError)


def test_a_cable_that_is_pulled() -> None:
    serial = pytest.importorskip("serial")
    port = FakePort(ModelBoard().take)
    line = line_to(port)
    line.hello()

    def read(size: int) -> bytes:
        raise serial.SerialException("device reports readiness to read but returned no data")

    port.read = read  # type: ignore[method-assign]
    with pytest.raises(LineError, match="port failed: device reports .*; is its cable in place"):
        line.transact([1])


def test_arguments() -> None:
    with pytest.raises(ValueError, match="patience must be positive, not 0"):
        Line(FakePort(None), patience=0)
    with pytest.raises(ValueError, match="resend must be positive, not -1"):
        Line(FakePort(None), resend=-1)
    line = line_to(FakePort(ModelBoard().take))
    line.hello()
    with pytest.raises(ValueError, match="room for 1022 words, not 1023"):
        line.transact([0] * 1023)
    assert line.transact([4]) == [4, 4], "nothing was begun"


@pytest.mark.parametrize("rate", [0.0, more(0.004)])
def test_line_and_serial_link_on_a_noisy_line(rate: float) -> None:
    """Line and SerialLink understand each other, on a line that hurts bytes."""
    noise = Noise(rate, 3)
    port = SimulatedPort(2, noise if rate else None)
    line = Line(port, clock=lambda: port.now, resend=0.002, patience=0.1)
    assert line.hello()[STATUS_WORDS + 2:] == IDENTITY
    rng = random.Random(2)
    total = 0
    for number in range(6):
        words = random_command(rng)[:8] + [RUN_WORD] * (number == 3)
        total += sum(words)
        assert line.transact(words) == [total & 0xFFFF_FFFF, *words[::-1]]
    assert bool(noise.hurt) == bool(rate)


def test_layout_is_as_the_line_takes_it() -> None:
    assert HEADER.pack(sequence=1, kind=Kind.BUSY, magic=MAGIC) == 0x6E62_0301
