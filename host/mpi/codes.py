"""Error classes and codes that a program adds to MPI's."""

from .errors import ErrorClass, MpiError

__all__ = ["Codes", "LAST"]

LAST = 1 << 20
"""MPI_ERR_LASTCODE: a program's own lie above it."""
_TEXTS = {0: "MPI_SUCCESS"} | {int(one): f"MPI_{one.name}" for one in ErrorClass}


class Codes:
    """A process's own error classes and codes: the class of each, and its text.

    Attributes
    ----------
    last
        The highest code that there is.
    """

    def __init__(self) -> None:
        self._classes: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        self.last = LAST

    def add(self, error: int | None = None) -> int:
        """A new code of class ``error``; a new class for None.

        Raises
        ------
        MpiError
            There is no such class.
        """
        if error is not None and error not in _TEXTS and self._classes.get(error) != error:
            raise MpiError(ErrorClass.ERR_ARG, f"{error} is no error class")
        self.last += 1
        self._classes[self.last] = self.last if error is None else error
        self._texts[self.last] = ""
        return self.last

    def name(self, code: int, text: str) -> None:
        """``code``, one of the program's own, gets a text."""
        self._check(code)
        self._texts[code] = text

    def _check(self, code: int) -> None:
        if code not in self._classes:
            raise MpiError(ErrorClass.ERR_ARG, f"{code} is no error code of the program's own")

    def remove(self, code: int, is_class: bool) -> None:
        """``code`` goes, a class or none, if no other code is of it and it has no text."""
        self._check(code)
        others = [one for one, of in self._classes.items() if of == code and one != code]
        if others or self._texts[code] or is_class != (self._classes[code] == code):
            raise MpiError(ErrorClass.ERR_ARG, f"error {code} is in use, or of the other kind")
        del self._classes[code], self._texts[code]

    def class_of(self, code: int) -> int:
        """The class of ``code``: each of MPI's codes is its own."""
        return self._classes.get(code, code)

    def text(self, code: int) -> str:
        """``code`` in words."""
        return _TEXTS.get(code) or self._texts.get(code, f"MPI error {code}")

    def known(self, code: int) -> bool:
        """Tells whether there is such a code."""
        return code in _TEXTS or code in self._classes
