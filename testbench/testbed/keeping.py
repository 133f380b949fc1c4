"""A result from the store, or measured now and kept there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import UserError
from ..results import document as files
from ..store import Store, Trouble, key
from .measurement import Measurement

__all__ = ["Found", "kept"]


@dataclass(frozen=True)
class Found:
    """A document; ``stored``: it is from the store; ``checked``: it was measured now, and the store
    had the same."""

    document: dict[str, Any]
    stored: bool = False
    checked: bool = False


def kept(store: Store, wanted: Measurement, limit: int | None, run: Callable[[], dict[str, Any]],
         warn: Callable[[str], None], *, again: bool = False) -> Found:
    """The document of ``wanted`` in ``store``, or that of ``run``, which is then kept.

    Trouble with the store is told by ``warn``, and the result is measured. ``again``: run in any
    case, and compare with what the store has.

    Raises
    ------
    UserError
        It is not the same.
    """
    name = key(wanted, limit)
    with store.claim(name):
        before: dict[str, Any] | None = None
        try:
            before = store.get(name)
        except Trouble as trouble:
            warn(f"{trouble}; measuring")
        if before is not None and not again:
            return Found(before, stored=True)
        document = run()
        if before is not None:
            _compare(before, document, name)
            return Found(document, checked=True)
        try:
            store.put(name, document)
        except Trouble as trouble:
            warn(f"{trouble}; the result is not kept")
        return Found(document)


def _compare(before: dict[str, Any], now: dict[str, Any], name: str) -> None:
    """Refuse another result than before."""
    if files.text(before) != files.text(now):
        place, then, found = next(_differences("", before, now))
        raise UserError(f"{now['benchmark']}: is not what the store has: {place} was {then}, is "
                        f"{found}: something beside description, program and sources changes it "
                        f"(entry {name})", status=1)


def _differences(place: str, before: Any, now: Any) -> Any:
    """Each place at which two documents differ, with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in [*before, *(name for name in now if name not in before)]:
            yield from _differences(f"{place}.{name}".lstrip("."), before.get(name), now.get(name))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(f"{place}[{index}]", one, other)
    elif before != now:
        yield place, _short(before), _short(now)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
