"""Reads what Verilator wrote: the members of a model, and its statements by what triggers them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ROOT", "VARIABLE", "Function", "Member", "Model", "NotKnown", "Phase", "Scope",
           "enclosed", "is_slow", "read_model", "statements"]

ROOT = "___024root"
"""What follows a model's name in the name of the class of its variables."""

VARIABLE = re.compile(r"\bvlSelfRef\.(\w+)")
"""A variable of the model in a statement."""

LARGE = 24
"""A wide variable of more words than that is watched as a whole."""


class NotKnown(Exception):
    """The C++ has a form that is not known here."""


@dataclass(frozen=True)
class Member:
    """A variable of C++ type ``type``; a wide one has ``words``, otherwise 0; of a ``memory`` any
    word may be accessed."""

    name: str
    type: str
    words: int = 0
    memory: bool = False

    @property
    def whole(self) -> bool:
        """Tells whether accesses to all parts of it count as accesses to one thing."""
        return self.memory or not 0 < self.words <= LARGE

    @property
    def keys(self) -> list[str]:
        """Returns what of it is watched: itself, or each word."""
        return [self.name] if self.whole else [f"{self.name}[{at}U]" for at in range(self.words)]


@dataclass(frozen=True)
class Function:
    """A function without arguments but the model: its place in ``file``, variables, statements."""

    name: str
    file: Path
    span: tuple[int, int]
    variables: dict[str, tuple[Member, str]]
    """Local ones, each with its declaration."""
    body: list[str]


@dataclass
class Phase:
    """Statements that are executed together, if a trigger of ``mask`` is set; those of None in each
    evaluation, before there are triggers."""

    mask: int | None
    variables: dict[str, tuple[Member, str]] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scope:
    """The meaning of names in a statement: a variable of the model, one of the function, or a
    function outside the model, of which there is the text of each parameter."""

    members: Mapping[str, Member]
    variables: Mapping[str, Member] = field(default_factory=dict)
    outside: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """A model's C++: its name, its variables, those that are top inputs or outputs, those that are
    inputs, its phases in their order, the functions that they replace, the text of each file that
    may be rewritten, and the functions outside the model that it calls, each with the text of its
    parameters."""

    name: str
    members: dict[str, Member]
    ports: set[str]
    inputs: set[str]
    phases: list[Phase]
    replaced: list[Function]
    texts: dict[Path, str]
    outside: dict[str, list[str]] = field(default_factory=dict)

    def scope(self, phase: Phase) -> Scope:
        """Returns what names in the statements of a phase stand for."""
        return Scope(self.members, {name: member for name, (member, _) in phase.variables.items()},
                     self.outside)


_SCALAR = {"8": "CData", "16": "SData", "": "IData", "64": "QData"}
_MEMBER = re.compile(r"^\s+(?:([CSIQ]Data)|VlWide<(\d+)>)/\*\d+:\d+\*/ (\w+);", re.MULTILINE)
_PORT = re.compile(r"^\s+VL_(IN|OUT)(8|16|64|W|)\(&?(\w+),\d+,\d+(?:,(\d+))?\);", re.MULTILINE)
_MEMORY = re.compile(r"^\s+VlUnpacked<.*> (\w+);", re.MULTILINE)
_LOCAL = re.compile(r"(?:([CSIQ]Data)/\*\d+:\d+\*/|VlWide<(\d+)>/\*\d+:\d+\*/) (\w+);")
_TRIGGER = re.compile(r"if \(\((0x[0-9a-f]+|\d+)ULL & vlSelfRef\.__VnbaTriggered\[0U\]\)\) \{")
_MARK = re.compile(r"[{}();]")
_CALLED = re.compile(r"\b(\w+)\(vlSelf\);")
_PAIRS = {"{": re.compile(r"[{}]"), "(": re.compile(r"[()]")}
_OUTSIDE = re.compile(r"^void (\w+Vdpiimwrap\w+)\(([^;{]*?)\)(?=\s*[{;])", re.MULTILINE)


def is_slow(file: Path) -> bool:
    """Tells whether what is in ``file`` runs once, before the first evaluation of what is
    clocked."""
    return "__Slow" in file.name


def enclosed(text: str, opening: int) -> tuple[str, int]:
    """Returns what is between the bracket at ``opening`` and its other, and where that one ends."""
    bracket = text[opening]
    depth = 0
    for mark in _PAIRS[bracket].finditer(text, opening):
        depth += 1 if mark.group() == bracket else -1
        if not depth:
            return text[opening + 1:mark.start()], mark.end()
    raise NotKnown(f"no bracket that ends a {bracket}")


def statements(body: str) -> list[str]:
    """The statements of a block, a conditional one with all that it encloses."""
    found, begin, depth = [], 0, {"(": 0, "{": 0}
    for mark in _MARK.finditer(body):
        kind = mark.group()
        if kind in depth:
            depth[kind] += 1
            continue
        if kind != ";":
            depth["(" if kind == ")" else "{"] -= 1
        if any(depth.values()) or kind == ")":
            continue
        goes_on = "while" if body[begin:].lstrip().startswith("do ") else "else"
        if kind == "}" and re.match(rf"\s*{goes_on}\b", body[mark.end():mark.end() + 200]):
            continue
        found.append(body[begin:mark.end()].strip())
        begin = mark.end()
    if body[begin:].strip():
        raise NotKnown(body[begin:].strip()[:80])
    return [one for one in found if one != ";"]


