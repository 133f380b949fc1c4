"""The attached buffer of buffered sends: data are copied there, and go from there."""

from ..errors import ErrorClass, MpiError

__all__ = ["AttachedBuffer", "OVERHEAD"]

OVERHEAD = 64
"""Bytes that each message takes besides its data (MPI_BSEND_OVERHEAD)."""


class AttachedBuffer:
    """``size`` bytes at ``address``, given to messages from the lowest free place on."""

    @staticmethod
    def room(size: int) -> int:
        """Memory for ``size`` bytes: each message's data begin at a multiple of 8 in it, which
        programs that count their messages' bytes and OVERHEAD do not know."""
        return -(-size * (OVERHEAD + 8) // (OVERHEAD + 1) // 8) * 8

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self._room = self.room(size)
        self._taken: list[tuple[int, int]] = []

    @property
    def free(self) -> bool:
        """Tells whether no message is in it."""
        return not self._taken

    def take(self, length: int, who: str) -> int:
        """Address for the data of a message.

        Raises
        ------
        MpiError
            There is no room.
        """
        needed = -(-length // 8) * 8 + OVERHEAD
        at = 0
        for index, (begin, size) in enumerate(self._taken):
            if begin - at >= needed:
                self._taken.insert(index, (at, needed))
                return self.address + at + OVERHEAD
            at = begin + size
        if self._room - at < needed:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{who}: {length} bytes, and the attached buffer "
                           f"of {self.size} has no room (MPI_Buffer_attach)")
        self._taken.append((at, needed))
        return self.address + at + OVERHEAD

    def give(self, place: int) -> None:
        """The message at ``place`` has left."""
        at = place - self.address - OVERHEAD
        self._taken = [one for one in self._taken if one[0] != at]
