"""Built simulators and firmware, as they travel from one cache to another.

A build is what a description needs of the cache: its simulator, and images for its NIC processor.
It is named as its simulator's entry in the cache, ``verilator/1f0c…``; that name is a hash of
sources, description, tools, their places and the machine, so that where it is the same, the
simulator runs. Images are of no machine.

What a measurement needs of the files of one's own, found by path, travels the same way: as entries
``outside/…``, named by the hash of their bytes.
"""

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...firmware import build as firmware
from ...layouts.description import Description
from ..simulators import cache, simulator
from ..testbed.measurement import Measurement

__all__ = ["OUTSIDE", "Build", "collected", "kept", "name", "outside", "present"]

OUTSIDE = "outside"
"""Folder of the cache with the files of objects from outside."""

Build = Mapping[str, Mapping[str, tuple[int, bytes]]]
"""Entries of the cache by name: the mode and the compressed content of each file, by its path."""


def name(wanted: Measurement) -> str | None:
    """The name of what ``wanted`` needs, here; None for what never travels: the logic of a board,
    and what is synthesised."""
    if wanted.synthesis or wanted.sim not in simulator.SIMULATORS:
        return None
    return _name(simulator.place(wanted.description, wanted.sim))


def present(build: str) -> bool:
    """True if the entry is in the cache."""
    return _place(build).is_dir()


def collected(build: str, description: Description) -> Build:
    """Returns what ``description`` needs, of its simulator's name ``build``, as far as it is in the
    cache."""
    places = [_place(build)]
    core = description.nic.processor
    if core != "none":
        places += [firmware.place(one, core, description.processor.memory)
                   for one in firmware.names()]
    return {_name(place): _packed(place) for place in places if place.is_dir()}


def outside(wanted: Measurement) -> Build:
    """The files of one's own that ``wanted`` needs: of each object that was found by path, its
    sources in its folder. Modules elsewhere, and what an entry point brings, must be installed
    where it is measured."""
    return {f"{OUTSIDE}/{one.digest}": _files(one.folder, [
        file for file in one.sources if file.is_relative_to(one.folder)])
        for one in wanted.outside if one.folder is not None}


def kept(build: Build) -> None:
    """Put the entries into the cache that it has not."""
    for entry, files in build.items():
        def write(work: Path, files: Mapping[str, tuple[int, bytes]] = files) -> None:
            for path, (mode, content) in files.items():
                place = work / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(zlib.decompress(content))
                place.chmod(mode)

        cache.entry("", (), write, place=_place(entry))


def _packed(place: Path) -> dict[str, tuple[int, bytes]]:
    return _files(place, [path for path in sorted(place.rglob("*")) if path.is_file()])


def _files(place: Path, files: Iterable[Path]) -> dict[str, tuple[int, bytes]]:
    return {path.relative_to(place).as_posix(): (path.stat().st_mode & 0o777,
                                                 zlib.compress(path.read_bytes()))
            for path in files}


def _name(place: Path) -> str:
    return place.relative_to(cache.root()).as_posix()


def _place(entry: str) -> Path:
    return cache.root().joinpath(*entry.split("/"))