def _members(header: str) -> dict[str, Member]:
    found = [Member(name, scalar or "EData", int(words or 0))
             for scalar, words, name in _MEMBER.findall(header)]
    found += [Member(name, _SCALAR.get(size, "EData"), int(words or 0))
              for _, size, name, words in _PORT.findall(header)]
    found += [Member(name, "", memory=True) for name in _MEMORY.findall(header)]
    return {one.name: one for one in found}


def _functions(name: str, texts: dict[Path, str]) -> dict[str, Function]:
    """Of logic. Those of one name in two files are not known."""
    opening = re.compile(rf"^void ({name}{ROOT}___(?:ico_|act_|nba_|eval_nba)\w*)"
                         rf"\({name}{ROOT}\* vlSelf\) \{{", re.MULTILINE)
    found: dict[str, Function] = {}
    for file, text in texts.items():
        for place in opening.finditer(text):
            inside, end = enclosed(text, place.end() - 1)
            head, separator, body = re.sub(r"^\s*//(?! Locals| Body).*$", "", inside,
                                   flags=re.MULTILINE).partition("// Body")
            variables, first = {}, []
            for one in statements(head.partition("// Locals")[2]):
                if declared := _LOCAL.fullmatch(one):
                    scalar, words, local = declared.groups()
                    variables[local] = Member(local, scalar or "EData", int(words or 0)), one
                else:
                    first.append(one)
            if place[1] in found or not separator:
                raise NotKnown(place[1])
            found[place[1]] = Function(place[1], file, (place.start(), end), variables,
                                       first + statements(body))
    return found


def _phases(name: str, functions: dict[str, Function]) -> tuple[list[Phase], list[Function]]:
    """In their order, and the functions that they come from."""
    evaluation = functions.get(f"{name}{ROOT}___eval_nba")
    if evaluation is None:
        raise NotKnown("no evaluation")
    phases: list[Phase] = []
    used = [evaluation]

    def add(mask: int | None, variables: dict[str, tuple[Member, str]], body: list[str]) -> None:
        if not body:
            return
        if not phases or phases[-1].mask != mask or phases[-1].variables.keys() & variables:
            phases.append(Phase(mask))
        phases[-1].variables.update(variables)
        phases[-1].body += body

    for function in functions.values():
        if "___ico_" in function.name:
            add(None, function.variables, function.body)
            used.append(function)
        elif "___act_" in function.name:
            raise NotKnown(function.name)
    if len(used) > 2:
        raise NotKnown("inputs in several functions")
    outer = evaluation.variables
    first = [one for one in evaluation.body if not one.startswith("if")]
    elsewhere: set[str] = set()
    placed: set[str] = set()

    def inline(mask: int, body: list[str]) -> None:
        """Statements of the evaluation itself, with those of its variables that they use."""
        names = {local for local in outer if any(re.search(rf"\b{local}\b", one) for one in body)}
        if names & elsewhere:
            raise NotKnown(f"{min(names & elsewhere)} in several places")
        elsewhere.update(names)
        begin = [one for one in first if any(re.search(rf"\b{local}\b", one) for local in names)]
        placed.update(begin)
        add(mask, {local: outer[local] for local in names}, begin + body)

    for one in evaluation.body[len(first):]:
        condition = _TRIGGER.match(one)
        if not condition:
            raise NotKnown(one[:80])
        inside, end = enclosed(one, condition.end() - 1)
        if one[end:].strip():
            raise NotKnown(one[end:end + 80])
        mask, body = int(condition[1], 0), list[str]()
        for inner in statements(inside):
            called = re.fullmatch(rf"({name}{ROOT}___nba_\w+)\(vlSelf\);", inner)
            if not called:
                body.append(inner)
                continue
            inline(mask, body)
            body = []
            function = functions.get(called[1])
            if function is None:
                raise NotKnown(called[1])
            used.append(function)
            add(mask, function.variables, function.body)
        inline(mask, body)
    # Whatever triggers, these come first: they may only prepare variables of one place.
    for one in first:
        if one not in placed or "vlSelf" in one:
            raise NotKnown(one[:80])
    if not phases:
        raise NotKnown("no statements")
    return phases, used


def read_model(work: Path, name: str) -> Model:
    """The model ``name`` that Verilator wrote to ``work``.

    Raises
    ------
    NotKnown
        Something is not of the forms known here.
    """
    header = work / f"{name}{ROOT}.h"
    ports = _PORT.findall(header.read_text())
    texts = {file: file.read_text() for file in sorted(work.glob(f"{name}{ROOT}__*.cpp"))}
    functions = _functions(name, {file: text for file, text in texts.items()
                                  if not is_slow(file)})
    phases, replaced = _phases(name, functions)
    called = Counter(callee for file, text in texts.items() if not is_slow(file)
                     for callee in _CALLED.findall(text))
    for function in functions.values():
        # A call from anywhere else would change variables behind the clusters' back.
        calls = called[function.name]
        if calls != (function in replaced):
            raise NotKnown(f"{function.name} is called {calls} times")
        if not calls:
            replaced.append(function)
    members = _members(header.read_text())
    return Model(name, members, {port for _, _, port, _ in ports},
                 {port for way, _, port, _ in ports if way == "IN"}, phases, replaced,
                 {header: header.read_text(), **texts},
                 {function: parameters.split(", ") for text in texts.values()
                  for function, parameters in _OUTSIDE.findall(text)})
