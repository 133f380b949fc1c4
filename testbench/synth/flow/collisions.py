"""Tells yosys which memories may read an undefined word if it is written at the same edge."""

import re

__all__ = ["without_collisions"]

_MODULE = re.compile(r"^module .*?^end$", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(r"^ *attribute \\no_rw_check 1\n(?: *attribute .*\n)* *memory .*(\\\S+)$",
                     re.MULTILINE)
_READ = re.compile(r"^ *cell \$memrd_v2 .*?^ *end$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'parameter \\MEMID "\\(\\\S+)"')
_REGISTERED = re.compile(r"parameter \\CLK_ENABLE 1$", re.MULTILINE)
_MASK = re.compile(r"(parameter \\COLLISION_X_MASK \d+')(0+)$", re.MULTILINE)


def without_collisions(text: str) -> str:
    """RTLIL ``text`` in which registered read ports of memories with the attribute ``no_rw_check``
    (:class:`nicbed.rtl.parts.block_ram.BlockRam`) give an undefined value at an edge at which the
    same word is written. yosys itself obeys the attribute only for read ports whose registers it
    finds, not for ports that are registered from the beginning."""
    return _MODULE.sub(_module, text)


def _module(module: re.Match[str]) -> str:
    names = set(_MEMORY.findall(module[0]))
    if not names:
        return module[0]

    def port(cell: re.Match[str]) -> str:
        name = _NAME.search(cell[0])
        if name is None or name[1] not in names or not _REGISTERED.search(cell[0]):
            return cell[0]
        return _MASK.sub(lambda mask: mask[1] + "1" * len(mask[2]), cell[0])

    return _READ.sub(port, module[0])
