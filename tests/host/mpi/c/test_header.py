"""mpi.h, its definitions and its calls in Python are the same."""

import inspect

from nicbed.host.mpi.c.calls import Environment
from nicbed.host.mpi.c.collective import Collective
from nicbed.host.mpi.c.handles import _OPS, _TYPES
from nicbed.host.mpi.c.header import HEADER, calls, constants, definitions
from nicbed.host.mpi.c.messages import Messages
from nicbed.host.mpi.c.types import Types
from nicbed.host.mpi.constants import ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED
from nicbed.host.mpi.errors import ErrorClass

PARTS = (Environment, Messages, Collective, Types)


def test_every_call_has_one_method_with_its_parameters():
    for call in calls():
        [method] = [getattr(part, call.name) for part in PARTS if hasattr(part, call.name)]
        names = list(inspect.signature(method).parameters)[1:]
        assert names == ["arguments"] or len(names) == len(call.parameters), call.name
    named = {name for part in PARTS for name in vars(part) if name.startswith("MPI_")}
    assert named <= {call.name for call in calls()}


def test_every_declaration_is_read():
    text = HEADER.read_text()
    assert len(calls()) == text.count(");\n") - text.count("typedef void")
    assert definitions().count("\n{ ") == len(calls())


def test_constants_are_the_librarys():
    for name, value in {"ANY_SOURCE": ANY_SOURCE, "ANY_TAG": ANY_TAG, "PROC_NULL": PROC_NULL,
                        "UNDEFINED": UNDEFINED}.items():
        assert constants()[f"MPI_{name}"] == ("", value)
    for one in ErrorClass:
        assert constants()[f"MPI_{one.name}"] == ("", int(one))


def test_every_predefined_handle_stands_for_something():
    for kind, table in (("MPI_Datatype", _TYPES), ("MPI_Op", _OPS)):
        declared = {name for name, (type_, value) in constants().items() if type_ == kind and value}
        values = {constants()[name][1] for name in declared}
        assert {constants()[f"MPI_{name}"][1] for name in table} == values
