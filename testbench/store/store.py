"""Stores results in files, each under its key; a file is complete or does not exist.

An entry is two lines of JSON: what the entry is, with the hash of the second line; and the
document, with its keys in the order in which they were measured. Entries are written under another
name and renamed. Two processes may use a store at once: who wants to measure a key claims it, and
another one that wants the same waits and then finds the result.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..results import document as files
from ..simulators import cache

__all__ = ["FORMAT", "NONE", "VARIABLE", "Entry", "Store", "Trouble", "standard"]

FORMAT = 1
"""Version of the entries' form."""
VARIABLE = "NICBED_STORE"
"""Variable of the environment: the store's folder, or :data:`NONE`."""
NONE = "none"
_MARK = "store.json"


class Trouble(UserError):
    """The store, or an entry, cannot be used: one line. Nothing is lost: results are measured."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=1)


@dataclass(frozen=True)
class Entry:
    """An entry as it lies in the store: its file, its header, its bytes, and the time of its last
    use, in seconds of the system's clock."""

    path: Path
    about: Mapping[str, Any]
    bytes: int
    used: float


class Store:
    """A folder with results.

    Parameters
    ----------
    root
        The folder; it is made when the first result is kept.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, key: str) -> dict[str, Any] | None:
        """The document under ``key``, or None.

        Raises
        ------
        Trouble
            The store is of another version, or the entry is damaged or cannot be read.
        """
        path = self._place(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            self._check_version()
            return None
        except OSError as error:
            raise Trouble(f"{path}: cannot be read: {error.strerror}") from None
        document = opened(path, data)[1]
        with suppress(OSError):  # a store that is only read keeps its times
            os.utime(path)
        return document

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Keep ``document`` under ``key``, in place of what is there.

        Raises
        ------
        Trouble
            The store is of another version, full, or cannot be written.
        """
        self._check_version()
        body = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
        head = {"format": FORMAT, "key": key, "sha256": hashlib.sha256(body).hexdigest(),
                "benchmark": document["benchmark"], "layer": document["layer"],
                "sim": document["sim"], "nodes": document["config"]["fabric"]["nodes"],
                "config_hash": document["config_hash"]}
        try:
            mark = self.root / _MARK
            if not mark.exists():
                cache.folder(self.root, self.root)
                files.save(mark, json.dumps({"format": FORMAT}).encode() + b"\n")
            cache.folder(self._place(key).parent, self.root)
            files.save(self._place(key), json.dumps(head).encode() + b"\n" + body + b"\n")
        except OSError as error:
            raise Trouble(f"{self.root}: the store cannot be written: {error.strerror}") from None
        except UserError as error:
            raise Trouble(f"{error}") from None

    @contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Hold ``key`` while its result is looked up or measured; wait until no other process holds
        it. A process that ends, in whatever way, holds nothing. A store that cannot be written is
        held by nobody."""
        lock = self._place(key).with_suffix(".lock")
        try:
            cache.folder(lock.parent, self.root)
            file = self._locked(lock)
        except OSError:
            yield
            return
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()
            os.close(file)

    @staticmethod
    def _locked(lock: Path) -> int:
        while True:
            file = cache.lock_file(lock)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file), os.stat(lock)):
                        return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)  # who held it has removed it

    def entries(self) -> list[Entry]:
        """All entries, the one that was used last first; of a damaged one ``about`` is empty.

        Raises
        ------
        Trouble
            The store is of another version.
        """
        self._check_version()
        found = []
        for path in self.root.glob("??/*.json"):
            with suppress(OSError):
                state = path.stat()
                with path.open("rb") as file:
                    about = _header(file.readline())
                found.append(Entry(path, about, state.st_size, state.st_mtime))
        return sorted(found, key=lambda entry: (-entry.used, str(entry.path)))

    def _place(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.json"

    def _check_version(self) -> None:
        """Refuse a store whose entries have another form."""
        try:
            found = json.loads((self.root / _MARK).read_text(encoding="utf-8"))["format"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            found = "unknown"
        if found != FORMAT:
            raise Trouble(f"{self.root}: the store has format {found}, this nicbed has {FORMAT}: "
                          f"choose another folder with {VARIABLE}")


def opened(path: Path, data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and document of an entry.

    Raises
    ------
    Trouble
        It is damaged.
    """
    head, _, body = data.partition(b"\n")
    about = _header(head)
    if not about or about["key"] != path.stem or \
            about["sha256"] != hashlib.sha256(body.removesuffix(b"\n")).hexdigest():
        raise Trouble(f"{path}: the entry is damaged")
    return about, json.loads(body)


def _header(line: bytes) -> dict[str, Any]:
    """The header in ``line``; empty if it is none."""
    try:
        found = json.loads(line)
        return found if found["format"] == FORMAT and found["key"] and found["sha256"] else {}
    except (ValueError, KeyError, TypeError):
        return {}


def standard() -> Store | None:
    """The user's store: NICBED_STORE, or a folder in the cache of simulators; None if NICBED_STORE
    is ``none``."""
    chosen = os.environ.get(VARIABLE)
    if chosen == NONE:
        return None
    return Store(Path(chosen).absolute() if chosen else cache.root() / "results")


def age(seconds: float) -> str:
    """Time since ``seconds`` of the system's clock, for a reader."""
    past = max(time.time() - seconds, 0)
    for unit, scale in (("d", 86400), ("h", 3600), ("min", 60)):
        if past >= scale:
            return f"{past / scale:.0f} {unit}"
    return f"{past:.0f} s"
