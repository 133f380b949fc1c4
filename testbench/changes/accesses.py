"""Finds what a statement of Verilator's C++ reads and writes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .model import Member, NotKnown, Scope, enclosed, statements

__all__ = ["Statement", "condition_of", "read_keys", "statement"]

_WORD = re.compile(r"(?<![\w.])(vlSelfRef\.)?([A-Za-z_]\w*)(\s*\[(?:0x[0-9a-f]+|\d+)U\])?(\s*\()?")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_CONSTANT = re.compile(r"\[(0x[0-9a-f]+|\d+)U\]")
_TYPES = {"CData", "SData", "IData", "QData", "EData", "if", "else", "while", "vlSelfRef"}


def _named(*groups: str) -> frozenset[str]:
    """Verilator's functions, each group's operators with each of its kinds of arguments."""
    return frozenset(f"VL_{operator}_{kind}" for group in groups
                     for operators, kinds in [group.split(":")]
                     for operator in operators.split() for kind in kinds.split())


PURE = frozenset({"VL_LIKELY", "VL_UNLIKELY"}) | _named(
    "REDXOR: 2 4 8 16 32 64 W", "REDOR ONEHOT ONEHOT0 COUNTONES CLOG2: I Q W", "REDAND: II IQ IW",
    "EQ NEQ LT LTE GT GTE: W", "LTS LTES GTS GTES: III IQQ IWW", "EXTEND EXTENDS: II QI QQ",
    "SHIFTL SHIFTR SHIFTRS: III IIQ IIW QQI QQQ QQW", "SHIFTRS: IQI",
    "DIV DIVS MODDIV MODDIVS MULS: III QQQ", "REPLICATE: III IOI QII QOI", "CLEAN: II QQ",
    "CONCAT: III QII QIQ QQI QQQ", "SET: QII QW", "STREAML STREAML_FAST: III QQI",
    "BITSEL: IIII QIII QQII IQII IWII", "SEL: IIII QQII IQII IWII QWII", "BITISSET: I Q E W")
"""Functions that only return something, which depends on their arguments alone."""

FILLING = _named(
    "ADD SUB MUL AND OR XOR NOT NEGATE ASSIGN ASSIGNCLEAN ZERO ALLONES: W", "CLEAN: WW",
    "EXTEND EXTENDS: WI WQ WW", "SHIFTL SHIFTR SHIFTRS: WWI WWQ WWW", "COND: WIWW",
    "DIV DIVS MODDIV MODDIVS MULS: WWW", "REPLICATE: WII WQI WWI", "STREAML: WWI", "SEL: WWII",
    "CONCAT: WII WIQ WIW WQI WQQ WQW WWI WWQ WWW")
"""Functions that fill a wide variable, their first argument behind literal widths, from the
others."""

INSERTING = {**dict.fromkeys(_named("ASSIGNSEL: II QI QQ WI WQ WW"), 3),
             **dict.fromkeys(_named("ASSIGNBIT: II QI WI IO QO WO"), 1)}
"""Functions that write some bits of an argument, and its place; which, the others tell."""

_CALL = re.compile(r"(\w+)\s*\(")
_OPERATOR = re.compile(r"(VL_\w+)\s*\(")
_WIDTH = re.compile(r"\s*\d+\s*")
_OUTSIDE = re.compile(r"Vdpiimwrap|vlSymsp|VL_WRITEF|VL_FINISH|VL_STOP")
"""Marks of what acts outside the model."""
_COMMENT = re.compile(r"/\*.*?\*/")
_HANDED_OVER = re.compile(r"[&*]")
"""In a parameter without comments: the function has the variable itself, and may write it."""
_SLICE = re.compile(r"\s*\(\((?:0x[0-9a-f]+|\d+)U(?:LL)? & (?:\([CSIQ]Data\)\()?(?:vlSelfRef\.)?"
                    r"([A-Za-z_]\w*(?:\[\w+\])?)\)?\)\s*\|")
"""What begins the value of a variable of which some bits stay."""


@dataclass
class Statement:
    """A statement and its accesses.

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


def _word(keys: list[str], index: str) -> str:
    """The key of the word that a constant index tells."""
    at = int(_NUMBER.findall(index)[0], 0)
    if at >= len(keys):
        raise NotKnown(f"word {at} of {keys[0]}")
    return keys[at]


