"""Groups of ranks."""

from collections.abc import Iterable, Sequence

from ..constants import PROC_NULL, UNDEFINED
from ..errors import ErrorClass, MpiError

__all__ = ["Group"]

IDENT, SIMILAR, UNEQUAL = 0, 2, 3


class Group:
    """Processes in the order of their ranks. ``world_ranks`` has each one's rank among all; ``me``
    is this process's rank among all."""

    __slots__ = ("world_ranks", "me")

    def __init__(self, world_ranks: Iterable[int], me: int) -> None:
        self.world_ranks = tuple(world_ranks)
        self.me = me

    @property
    def size(self) -> int:
        return len(self.world_ranks)

    @property
    def rank(self) -> int:
        """This process's rank in the group; UNDEFINED if it is not in it."""
        return self.world_ranks.index(self.me) if self.me in self.world_ranks else UNDEFINED

    def Get_size(self) -> int:
        return self.size

    def Get_rank(self) -> int:
        return self.rank

    def Incl(self, ranks: Sequence[int]) -> "Group":
        """These ranks, in this order."""
        self._check_once(ranks)
        return Group([self.world_ranks[self._check(rank)] for rank in ranks], self.me)

    def Excl(self, ranks: Sequence[int]) -> "Group":
        """All but these."""
        self._check_once(ranks)
        gone = {self._check(rank) for rank in ranks}
        return Group([one for rank, one in enumerate(self.world_ranks) if rank not in gone],
                     self.me)

    def Range_incl(self, ranges: Sequence[Sequence[int]]) -> "Group":
        """Ranks from first to last in steps, for each of (first, last, step)."""
        return self.Incl(self._spread(ranges))

    def Range_excl(self, ranges: Sequence[Sequence[int]]) -> "Group":
        return self.Excl(self._spread(ranges))

    @staticmethod
    def _spread(ranges: Sequence[Sequence[int]]) -> list[int]:
        if any(step == 0 for _, _, step in ranges):
            raise MpiError(ErrorClass.ERR_ARG, "a range of ranks with a stride of 0")
        return [rank for first, last, step in ranges
                for rank in range(first, last + (1 if step > 0 else -1), step)]

    @classmethod
    def Union(cls, one: "Group", two: "Group") -> "Group":
        return cls(dict.fromkeys((*one.world_ranks, *two.world_ranks)), one.me)

    @classmethod
    def Intersection(cls, one: "Group", two: "Group") -> "Group":
        return cls([rank for rank in one.world_ranks if rank in two.world_ranks], one.me)

    @classmethod
    def Difference(cls, one: "Group", two: "Group") -> "Group":
        return cls([rank for rank in one.world_ranks if rank not in two.world_ranks], one.me)

    @classmethod
    def Compare(cls, one: "Group", two: "Group") -> int:
        """IDENT, SIMILAR (another order) or UNEQUAL."""
        if one.world_ranks == two.world_ranks:
            return IDENT
        return SIMILAR if sorted(one.world_ranks) == sorted(two.world_ranks) else UNEQUAL

    def Translate_ranks(self, ranks: Sequence[int], other: "Group") -> list[int]:
        """The ranks that these have in ``other``."""
        found = []
        for rank in ranks:
            if rank == PROC_NULL:
                found.append(PROC_NULL)
                continue
            one = self.world_ranks[self._check(rank)]
            found.append(other.world_ranks.index(one) if one in other.world_ranks else UNDEFINED)
        return found

    def Free(self) -> None:
        pass

    @staticmethod
    def _check_once(ranks: Sequence[int]) -> None:
        twice = [rank for place, rank in enumerate(ranks) if rank in ranks[:place]]
        if twice:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {twice[0]} twice among the ranks of a group")

    def _check(self, rank: int) -> int:
        if not 0 <= rank < len(self.world_ranks):
            raise MpiError(ErrorClass.ERR_RANK,
                           f"rank {rank} of a group of {len(self.world_ranks)}")
        return rank
