"""Groups."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ..communicators import groups
from ..sync import current
from .errors import CLASSES, Exception, told
from .handles import Handle

__all__ = ["GROUP_EMPTY", "GROUP_NULL", "Group"]

Own = TypeVar("Own", bound="Group")
EMPTY = "empty"


class Group(Handle):
    """A group of processes."""

    @property
    def inner(self) -> groups.Group:
        """The library's group."""
        if self._of is None:
            raise Exception(CLASSES["ERR_GROUP"])
        if self._of is EMPTY:
            return groups.Group([], current().number)
        return self._of

    @classmethod
    def _made(cls: type[Own], group: groups.Group) -> Own:
        return cls.standing_for(group)

    def Get_size(self) -> int:
        return self.inner.size

    def Get_rank(self) -> int:
        return self.inner.rank

    size = property(Get_size)
    rank = property(Get_rank)

    def Translate_ranks(self, ranks: Sequence[int] | None = None, group: "Group | None" = None
                        ) -> list[int]:
        inner = self.inner
        other = inner if group is None else group.inner
        with told():
            return inner.Translate_ranks(range(inner.size) if ranks is None else ranks, other)
        raise AssertionError

    def Compare(self, group: "Group") -> int:
        return groups.Group.Compare(self.inner, group.inner)

    def Dup(self: Own) -> Own:
        inner = self.inner
        return type(self)._made(groups.Group(inner.world_ranks, inner.me))

    @classmethod
    def Union(cls: type[Own], group1: "Group", group2: "Group") -> Own:
        return cls._made(groups.Group.Union(group1.inner, group2.inner))

    @classmethod
    def Intersection(cls: type[Own], group1: "Group", group2: "Group") -> Own:
        return cls._made(groups.Group.Intersection(group1.inner, group2.inner))

    Intersect = Intersection

    @classmethod
    def Difference(cls: type[Own], group1: "Group", group2: "Group") -> Own:
        return cls._made(groups.Group.Difference(group1.inner, group2.inner))

    def _by(self: Own, how: str, ranks: Any) -> Own:
        with told():
            return type(self)._made(getattr(self.inner, how)(ranks))
        raise AssertionError

    def Incl(self: Own, ranks: Sequence[int]) -> Own:
        return self._by("Incl", ranks)

    def Excl(self: Own, ranks: Sequence[int]) -> Own:
        return self._by("Excl", ranks)

    def Range_incl(self: Own, ranks: Sequence[tuple[int, int, int]]) -> Own:
        return self._by("Range_incl", ranks)

    def Range_excl(self: Own, ranks: Sequence[tuple[int, int, int]]) -> Own:
        return self._by("Range_excl", ranks)

    def Free(self) -> None:
        if self._of is None:
            raise Exception(CLASSES["ERR_GROUP"])
        self._of = None


GROUP_NULL = Group()
GROUP_EMPTY = Group.standing_for(EMPTY)
