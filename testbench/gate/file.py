"""A gate file: descriptions, their benchmarks, and the accepted values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UserError, nearest
from ..results import document as files
from ..sweeps.file import overrides, toml

__all__ = ["NAME", "NONE", "Entry", "Gate", "Value", "accept", "first", "one_line", "read"]

NAME = "nicbed-gate.toml"
"""The file, if nobody says otherwise."""
NONE = "none"
"""Value of a figure that a run does not show."""

Value = int | float | str
"""An accepted value: a number as the result file has it, or :data:`NONE`."""

_TOP: dict[str, type] = {"reason": str, "gate": list}
_KINDS: dict[str, type] = {"name": str, "nic": str, "set": dict, "nodes": int, "layer": str,
                           "bench": list, "why": bool, "accepted": dict}
_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table",
          bool: "true or false"}


@dataclass(frozen=True)
class Entry:
    """A description and its benchmarks.

    Attributes
    ----------
    name
        What reports call it.
    nic
        The description: a file, seen from the gate file's folder, or a name.
    benches
        The benchmarks.
    overrides
        Knobs as texts, ``"link.latency=12"``.
    nodes, layer
        As for :class:`nicbed.Testbed`; the benchmarks' own if None.
    why
        Whether a round trip in parts is held to, too.
    accepted
        By benchmark: the figures that are held to, with their values.
    """

    name: str
    nic: str
    benches: tuple[str, ...]
    overrides: tuple[str, ...] = ()
    nodes: int | None = None
    layer: str | None = None
    why: bool = True
    accepted: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    def place(self, gate: Path) -> str:
        """The description for a testbed, whatever folder the process works in."""
        return _place(self.nic, gate)


def _place(nic: str, gate: Path) -> str:
    beside = gate.parent / nic
    return str(beside) if beside.is_file() else nic


@dataclass(frozen=True)
class Gate:
    """A gate file: its entries, and the reason of the last acceptance."""

    path: Path
    entries: tuple[Entry, ...]
    reason: str = ""

    def entry(self, name: str | None = None) -> Entry:
        """The entry called ``name``, or the first one.

        Raises
        ------
        UserError
            There is none.
        """
        found = {one.name: one for one in self.entries}
        if name is None:
            return self.entries[0]
        if name not in found:
            raise UserError(f"{self.path}: no gate is called {name}{nearest(name, list(found))}")
        return found[name]


def read(path: Path) -> Gate:
    """The gate file ``path``.

    Raises
    ------
    UserError
        It cannot be read, or is no gate file.
    """
    table = toml(path)
    _kinds(str(path), table, _TOP, "gate file")
    tables = table.get("gate", [])
    if not tables or not all(isinstance(one, dict) for one in tables):
        raise UserError(f"{path}: a gate file has tables [[gate]]; `nicbed gate init` writes one")
    entries: list[Entry] = []
    for number, one in enumerate(tables, 1):
        where = f"{path}: gate {one.get('name', number)}"
        _kinds(where, one, _KINDS, "gate")
        entries.append(_entry(where, one, path))
        if entries[-1].name in {before.name for before in entries[:-1]}:
            raise UserError(f"{where}: another gate has that name")
    return Gate(path, tuple(entries), table.get("reason", ""))


def first(path: Path, entry: Entry) -> None:
    """Write a gate file with ``entry``, which has no accepted values yet.

    Raises
    ------
    UserError
        There is one, or it cannot be written.
    """
    import tomlkit

    if path.exists():
        raise UserError(f"{path}: is there; add tables [[gate]] to it, and accept")
    made = tomlkit.document()
    made.add(tomlkit.comment("What `nicbed gate check` holds to, to the last digit."))
    made["reason"] = ""
    table = tomlkit.table()
    table.update({"name": entry.name, "nic": entry.nic, "bench": list(entry.benches)})
    for name in ("nodes", "layer"):
        if getattr(entry, name) is not None:
            table[name] = getattr(entry, name)
    if not entry.why:
        table["why"] = False
    if entry.overrides:
        from ..descriptions.load import parse_set

        table["set"] = dict(map(parse_set, entry.overrides))
    entries = tomlkit.aot()
    entries.append(table)
    made["gate"] = entries
    files.save(path, tomlkit.dumps(made).encode())


def accept(gate: Gate, values: Mapping[str, Mapping[str, Mapping[str, Value]]], reason: str
           ) -> None:
    """Write ``values``, by entry, benchmark and figure, into the file, with the ``reason``. Its
    comments stay.

    Raises
    ------
    UserError
        The file cannot be written.
    """
    import tomlkit

    made: Any = tomlkit.parse(gate.path.read_text(encoding="utf-8"))
    made["reason"] = one_line(reason)
    for number, entry in enumerate(gate.entries):
        table = made["gate"][number]
        kept = table.setdefault("accepted", tomlkit.table(is_super_table=True))
        for bench in [name for name in kept if name not in entry.benches]:
            del kept[bench]
        for bench, found in values[entry.name].items():
            kept.setdefault(bench, tomlkit.table()).update(found)
    files.save(gate.path, tomlkit.dumps(made).encode())


def one_line(reason: str) -> str:
    """``reason``, if it is one.

    Raises
    ------
    UserError
        It is empty, or more than a line.
    """
    if not reason.strip() or len(reason.strip().splitlines()) > 1:
        raise UserError("--reason: say in one line why the new values are right")
    return reason.strip()


def _entry(where: str, table: Mapping[str, Any], gate: Path) -> Entry:
    benches = table.get("bench", [])
    if not benches or not all(isinstance(one, str) for one in benches):
        raise UserError(f"{where}: bench must be a list of benchmarks, such as [\"logp\"]")
    accepted = table.get("accepted", {})
    for bench, found in accepted.items():
        if not isinstance(found, dict):
            raise UserError(f"{where}: accepted.{bench} must be a table of figures")
        for figure, value in found.items():
            if isinstance(value, bool) or not (isinstance(value, (int, float)) or value == NONE):
                raise UserError(f"{where}: accepted.{bench}: {figure} = {value!r}: must be a "
                                f"number or \"{NONE}\"")
    nic = table.get("nic", "default")
    try:
        changed = overrides(table.get("set", {}), _place(nic, gate))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return Entry(table.get("name", Path(nic).stem), nic, tuple(dict.fromkeys(benches)),
                 changed, table.get("nodes"), table.get("layer"),
                 table.get("why", True),
                 {bench: accepted[bench] for bench in benches if bench in accepted})


def _kinds(where: str, table: Mapping[str, Any], kinds: Mapping[str, type], what: str) -> None:
    """Refuse keys that are unknown or of another kind."""
    names: Sequence[str] = list(kinds)
    for name, value in table.items():
        if name not in kinds:
            raise UserError(f"{where}: a {what} has no {name}{nearest(name, list(names))}")
        if not isinstance(value, kinds[name]) or isinstance(value, bool) != (kinds[name] is bool):
            raise UserError(f"{where}: {name} must be {_WORDS[kinds[name]]}")
