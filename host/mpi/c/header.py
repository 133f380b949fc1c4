"""The calls and constants of mpi.h, and the definitions of its calls in C."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["Call", "INCLUDE", "calls", "constants", "definitions", "profiling",
           "text"]

INCLUDE = Path(__file__).with_name("include")
"""The folder for the compiler."""
_PARTS = re.compile(r'^#include "(nicbed_mpi/\w+\.h)"$', re.MULTILINE)
_CALL = re.compile(r"^(int|double|void) (\w+)\(([^)]*)\);", re.MULTILINE)
_CONSTANT = re.compile(r"^#define (MPI_\w+) (?:\(\((\w+)(?: \*+)?\) )?\(?(-?\d+)\)*$", re.MULTILINE)
_SAME = re.compile(r"^#define (MPI_\w+) (MPI_\w+)$", re.MULTILINE)


class Call(NamedTuple):
    """A call: its result's type, its name, and type and name of each parameter. A result that is no
    code is one more parameter, the place for it."""

    result: str
    name: str
    parameters: tuple[tuple[str, str], ...]


@cache
def text() -> str:
    """mpi.h with the parts that it includes."""
    whole = (INCLUDE / "mpi.h").read_text(encoding="utf-8")
    return "\n".join([whole, *((INCLUDE / part).read_text(encoding="utf-8")
                               for part in _PARTS.findall(whole))])


@cache
def calls() -> tuple[Call, ...]:
    """All calls, in their order; a call's place is the number by which C calls Python."""
    return tuple(Call(result, name, (*(_parameter(one) for one in inside.split(",")
                                       if one.strip() not in ("void", "...")),
                                     *([("double", "result")] if result == "double" else [])))
                 for result, name, inside in _CALL.findall(text()))


def _parameter(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"\s*(.*?)(\w+)((?:\[\d*\])*)\s*", text, re.DOTALL)
    assert found is not None
    kind, name, array = found.groups()
    return " ".join(kind.split()) + (" *" if array else ""), name


@cache
def constants() -> dict[str, tuple[str, int]]:
    """Type ("" for a plain number) and value of each constant."""
    found = {name: (kind, int(value)) for name, kind, value in _CONSTANT.findall(text())}
    found.update({name: found[other] for name, other in _SAME.findall(text())})
    return found


def definitions() -> str:
    """The calls' definitions: each hands its arguments, as words, to ``nicbed_call``. A double goes
    by its address, and so does the place of a result that is none of the calls' own codes. A call
    is ``PMPI_`` and what follows; a program may have a function of its own under its name with
    MPI_, and calls the other one from there."""
    made = ['#include "mpi.h"\n']
    for number, (result, name, parameters) in enumerate(calls()):
        words = [f"(nicbed_word) {'&' if kind == 'double' else ''}{one}"
                 for kind, one in parameters]
        given = f"nicbed_call({number}, (nicbed_word[]) {{{', '.join(words) or '0'}}})"
        inside = {"int": f"return {given};", "void": f"{given};",
                  "double": f"double result; {given}; return result;"}[result]
        if not name.startswith("MPI_"):
            made.append(f"{_declared(name)}\n{{ {inside} }}\n")
            continue
        other = _declared(name).replace(name, f"P{name}", 1)
        made.append(f"{other}\n{{ {inside} }}\n"
                    f'__attribute__((weak, alias("P{name}"))) {_declared(name)};\n')
    names = ",\n    ".join(f'"{call.name}"' for call in calls())
    made.append(f"static const char *nicbed_name(int number)\n{{\n    static const char *const "
                f"names[] = {{\n    {names}\n    }};\n    return number < 0 ? \"a function\" : "
                "names[number];\n}\n")
    return "\n".join(made)


def profiling() -> str:
    """The header that declares the calls' other names, which begin with PMPI_."""
    return "".join(f"{_declared(call.name).replace(call.name, f'P{call.name}', 1)};\n"
                   for call in calls() if call.name.startswith("MPI_"))


@cache
def _prototypes() -> dict[str, str]:
    return {found[2]: found[0].rstrip(";") for found in _CALL.finditer(text())}


def _declared(name: str) -> str:
    return _prototypes()[name]
