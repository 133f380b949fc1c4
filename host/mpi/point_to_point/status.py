"""The result of a receive."""

from dataclasses import dataclass

from ..constants import ANY_SOURCE, ANY_TAG, UNDEFINED
from ..data.datatypes import BYTE, Datatype

__all__ = ["Status"]


@dataclass(slots=True)
class Status:
    """A finished receive, or a message that a probe found.

    Attributes
    ----------
    source, tag
        Rank in the communicator, and tag.
    count
        Bytes.
    error
        Error class; 0: none.
    cancelled
        Whether it ended by Cancel.
    """

    source: int = ANY_SOURCE
    tag: int = ANY_TAG
    count: int = 0
    error: int = 0
    cancelled: bool = False

    def Get_source(self) -> int:
        return self.source

    def Get_tag(self) -> int:
        return self.tag

    def Get_error(self) -> int:
        return self.error

    def Is_cancelled(self) -> bool:
        return self.cancelled

    def Get_count(self, datatype: Datatype = BYTE) -> int:
        """Whole elements of ``datatype``; UNDEFINED if the bytes are no whole number of them."""
        if not datatype.size:
            return 0 if not self.count else UNDEFINED
        whole, rest = divmod(self.count, datatype.size)
        return UNDEFINED if rest else whole

    def Get_elements(self, datatype: Datatype) -> int:
        """Basic elements of ``datatype``; UNDEFINED if the last one is not whole."""
        found = datatype.signature.elements(self.count)
        return UNDEFINED if found is None else found

    def Set_elements(self, datatype: Datatype, count: int) -> None:
        """As if so many basic elements of ``datatype`` had come."""
        self.count = datatype.signature.bytes(count)
