"""Info: texts by name that a program may give, and that have no effect here."""

from .errors import ErrorClass, MpiError

__all__ = ["Info"]

MAX_KEY, MAX_VALUE = 255, 1024


class Info(dict[str, str]):
    """Texts by name, in the order in which they were set."""

    def put(self, key: str, value: str) -> None:
        """Raises
        ------
        MpiError
            One of them is empty or too long.
        """
        if not value or len(value) > MAX_VALUE:
            raise MpiError(ErrorClass.ERR_INFO_VALUE, f"an info's value of {len(value)} bytes: "
                           f"must be 1 to {MAX_VALUE}")
        self[checked(key)] = value

    def remove(self, key: str) -> None:
        """Raises
        ------
        MpiError
            There is no such key.
        """
        if self.pop(checked(key), None) is None:
            raise MpiError(ErrorClass.ERR_INFO_NOKEY, f"the info has no key {key}")

    def key(self, number: int) -> str:
        """Raises
        ------
        MpiError
            There are not as many.
        """
        if not 0 <= number < len(self):
            raise MpiError(ErrorClass.ERR_ARG, f"key {number} of an info of {len(self)}")
        return list(self)[number]


def checked(key: str) -> str:
    """``key``, if it is one."""
    if not key or len(key) > MAX_KEY:
        raise MpiError(ErrorClass.ERR_INFO_KEY, f"an info's key of {len(key)} bytes: must be 1 to "
                       f"{MAX_KEY}")
    return key
