"""Finds the files that Verilog text names: those that it includes, and those of its memories."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["INCLUDE", "blanked", "named_files"]

INCLUDE = re.compile(r'^[ \t]*(?P<directive>`include[ \t]*"(?P<name>[^"\n]+)")', re.MULTILINE)
"""A directive and the name in it, in text whose comments are :func:`blanked`."""
_DATA = re.compile(r'\$readmem[hb](?:\s|\\\n)*\((?:\s|\\\n)*"(?P<name>[^"\n]+)"')
_TOKEN = re.compile(r'(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<text>"(?:\\.|[^"\\\n])*")|\\\S+',
                    re.DOTALL)
_VISIBLE = re.compile(r"[^\n]")


def blanked(verilog: str, *, texts: bool = False) -> str:
    """``verilog`` with blanks for its comments, and for its texts if ``texts``. Lines and places
    stay as they are."""
    def put(found: re.Match[str]) -> str:
        gone = found["comment"] is not None or (texts and found["text"] is not None)
        return _VISIBLE.sub(" ", found[0]) if gone else found[0]

    return _TOKEN.sub(put, verilog)


def named_files(files: Iterable[Path]) -> Iterator[Path]:
    """The files that the Verilog in ``files`` includes, recursively, and those from which they read
    memories, whatever their suffixes. A name is relative to the file that has it; what is no file
    is left out."""
    left = [*files]
    seen = {*left}
    while left:
        here = left.pop()
        code = blanked(os.fsdecode(here.read_bytes()))
        for pattern in (INCLUDE, _DATA):
            for named in pattern.finditer(code):
                found = Path(os.path.normpath(here.parent / named["name"]))
                if found.is_file():
                    yield found
                    if pattern is INCLUDE and found not in seen:
                        seen.add(found)
                        left.append(found)
