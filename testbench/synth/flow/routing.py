"""Follows nextpnr's router while it routes: its progress, and whether it will end."""

import re

from .tools import Progress

__all__ = ["BEGINS", "ENDS", "DoesNotRoute", "Routing"]

BEGINS, ENDS = 0.28, 0.97
"""Fraction of placing and routing that is done when routing begins and ends."""

_ALL = re.compile(r"Routing (\d+) arcs\.")
_ROW = re.compile(r"^Info: +(\d+) \| +\d+ +\d+ \| +\d+ +\d+ \| +(\d+)\|", re.MULTILINE)
_PATIENCE = 0.25
"""The router is taken not to end after this many tries without a new minimum of connections left,
as a fraction of all connections. The NICs that are routed always had a new minimum within a
fiftieth."""


class DoesNotRoute(Exception):
    """The router does not make the connections that are ``left`` of ``arcs``: for each one that it
    makes, it removes as many others."""

    def __init__(self, left: int, arcs: int, tries: int) -> None:
        super().__init__(f"{left} of {arcs}")
        self.left, self.arcs, self.tries = left, arcs, tries


class Routing:
    """Reads ``router1``'s table."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._arcs = 0
        self._fewest = 0
        self._at = 0

    def read(self, text: str) -> None:
        """Read more of the log, in whole lines.

        Raises
        ------
        DoesNotRoute
            The router makes no progress.
        """
        begun = _ALL.search(text)
        if begun:
            self._arcs = self._fewest = int(begun[1])
            self._at = 0
        rows = [(int(tries), int(left)) for tries, left in _ROW.findall(text)]
        if not rows or not self._arcs:
            return
        for tries, left in rows:
            if left < self._fewest:
                self._fewest, self._at = left, tries
            if tries - self._at > _PATIENCE * self._arcs:
                raise DoesNotRoute(left, self._arcs, tries)
        left = rows[-1][1]
        share = ENDS - (ENDS - BEGINS) * left / self._arcs
        self._progress(f"routing: {left:,} of {self._arcs:,} connections left",
                       round(1000 * share), 1000)
