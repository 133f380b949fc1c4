"""The control block of an endpoint, in its process's memory."""

from collections.abc import Callable
from typing import Any

from ...layouts.am2 import HANDLERS, NONE, TRANSLATIONS
from .endpoint_name import EndpointName
from .translation import Translation

__all__ = ["ControlBlock", "Handler"]

Handler = Callable[..., Any]


class ControlBlock:
    """Endpoint ``name``: tag, segment, handlers, translations. Its queues are the ways'.

    Attributes
    ----------
    bundle
        The bundle that it is in.
    tag, epoch
        Its tag, and how often that has changed, modulo 256.
    segment
        Base and bytes of the memory that transfers go into.
    outstanding
        Requests that have had no reply yet.
    parts
        What each way keeps about it, by the way.
    open
        Whether it is still allocated.
    """

    __slots__ = ("name", "bundle", "tag", "epoch", "segment", "handlers", "translations",
                 "outstanding", "parts", "open")

    def __init__(self, name: EndpointName, bundle: Any) -> None:
        self.name = name
        self.bundle = bundle
        self.tag = NONE
        self.epoch = 0
        self.segment: tuple[int, int] = (0, 0)
        self.handlers: list[Handler | None] = [None] * HANDLERS
        self.translations: list[Translation | None] = [None] * TRANSLATIONS
        self.outstanding = 0
        self.parts: dict[Any, Any] = {}
        self.open = True
