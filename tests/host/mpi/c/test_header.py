"""mpi.h, its definitions and its calls in Python are the same."""

import inspect
import re

from nicbed.host.mpi.c.handles import _OPS, _TYPES
from nicbed.host.mpi.c.header import calls, constants, definitions, text
from nicbed.host.mpi.c.parts import PARTS
from nicbed.host.mpi.constants import (
    ANY_SOURCE,
    ANY_TAG,
    PROC_NULL,
    SUBVERSION,
    UNDEFINED,
    VERSION,
)
from nicbed.host.mpi.errors import ErrorClass


def test_every_call_has_at_most_one_method_with_its_parameters():
    for call in calls():
        methods = [getattr(part, call.name) for part in PARTS if hasattr(part, call.name)]
        if not methods:
            continue
        [method] = methods
        names = list(inspect.signature(method).parameters)[1:]
        assert names[-1:] == ["arguments"] or len(names) == len(call.parameters), call.name
    named = {name for part in PARTS for name in vars(part) if name.startswith("MPI_")}
    assert named <= {call.name for call in calls()}


def test_every_declaration_is_read():
    whole = text()
    assert len(calls()) == whole.count(");\n") - len(re.findall(r"^typedef .*\(", whole, re.M))
    assert definitions().count("\n{ ") == len(calls())


def test_constants_are_the_librarys():
    for name, value in {"ANY_SOURCE": ANY_SOURCE, "ANY_TAG": ANY_TAG, "PROC_NULL": PROC_NULL,
                        "UNDEFINED": UNDEFINED, "VERSION": VERSION,
                        "SUBVERSION": SUBVERSION}.items():
        assert constants()[f"MPI_{name}"] == ("", value)
    for one in ErrorClass:
        assert constants()[f"MPI_{one.name}"] == ("", int(one))


def test_every_predefined_handle_stands_for_something():
    for kind, table in (("MPI_Datatype", _TYPES), ("MPI_Op", _OPS)):
        declared = {name for name, (type_, value) in constants().items() if type_ == kind and value}
        values = {constants()[name][1] for name in declared}
        assert {constants()[f"MPI_{name}"][1] for name in table} == values
