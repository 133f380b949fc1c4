"""What a statement of Verilator's C++ reads and writes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .model import Member, NotKnown, enclosed, statements

__all__ = ["Statement", "condition_of", "read_keys", "statement"]

_WORD = re.compile(r"(?<![\w.])(vlSelfRef\.)?([A-Za-z_]\w*)(\s*\[(?:0x[0-9a-f]+|\d+)U\])?(\s*\()?")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_TYPES = {"CData", "SData", "IData", "QData", "EData", "if", "else", "while", "vlSelfRef"}
_PURE = re.compile(r"VL_[A-Z]+_[IQ][IQW]*|VL_REDXOR_\d+|VL_(N?EQ|[GL]TE?|[GL]TES?)_W|VL_UNLIKELY|"
                   r"VL_LIKELY")
"""Functions that only return something."""
_FILLS = re.compile(r"VL_[A-Z]+_W\w*\s*\((?:\s*\d+\s*,)*")
"""The beginning of a call that fills its first argument that is no number, from the others."""
_OUTSIDE = re.compile(r"Vdpiimwrap|vlSymsp|VL_WRITEF|VL_FINISH|VL_STOP")
"""Marks of what acts outside the model."""
_SLICE = re.compile(r"\s*\(\((?:0x[0-9a-f]+|\d+)U(?:LL)? & (?:\([CSIQ]Data\)\()?(?:vlSelfRef\.)?"
                    r"([A-Za-z_]\w*(?:\[\w+\])?)\)?\)\s*\|")
"""What begins the value of a variable of which some bits stay."""

Variables = Mapping[str, Member]


@dataclass
class Statement:
    """A statement, and what it accesses.

    ``reads``: keys whose earlier value may matter to it. ``writes``: all keys that it may write, in
    their order; ``sets``: those of them that it writes whatever happens. ``locals``: variables of
    its function. ``memories``: the memories among its writes. ``acts``: it does something outside
    the model. ``size``: accesses in its text."""

    text: str
    reads: set[str] = field(default_factory=set)
    writes: dict[str, None] = field(default_factory=dict)
    sets: set[str] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)
    memories: set[str] = field(default_factory=set)
    acts: bool = False
    size: int = 1


def condition_of(text: str) -> tuple[str, str, str]:
    """Of a conditional statement: its condition, its first branch, its second branch or ""."""
    condition, end = enclosed(text, text.index("("))
    rest = text[end:].strip()
    if not rest.startswith("{"):
        raise NotKnown(rest[:80])
    first, end = enclosed(rest, 0)
    rest = rest[end:].strip()
    if not rest:
        return condition, first, ""
    if not rest.startswith("else"):
        raise NotKnown(rest[:80])
    rest = rest[len("else"):].strip()
    if not rest.startswith("{"):
        return condition, first, rest
    second, end = enclosed(rest, 0)
    if rest[end:].strip():
        raise NotKnown(rest[end:end + 80])
    return condition, first, second


def _equals(text: str) -> int:
    """Where the sign of an assignment is."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if sign == "=" and not depth and text[at + 1] != "=" and text[at - 1] not in "<>!=":
            return at
    return -1


class _Reader:
    def __init__(self, members: Variables, variables: Variables, text: str) -> None:
        self.members = members
        self.variables = variables
        self.found = Statement(text)

    def _keys(self, text: str, pure: bool) -> Iterator[tuple[Member, list[str]]]:
        """The variables in ``text``, and which keys of each."""
        for of_model, name, index, call in _WORD.findall(text):
            if of_model:
                member = self.members.get(name)
            else:
                member = self.variables.get(name)
                if member is None:
                    if name in _TYPES or "__ConstPool__CONST_" in name or (
                            call and (not pure or _PURE.fullmatch(name))):
                        continue
            if member is None:
                raise NotKnown(f"{name} in {text.strip()[:80]}")
            keys = member.keys
            if index and not member.whole and member.words:
                keys = [keys[int(_NUMBER.findall(index)[0], 0)]]
            yield member, keys

    def read(self, text: str, pure: bool = True) -> None:
        for member, keys in self._keys(text, pure):
            self._reads(member, keys)

    def _reads(self, member: Member, keys: list[str]) -> None:
        self.found.size += len(keys)
        if member.name in self.variables:
            self.found.locals.add(member.name)
        else:
            self.found.reads.update(key for key in keys if key not in self.found.sets)

    def write(self, member: Member, keys: list[str], sure: bool) -> None:
        self.found.size += len(keys)
        if member.name in self.variables:
            self.found.locals.add(member.name)
            return
        self.found.writes.update(dict.fromkeys(keys))
        if member.memory:
            self.found.memories.add(member.name)
        if sure:
            self.found.sets.update(keys)

    def take(self, text: str, sure: bool) -> None:
        text = text.strip()
        if text.startswith("if"):
            condition, first, second = condition_of(text)
            self.read(condition)
            for branch in (first, second):
                for one in statements(branch):
                    self.take(one, False)
            return
        if _OUTSIDE.search(text):
            self.found.acts = True
            self._any(text)
            return
        at = -1 if text.startswith(("while", "do")) else _equals(text)
        if at >= 0:
            self._assignment(text[:at].strip(), text[at + 1:], sure)
        elif text.startswith("VL_") and (filled := _FILLS.match(text)):
            self._filling(text[filled.end():], sure)
        elif text.startswith(("while", "do")):
            self._any(text)
        else:
            raise NotKnown(text[:80])

    def _any(self, text: str) -> None:
        """Whatever occurs is read, and perhaps written."""
        self.read(text, pure=False)
        for member, keys in list(self._keys(text, False)):
            self.write(member, keys, False)

    def _filling(self, text: str, sure: bool) -> None:
        filled, *others = self._keys(text, True)
        for member, keys in others:
            self._reads(member, keys)
        self.write(*filled, sure)

    def _assignment(self, target: str, value: str, sure: bool) -> None:
        place = re.fullmatch(r"(vlSelfRef\.)?(\w+)\s*((?:\[.*\])?)", target, re.DOTALL)
        member = place and (self.members if place[1] else self.variables).get(place[2])
        if not place or member is None:
            raise NotKnown(target[:80])
        index = place[3]
        one = bool(re.fullmatch(r"\[(0x[0-9a-f]+|\d+)U\]", index))
        if member.memory or (index and not one) or (member.whole and member.words):
            # Which word it is depends on the index.
            self.read(value)
            self.read(index)
            self.write(member, member.keys, False)
            return
        keys = [member.keys[int(_NUMBER.findall(index)[0], 0)]] if index else member.keys
        kept = _SLICE.match(value)
        if kept and kept[1] == place[2] + index:
            # The bits that stay are no input: nobody else writes the others unseen.
            self.read(value[kept.end():])
            self.write(member, keys, False)
            return
        self.read(value)
        self.write(member, keys, sure)


def read_keys(text: str, members: Variables, variables: Variables) -> set[str]:
    """What an expression reads."""
    reader = _Reader(members, variables, text)
    reader.read(text)
    return reader.found.reads | reader.found.locals


def statement(text: str, members: Variables, variables: Variables) -> Statement:
    """What ``text`` accesses.

    Parameters
    ----------
    members, variables
        Variables of the model, and of the function, by their names.

    Raises
    ------
    NotKnown
        It is not of the forms known here.
    """
    reader = _Reader(members, variables, text)
    reader.take(text, True)
    return reader.found
