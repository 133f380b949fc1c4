"""The connection to a cluster, or one line that says why there is none."""

import json
import logging
import queue
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..sweeps.executor import Ended

__all__ = ["SECONDS", "connected"]

SECONDS = 5
"""Time in which a scheduler must answer."""
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.comm")


@contextmanager
def connected(address: Any) -> Iterator[Any]:
    """A client of the cluster at ``address``: of a scheduler, such as ``tcp://host:8786``, or the
    scheduler's file; or ``address`` itself, if it is a client.

    Raises
    ------
    Ended
        There is no cluster, or Dask is not installed.
    """
    if not isinstance(address, (str, Path)):
        yield address
        return
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise Ended("--dask needs distributed: pip install 'nicbed[cluster]'") from None
    with _quiet():
        client = _client(str(address))
        try:
            yield client
        finally:
            client.close(timeout=SECONDS)


def _client(address: str) -> Any:
    """A client of the scheduler at ``address``; what answers nothing must not hold it up."""
    from distributed import Client

    where: dict[str, Any] = {"address": address}
    if Path(address).is_file():
        _check(address, _address_in(address))
        where = {"scheduler_file": address}
    elif address.endswith(".json"):  # Dask would wait for it
        raise Ended(f"--dask {address}: no such file")
    else:
        _check(address, address)
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def connect() -> None:
        try:
            found.put(Client(**where, timeout=SECONDS, set_as_default=False, name="nicbed"))
        except Exception as error:
            found.put(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        client = found.get(timeout=SECONDS + 1)
    except queue.Empty:
        raise Ended(f"--dask {address}: what is there does not answer as a scheduler of Dask"
                    ) from None
    if isinstance(client, Exception):
        raise Ended(f"--dask {address}: there is no cluster: "
                    f"{str(client) or type(client).__name__}") from None
    return client


def _check(given: str, address: str) -> None:
    """Refuse an ``address`` that can be none, which comes of what the user has ``given``: a client
    of Dask that has begun to connect to it does not end without a word of its own."""
    from distributed import Security
    from distributed.comm.addressing import parse_address
    from distributed.comm.registry import get_backend

    try:
        scheme, place = parse_address(address)
        with warnings.catch_warnings(action="ignore"):
            get_backend(scheme).get_address_host(place)
    except Exception as error:  # each kind of address has its own
        why = str(error).partition("\n")[0]
        raise Ended(f"--dask {given}: there is no cluster: {why}") from None
    if scheme in ("tls", "wss") and not Security().get_connection_args("client")["ssl_context"]:
        raise Ended(f"--dask {given}: {scheme} needs certificates: distributed.comm.tls of Dask's "
                    "configuration") from None


def _address_in(path: str) -> str:
    """The scheduler's address in its file. One that no scheduler has written is refused: Dask would
    read it again and again."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Ended(f"--dask {path}: is no file of a scheduler: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        raise Ended(f"--dask {path}: is no file of a scheduler: it has no address")
    address: str = found["address"]
    return address


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what Dask logs: what is wrong is an error of nicbed, in one line."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.setLevel(level)
