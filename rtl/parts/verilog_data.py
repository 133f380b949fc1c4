"""Puts the data of $readmemh and $readmemb into the text of a module."""

import re
from collections.abc import Iterator
from pathlib import Path

from ...layouts.errors import UserError

__all__ = ["with_data"]

MOST = 1 << 20
"""Most words of a file."""
_CALL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\$readmem(?P<base>[hb])\s*'
                   r'\((?P<given>(?:"(?:\\.|[^"\\\n])*"|[^;"])*)\)\s*;', re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r'\s*"([^"\n]+)"\s*,(.*)', re.DOTALL)
_DIGITS = {"h": re.compile(r"[0-9a-fA-FxXzZ?]+"), "b": re.compile(r"[01xXzZ?]+")}


def with_data(text: str, file: Path) -> str:
    """The ``text`` of ``file`` with an assignment for each word in place of ``$readmemh`` and
    ``$readmemb``: so it needs no other file, wherever it is compiled. A name is relative to the
    folder of ``file``.

    Raises
    ------
    UserError
        The name is no text, the file cannot be read, or has something else than data.
    """
    def put(found: re.Match[str]) -> str:
        if found["base"] is None:
            return found[0]
        line = text.count("\n", 0, found.start()) + 1
        return _assigned(found["base"], found["given"], file, f"{file}:{line}: $readmem"
                                                              f"{found['base']}")

    return _CALL.sub(put, text)


def _assigned(base: str, given: str, file: Path, where: str) -> str:
    named = _NAME.fullmatch(given)
    if named is None:
        raise UserError(f"{where}: the name of the file must be a text: a value is not known here")
    memory, *bounds = [part.strip() for part in named[2].split(",")]
    if len(bounds) > 1:
        raise UserError(f"{where}: takes a first address; with a last one it is not supported")
    data = file.parent / named[1]
    try:
        words = [*_words(data.read_text(encoding="utf-8"), base)]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{where}: {data}: cannot be read: {reason}") from None
    except ValueError as error:
        raise UserError(f"{where}: {data}: {error}") from None
    first = f"({bounds[0]}) + " if bounds else ""
    each = " ".join(f"{memory}[{first}{at}] = {word};" for at, word in words)
    return f"begin {each} end"


def _words(text: str, base: str) -> Iterator[tuple[int, str]]:
    """Addresses and words, as constants of Verilog.

    Raises
    ------
    ValueError
        There is something else, or too much.
    """
    at = count = 0
    for token in _COMMENT.sub(" ", text).split():
        if token.startswith("@"):
            at = int(token[1:], 16)
            continue
        digits = token.replace("_", "")
        if not _DIGITS[base].fullmatch(digits):
            raise ValueError(f"{token} is no word")
        if (count := count + 1) > MOST:
            raise ValueError(f"has more than {MOST:,} words")
        yield at, f"{len(digits) * (4 if base == 'h' else 1)}'{base}{digits}"
        at += 1
