"""Keeps a gate file's record beside it: configurations and round trips in parts, as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..results import document as files
from ..why.observation import Observation

__all__ = ["FORMAT", "Kept", "beside", "keep", "recall"]

FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """An entry as it was accepted: the configuration, as plain data; what ``nicbed why`` measures
    of it, without events, None where there is no round trip to split; and the area of each block of
    the NIC with what is inside, None where it is not held to."""

    config: Mapping[str, Any]
    split: Observation | None
    area: Mapping[str, Mapping[str, int]] | None = None


def beside(gate: Path) -> Path:
    """The file that belongs to ``gate``."""
    return gate.with_suffix(".json")


def keep(gate: Path, entries: Mapping[str, Kept]) -> None:
    """Write what the entries are.

    Raises
    ------
    UserError
        The file cannot be written.
    """
    plain = {name: {"config": dict(one.config), "split": None if one.split is None else
                    replace(one.split, events=[]).plain(),
                    **({} if one.area is None else {"area": one.area})}
             for name, one in entries.items()}
    files.save(beside(gate), files.text({"format": FORMAT, "gates": plain}).encode())


def recall(gate: Path) -> dict[str, Kept]:
    """Returns what the entries were; nothing if nothing was accepted yet.

    Raises
    ------
    UserError
        The file cannot be read, or is another one.
    """
    path = beside(gate)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise UserError(f"{path}: is of form {found['format']}, this nicbed reads {FORMAT}: "
                            "remove it and accept again")
        return {name: Kept(dict(one["config"]), None if one["split"] is None
                           else Observation.of(one["split"]), _area(one.get("area")))
                for name, one in found["gates"].items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        raise UserError(f"{path}: is not what `nicbed gate accept` writes: restore it, or remove "
                        "it and accept again") from None


def _area(found: Any) -> dict[str, dict[str, int]] | None:
    return None if found is None else {block: {cell: int(count) for cell, count in one.items()}
                                       for block, one in found.items()}
