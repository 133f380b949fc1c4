"""Numbers in groups that are joined."""

__all__ = ["Groups"]


class Groups:
    """The numbers below ``count``, each a group of its own at first."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def of(self, number: int) -> int:
        """The number that stands for the group of ``number``."""
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make the groups of both one group."""
        self._parent[self.of(one)] = self.of(other)

    def all(self) -> list[list[int]]:
        """Each group, its numbers ascending, by its first number."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            found.setdefault(self.of(number), []).append(number)
        return list(found.values())
