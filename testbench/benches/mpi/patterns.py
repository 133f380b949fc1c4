"""The sends of a collective call, from rank to rank, step by step: as the algorithms of
``host/mpi/collective/collectives.py`` have them, but written apart from them."""

from ...estimate.loggp import Step

__all__ = ["pattern"]


def pattern(call: str, ranks: int) -> list[list[Step]]:
    """The steps of each rank; rank 0 is the root."""
    return {"barrier": _dissemination, "bcast": _tree, "allreduce": _doubling,
            "alltoall": _pairwise}[call](ranks)


def _dissemination(ranks: int) -> list[list[Step]]:
    rounds = (ranks - 1).bit_length()
    return [[Step((rank + (1 << one)) % ranks, (rank - (1 << one)) % ranks)
             for one in range(rounds)] for rank in range(ranks)]


def _tree(ranks: int) -> list[list[Step]]:
    """A rank receives from the one without its lowest bit, and sends to those with one lower bit
    more, the highest first."""
    whole = (ranks - 1).bit_length()
    steps = []
    for rank in range(ranks):
        low = (rank & -rank).bit_length() - 1 if rank else whole
        steps.append([*([Step(source=rank & rank - 1)] if rank else []),
                      *(Step(to=rank + (1 << bit)) for bit in reversed(range(low))
                        if rank + (1 << bit) < ranks)])
    return steps


def _doubling(ranks: int) -> list[list[Step]]:
    """Of ranks beyond a power of two, even ones give theirs to the next, and get the result."""
    whole = 1 << ranks.bit_length() - 1
    extra = ranks - whole
    real = [2 * one + 1 if one < extra else one + extra for one in range(whole)]
    steps: list[list[Step]] = [[] for _ in range(ranks)]
    for one in range(extra):
        steps[2 * one] = [Step(to=2 * one + 1), Step(source=2 * one + 1)]
        steps[2 * one + 1].append(Step(source=2 * one))
    for place, rank in enumerate(real):
        for bit in range(whole.bit_length() - 1):
            peer = real[place ^ 1 << bit]
            steps[rank].append(Step(peer, peer))
    for one in range(extra):
        steps[2 * one + 1].append(Step(to=2 * one))
    return steps


def _pairwise(ranks: int) -> list[list[Step]]:
    if ranks & ranks - 1:
        return [[Step((rank + one) % ranks, (rank - one) % ranks) for one in range(1, ranks)]
                for rank in range(ranks)]
    return [[Step(rank ^ one, rank ^ one) for one in range(1, ranks)] for rank in range(ranks)]