def _arguments(text: str) -> list[str]:
    """The arguments of a call."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return found


class _Reader:
    def __init__(self, scope: Scope, text: str) -> None:
        self.members = scope.members
        self.variables = scope.variables
        self.outside = scope.outside
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
                            call and (not pure or name in PURE)):
                        continue
            if member is None:
                raise NotKnown(f"{name} in {text.strip()[:80]}")
            keys = member.keys
            if index and not member.whole and member.words:
                keys = [_word(keys, index)]
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
            self._acts(text)
            return
        at = -1 if text.startswith(("while", "do")) else _equals(text)
        if at >= 0:
            self._assignment(text[:at].strip(), text[at + 1:], sure)
        elif called := _OPERATOR.match(text):
            inside, end = enclosed(text, called.end() - 1)
            if text[end:].strip() != ";":
                raise NotKnown(text[:80])
            self._call(called[1], inside, sure)
        elif text.startswith(("while", "do")):
            self._any(text)
        else:
            raise NotKnown(text[:80])

    def _acts(self, text: str) -> None:
        """A statement that does something outside the model."""
        called = _CALL.match(text)
        parameters = self.outside.get(called[1]) if called else None
        if not called or parameters is None:
            self._any(text)
            return
        inside, end = enclosed(text, called.end() - 1)
        arguments = _arguments(inside)
        if text[end:].strip() != ";" or len(arguments) != len(parameters):
            raise NotKnown(text[:80])
        for argument, parameter in zip(arguments, parameters, strict=True):
            if _HANDED_OVER.search(_COMMENT.sub("", parameter)):
                self._any(argument)
            else:
                self.read(argument)

    def _any(self, text: str) -> None:
        """Whatever occurs is read, and perhaps written."""
        self.read(text, pure=False)
        for member, keys in list(self._keys(text, False)):
            self.write(member, keys, False)

    def _call(self, name: str, inside: str, sure: bool) -> None:
        """A statement that is a call of ``name`` with the arguments ``inside``."""
        arguments = _arguments(inside)
        if name in FILLING:
            place = next((at for at, one in enumerate(arguments) if not _WIDTH.fullmatch(one)), -1)
        else:
            place = INSERTING.get(name, -1)
            sure = False
        if not 0 <= place < len(arguments):
            raise NotKnown(f"{name}({inside.strip()[:80]})")
        member, index = self._target(arguments.pop(place).strip())
        if member.memory or (index and (name in FILLING or not _CONSTANT.fullmatch(index))):
            raise NotKnown(f"{name}({inside.strip()[:80]})")
        for one in arguments:
            self.read(one)
        # The bits that stay are no input, as in an assignment.
        self.write(member, [_word(member.keys, index)] if index and not member.whole
                   else member.keys, sure)

    def _target(self, text: str) -> tuple[Member, str]:
        """The variable that is written, and which of its words: "[...]" or ""."""
        place = re.fullmatch(r"(vlSelfRef\.)?(\w+)\s*((?:\[.*\])?)", text, re.DOTALL)
        member = place and (self.members if place[1] else self.variables).get(place[2])
        if not place or member is None:
            raise NotKnown(text[:80])
        return member, place[3]

    def _assignment(self, target: str, value: str, sure: bool) -> None:
        member, index = self._target(target)
        one = bool(_CONSTANT.fullmatch(index))
        if member.memory or (index and not one) or (member.whole and member.words):
            # Which word it is depends on the index.
            self.read(value)
            self.read(index)
            self.write(member, member.keys, False)
            return
        keys = [_word(member.keys, index)] if index else member.keys
        kept = _SLICE.match(value)
        if kept and kept[1] == member.name + index:
            # The bits that stay are no input: nobody else writes the others unseen.
            self.read(value[kept.end():])
            self.write(member, keys, False)
            return
        self.read(value)
        self.write(member, keys, sure)


def read_keys(text: str, scope: Scope) -> set[str]:
    """Returns what an expression reads."""
    reader = _Reader(scope, text)
    reader.read(text)
    return reader.found.reads | reader.found.locals


def statement(text: str, scope: Scope) -> Statement:
    """Returns what ``text`` accesses.

    Raises
    ------
    NotKnown
        It is not of the forms known here.
    """
    reader = _Reader(scope, text)
    reader.take(text, True)
    return reader.found
