"""The control block of an endpoint, in its process's memory."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...layouts.am2 import HANDLERS, NONE, TRANSLATIONS
from .endpoint_name import EndpointName
from .translation import Translation

__all__ = ["ControlBlock", "Get", "Handler"]

Handler = Callable[..., Any]
EPOCHS = 256
"""Numbers of tags that are known."""


class Get(NamedTuple):
    """Data that have been asked for: where they go, and what then runs."""

    offset: int
    handler: int
    arguments: tuple[int, ...]


class ControlBlock:
    """Endpoint ``name``: tag, segment, handlers, translations. Its queues are the ways'.

    Attributes
    ----------
    bundle
        The bundle that it is in.
    tag, epoch
        Its tag, and how often that has changed, modulo EPOCHS.
    tags
        The tag that each epoch had: a reply must have come to the tag that its request was sent
        with.
    segment
        Base and bytes of the memory that transfers go into.
    outstanding
        Requests that have had no reply yet.
    gets
        Those of them that ask for data, by number.
    parts
        What each way keeps about it, by the way.
    open
        Whether it is still allocated.
    """

    __slots__ = ("name", "bundle", "tag", "epoch", "tags", "segment", "handlers", "translations",
                 "outstanding", "gets", "parts", "open")

    def __init__(self, name: EndpointName, bundle: Any) -> None:
        self.name = name
        self.bundle = bundle
        self.tag = NONE
        self.epoch = 0
        self.tags = [NONE] * EPOCHS
        self.segment: tuple[int, int] = (0, 0)
        self.handlers: list[Handler | None] = [None] * HANDLERS
        self.translations: list[Translation | None] = [None] * TRANSLATIONS
        self.outstanding = 0
        self.gets: dict[int, Get] = {}
        self.parts: dict[Any, Any] = {}
        self.open = True

    def set_tag(self, tag: int) -> None:
        """Change the tag."""
        if tag != self.tag:
            self.epoch = (self.epoch + 1) % EPOCHS
            self.tags[self.epoch] = self.tag = tag
