"""An entry of an endpoint's translation table."""

from dataclasses import dataclass
from typing import Any

from .endpoint_name import EndpointName

__all__ = ["Translation"]


@dataclass(slots=True)
class Translation:
    """Destination ``name``, with the tag that its messages carry.

    Attributes
    ----------
    way, route
        How messages get there, and what the way keeps about it.
    """

    name: EndpointName
    tag: int
    way: Any
    route: Any
