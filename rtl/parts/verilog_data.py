"""Puts the data of $readmemh and $readmemb into the text of a module."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ...layouts.doors.verilog_names import blanked
from ...layouts.errors import UserError

__all__ = ["with_data"]

MOST = 1 << 20
"""Most words of a file."""
_CALL = re.compile(r"\$readmem([hb])\b")
_OPEN = re.compile(r"\s*\(")
_END = re.compile(r"\s*;")
_TEXT = re.compile(r'"([^"\n]+)"')
_NUMBER = re.compile(r"\d+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIGITS = {"h": re.compile(r"[0-9a-fA-FxXzZ?]+"), "b": re.compile(r"[01xXzZ?]+")}
_RANGE = (r"\b(?:reg|logic|bit|byte|shortint|int|longint|integer|\w+_t)\b[^;=]*?\b{}"
          r"\s*\[([^\[\]:;]+):([^\[\]:;]+)\]\s*[;,=]")


def with_data(text: str, file: Path) -> str:
    """The ``text`` of ``file`` with an assignment for each word in place of ``$readmemh`` and
    ``$readmemb``: so it needs no other file, wherever it is compiled. A name is relative to the
    folder of ``file``. Without a first address, words begin at the lowest index of the memory if
    ``text`` declares it before the call, as a variable of a type of Verilog or of one whose name
    ends in "_t"; else at 0.

    A call whose file is not there or is named by no literal text stays as it is, since it may never
    be compiled or executed; a note on stderr says so.

    Raises
    ------
    UserError
        A call is no statement that can be read, has a last address, or its file cannot be read or
        has something else than data.
    """
    code, bare = blanked(text), blanked(text, texts=True)
    parts: list[str] = []
    end = 0
    for found in _CALL.finditer(bare):
        where = f"{file}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]}"
        spans = _arguments(bare, found.end())
        given = [code[start:stop].replace("\\\n", " ").strip() for start, stop in spans]
        words = _data(found[1], given[0], file.parent, where) if given else []
        if words is None:
            continue
        after = _END.match(bare, spans[-1][1] + 1) if len(spans) > 1 else None
        if after is None:
            raise UserError(f"{where}: cannot be read: must be a statement such as "
                            f'{found[0]}("a.hex", memory);')
        if len(given) > 3:
            raise UserError(f"{where}: takes a first address; with a last one it is not supported")
        memory = given[1]
        first = f"({given[2]})" if len(given) > 2 else _lowest(bare[:found.start()], memory)
        each = " ".join(f"{memory}[{at if absolute else _sum(first, at)}] = {word};"
                        for absolute, at, word in words)
        parts += [text[end:found.start()], f"begin {each} end"]
        end = after.end()
    return "".join([*parts, text[end:]])


def _arguments(bare: str, at: int) -> list[tuple[int, int]]:
    """Where the arguments of the call are whose name ends ``at``; none if it has no end."""
    opened = _OPEN.match(bare, at)
    if opened is None:
        return []
    found: list[tuple[int, int]] = []
    start, depth = opened.end(), 0
    for place in re.finditer(r"[()\[\]{},;]", bare[start:]):
        here = opened.end() + place.start()
        if place[0] in "([{":
            depth += 1
        elif place[0] == ";":
            return []
        elif depth == 0:
            found.append((start, here))
            if place[0] != ",":
                return found if place[0] == ")" else []
            start = here + 1
        elif place[0] != ",":
            depth -= 1
    return []


def _data(base: str, name: str, folder: Path, where: str) -> list[tuple[bool, int, str]] | None:
    """What :func:`_words` gives of the file ``name``; None, with a note, if it is not known."""
    text = _TEXT.fullmatch(name)
    if text is None:
        _note(f"{where}: stays as it is: the name of its file is no text")
        return None
    data = folder / text[1]
    try:
        return [*_words(data.read_text(encoding="utf-8"), base)]
    except FileNotFoundError:
        _note(f"{where}: stays as it is: there is no file {data}")
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{where}: {data}: cannot be read: {reason}") from None
    except ValueError as error:
        raise UserError(f"{where}: {data}: {error}") from None


def _note(line: str) -> None:
    print(f"nicbed: {line}", file=sys.stderr, flush=True)


def _lowest(bare: str, memory: str) -> str:
    """The lowest index of ``memory`` as its last declaration in ``bare`` has it."""
    ranges = re.findall(_RANGE.format(re.escape(memory)), bare)
    bounds = [bound.strip() for bound in ranges[-1]] if ranges else ["0"]
    if "0" in bounds:
        return "0"
    if all(map(_NUMBER.fullmatch, bounds)):
        return str(min(map(int, bounds)))
    one, other = bounds
    return f"(({one}) < ({other}) ? ({one}) : ({other}))"


def _sum(first: str, at: int) -> str:
    return str(int(first) + at) if _NUMBER.fullmatch(first) else f"{first} + {at}"


def _words(text: str, base: str) -> Iterator[tuple[bool, int, str]]:
    """Addresses, whether they are absolute or count from the first one, and words, as constants of
    Verilog.

    Raises
    ------
    ValueError
        There is something else, or too much.
    """
    at = count = 0
    absolute = False
    for token in _COMMENT.sub(" ", text).split():
        if token.startswith("@"):
            at, absolute = int(token[1:], 16), True
            continue
        digits = token.replace("_", "")
        if not _DIGITS[base].fullmatch(digits):
            raise ValueError(f"{token} is no word")
        if (count := count + 1) > MOST:
            raise ValueError(f"has more than {MOST:,} words")
        yield absolute, at, f"{len(digits) * (4 if base == 'h' else 1)}'{base}{digits}"
        at += 1
