"""``nicbed store``: lists, prunes and verifies stored results and built simulators."""

import json
from collections.abc import Sequence
from typing import Any

from ..errors import UserError
from ..results.tables import console, table
from ..store.store import NONE, VARIABLE, Store, age, standard
from ..store.upkeep import KINDS, Kept, kept, parse_age, parse_size, prune, verify
from ..wording import counted
from .output import MODE, Mode

__all__ = ["run_list", "run_prune", "run_verify"]

ROWS = 40
"""Entries that are listed; the JSON has all."""


def run_list(kinds: Sequence[str]) -> None:
    """Print what is kept, the one used last first."""
    store = standard()
    found = kept(store, kinds or KINDS)
    if MODE.get() is Mode.JSON:
        print(json.dumps([{"kind": one.kind, "what": one.what, "path": str(one.path),
                           "bytes": one.bytes, "used": one.used} for one in found], indent=2))
        return
    out = console()
    for kind in kinds or KINDS:
        mine = [one for one in found if one.kind == kind]
        place = f" in {store.root}" if kind == "results" and store is not None else ""
        rows = [(one.what, one.path.stem[:10], _megabytes(one.bytes), age(one.used))
                for one in mine[:ROWS]]
        caption = f"and {len(mine) - ROWS} that were used before" if len(mine) > ROWS else None
        out.print(table(f"{len(mine)} {kind}, {_megabytes(sum(one.bytes for one in mine))} MB"
                        + place, ["what", "key", "MB", "used"], rows, caption=caption))


def run_prune(kinds: Sequence[str], older: str | None, larger: str | None) -> None:
    """Remove what is older, and what is beyond the size."""
    if older is None and larger is None:
        raise UserError("prune needs --age, such as 30d, or --size, such as 500MB")
    seconds = None if older is None else parse_age(older)
    size = None if larger is None else parse_size(larger)
    gone = prune(kept(standard(), kinds or KINDS), older=seconds, larger=size)
    _say({"removed": len(gone), "bytes": sum(one.bytes for one in gone)}, _removed(gone))


def run_verify() -> None:
    """Compare each result with the hash that is kept beside it."""
    whole, wrong = verify(_store())
    if wrong:
        for line in wrong[:-1]:
            console(stderr=True).print(f"nicbed: {line}", markup=False, soft_wrap=True)
        raise UserError(f"{wrong[-1]}; damaged: {len(wrong)} of "
                        f"{counted(whole + len(wrong), 'result')}, which are measured again when "
                        "they are asked for", status=1)
    _say({"whole": whole}, f"{counted(whole, 'result')}, each as it was kept")


def _store() -> Store:
    store = standard()
    if store is None:
        raise UserError(f"{VARIABLE} = {NONE}: there is no store")
    return store


def _removed(gone: Sequence[Kept]) -> str:
    each = [counted(sum(one.kind == kind for one in gone), kind.removesuffix("s"))
            for kind in KINDS]
    return f"removed {' and '.join(each)}, {_megabytes(sum(one.bytes for one in gone))} MB"


def _say(document: dict[str, Any], line: str) -> None:
    print(json.dumps(document) if MODE.get() is Mode.JSON else line)


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.2f}"
