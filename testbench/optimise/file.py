"""A search's file in TOML."""

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..sweeps.file import BASE, checked, flat, started
from .search import Search, searched

__all__ = ["read"]

_KINDS: dict[str, type | tuple[type, ...]] = {
    **BASE, "vary": dict, "minimise": list, "maximise": list, "constraints": list, "trials": int,
    "seed": int}


def read(path: Path, *, trials: int | None = None, seed: int | None = None, **given: Any
         ) -> Search:
    """The search in file ``path``; what is ``given`` stands in place of what the file says.

    Raises
    ------
    UserError
        The file cannot be read, or is no search.
    """
    table = checked(path, _KINDS, "search", texts=("minimise", "maximise", "constraints"))
    try:
        return searched(flat(table.get("vary", {})), table.get("minimise", ()),
                        maximise=table.get("maximise", ()), where=table.get("constraints", ()),
                        trials=table.get("trials", 20) if trials is None else trials,
                        seed=table.get("seed", 1) if seed is None else seed, title=path.stem,
                        **started(table, given))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
