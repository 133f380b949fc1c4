"""Nothing takes more than eight parameters, but what a reason is given for."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 8

_MPI = "the arguments of MPI's own call, in its order"
_GM = "the arguments of GM's own call, in its order"
_PACKET = "the fields of one packet, given once, where it is made; on the path of messages"
_FIELDS = "the fields of what is made, each given by name, in one place"

WAIVED = {
    "packets: Packets.launch": _PACKET,
    "queues: complete": "the fields of one completion, given once, where it is made",
    "requests: Send.__init__": _PACKET,
    "send: Sender.pack": _PACKET,
    "datatype: Datatype.__init__": _FIELDS,
    "report: document": _FIELDS,
    "lab: Lab.run": "switches of a run, public by these names",
    "netlist: netlist": "options of one yosys script, each with a default but for pads",
    "arrays: darray": _MPI,
    "collective: _allgatherv": _MPI,
    "collective: _alltoallv": _MPI,
    "collective: _alltoallw": _MPI,
    "collective: _gather": _MPI,
    "collective: _gatherv": _MPI,
    "collective: _scatter": _MPI,
    "collective: _scatterv": _MPI,
    "made: Made.MPI_Type_create_darray": _MPI,
    "messages: Messages.MPI_Sendrecv": _MPI,
    "messages: Messages.MPI_Sendrecv_replace": _MPI,
    "neighbours: _allv": _MPI,
    "neighbours: _allw": _MPI,
    "neighbours: _gatherv": _MPI,
    "topologies: Topologies.MPI_Dist_graph_create": _MPI,
    "topologies: Topologies.MPI_Dist_graph_create_adjacent": _MPI,
    "windows: Windows._fetches": _MPI,
    "windows: Windows._moves": _MPI,
    "gm: Gm.gm_directed_send_with_callback": _GM,
    "gm: Gm.gm_send_with_callback": _GM,
    "sending: Sends.directed": _GM,
    "sending: Sends.send": _GM,
}
"""Functions by file and name, and why. Do not add any: make an object of what belongs together."""


def wide(source: str, most: int = MOST) -> Iterator[tuple[str, int]]:
    """The functions of ``source`` with more than ``most`` parameters, and how many they have:
    without self and cls; ``*args`` and ``**options`` are one each."""
    def within(node: ast.AST, names: tuple[str, ...], of_class: bool) -> Iterator[tuple[str, int]]:
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.ClassDef):
                yield from within(one, (*names, one.name), True)
            elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                given = one.args
                count = sum(map(len, (given.posonlyargs, given.args, given.kwonlyargs)))
                count += (given.vararg is not None) + (given.kwarg is not None)
                bound = of_class and not any(isinstance(mark, ast.Name) and
                                             mark.id == "staticmethod"
                                             for mark in one.decorator_list)
                if count - bound > most:
                    yield ".".join((*names, one.name)), count - bound
                yield from within(one, (*names, one.name), False)
            else:
                yield from within(one, names, of_class)

    yield from within(ast.parse(source), (), False)


def test_a_function_takes_at_most_eight_parameters():
    found = {}
    for folder in ("rtl", "host", "testbench", "layouts", "firmware"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name, count in wide(path.read_text()):
                found[f"{path.stem}: {name}"] = f"{path.relative_to(ROOT)}: {name} takes {count}"
    more = [text for name, text in found.items() if name not in WAIVED]
    assert not more, f"more than {MOST} parameters:\n" + "\n".join(more)
    assert not set(WAIVED) - set(found), "these need no waiver any more"


def test_parameters_are_counted_as_a_caller_gives_them():
    source = """
def plain(a, b, /, c, *args, d=1, **options): ...
class Holder:
    def method(self, a, b): ...
    @classmethod
    def other(cls, a, b, c): ...
    @staticmethod
    def free(a, b):
        async def inner(a, b, c, d): ...
"""
    assert dict(wide(source, 0)) == {"plain": 6, "Holder.method": 2, "Holder.other": 3,
                                     "Holder.free": 2, "Holder.free.inner": 4}
    assert dict(wide(source, 3)) == {"plain": 6, "Holder.free.inner": 4}
