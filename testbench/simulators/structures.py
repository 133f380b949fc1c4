"""C structures of the simulators' sources, as ctypes have them: headers alone declare them."""

import ctypes
import re
from pathlib import Path
from typing import Any

__all__ = ["structure"]

_SOURCES = Path(__file__).parent / "sources"
_TYPES = {"uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
          "void*": ctypes.c_void_p}
_FIELD = re.compile(r"(\w+\*?) (\w+)(?:\[(\w+)\])?")
_FUNCTION = re.compile(r"[\w* ]+ ?\(\*(\w+)\)\([^()]*\)")
_CONSTANT = re.compile(r"^constexpr \w+ (\w+) = (\d+);", re.MULTILINE)


def structure(header: str, name: str) -> type[ctypes.Structure]:
    """``struct name`` of ``sources/header``: fields of fixed width, pointers, pointers to
    functions, and arrays whose length is a number or a constant of the header.

    Raises
    ------
    ValueError
        The header has no such structure, or a field is none of these.
    """
    text = re.sub(r"//.*", "", (_SOURCES / header).read_text(encoding="utf-8"))
    found = re.search(rf"^struct {name} {{(.*?)^}};", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"{header} has no struct {name}")
    constants = dict(_CONSTANT.findall(text))
    declarations = found[1].split(";")[:-1]
    return type(name, (ctypes.Structure,), {
        "_fields_": [_field(" ".join(one.split()), constants) for one in declarations]})


def _field(declaration: str, constants: dict[str, str]) -> tuple[str, Any]:
    function = _FUNCTION.fullmatch(declaration)
    if function is not None:
        return function[1], ctypes.c_void_p
    field = _FIELD.fullmatch(declaration)
    kind = None if field is None else _TYPES.get(field[1])
    length = "" if field is None else constants.get(field[3], field[3] or "1")
    if field is None or kind is None or not length.isdigit():
        raise ValueError(f"cannot lay out the field `{declaration}`")
    return field[2], kind * int(length) if field[3] else kind
