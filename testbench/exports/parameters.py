"""The parameters of LogGP in seconds, from result files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..results.document import read

__all__ = ["Parameters", "parameters"]


@dataclass(frozen=True)
class Parameters:
    """LogGP in seconds, and seconds a byte: latency, overheads of sending and of receiving, gap,
    gap a byte. ``nodes`` is the fabric's, ``source`` says which result each comes from."""

    latency: float
    send: float
    receive: float
    gap: float
    byte_gap: float
    nodes: int
    source: str


def parameters(files: Sequence[Path]) -> Parameters:
    """LogGP from a result of ``logp`` and one of ``bulk`` or ``bandwidth``, on one description.

    G is that of ``bulk``'s asynchronous stores, else the inverse of ``bandwidth``'s best.

    Raises
    ------
    UserError
        A file cannot be read, a result is missing or there twice, or they are of different
        descriptions or layers.
    """
    small = bulk = None
    for path in files:
        document = read(path)
        if document["benchmark"] == "logp":
            small = _once(small, path, document)
        elif document["benchmark"] in ("bulk", "bandwidth"):
            bulk = _once(bulk, path, document)
    if small is None or bulk is None:
        raise UserError(f"an export needs results of logp and of bulk or bandwidth: "
                        f"{'logp' if small is None else 'bulk'} is missing")
    (one, measured), (other, sizes) = small, bulk
    for what in ("config", "layer"):
        if measured[what] != sizes[what]:
            raise UserError(f"{one} and {other}: are of different "
                            f"{'descriptions' if what == 'config' else 'layers'}")
    second = 1e-6 / measured["clock_mhz"]
    found = measured["results"]
    byte_gap = (sizes["results"]["store_async"]["G"] if sizes["benchmark"] == "bulk"
                else 1 / sizes["results"]["best"])
    return Parameters(found["L"] * second, found["o_s"] * second, found["o_r"] * second,
                      found["g"] * second, byte_gap * second,
                      measured["config"]["fabric"]["nodes"],
                      f"nicbed, {measured['layer']}: logp {measured['config_hash'][:10]}, "
                      f"{sizes['benchmark']} {sizes['config_hash'][:10]}")


def _once(before: Any, path: Path, document: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    if before is not None:
        raise UserError(f"{before[0]} and {path}: an export takes one result of "
                        f"{document['benchmark']}")
    return path, document
