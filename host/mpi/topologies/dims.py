"""How many processes lie along each dimension of a grid."""

from collections.abc import Iterator, Sequence

from ..errors import ErrorClass, MpiError

__all__ = ["dims_create"]


def dims_create(nodes: int, dims: Sequence[int]) -> list[int]:
    """``dims`` with numbers in place of its zeros, such that the product is ``nodes``: as close to
    each other as can be, the largest first.

    Raises
    ------
    MpiError
        There are none: the others do not divide ``nodes``, or one is negative.
    """
    found = [int(one) for one in dims]
    rest = nodes
    for one in found:
        if one < 0 or one and rest % one:
            rest = 0
        elif one:
            rest //= one
    free = found.count(0)
    if nodes < 1 or rest < 1 or not free and rest != 1:
        raise MpiError(ErrorClass.ERR_DIMS, f"Dims_create: {nodes} processes in a grid of {found}")
    if not free:
        return found
    best = min(_factors(rest, free, rest), key=lambda some: (some[0] - some[-1], some))
    given = iter(best)
    return [one or next(given) for one in found]


def _factors(product: int, count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ``count`` numbers, each at most ``most``, with this ``product``, the largest first."""
    if count == 1:
        if product <= most:
            yield (product,)
        return
    small = {one for one in range(1, int(product ** 0.5) + 1) if product % one == 0}
    for one in sorted(small | {product // each for each in small}, reverse=True):
        if one <= most and one ** count >= product:
            for others in _factors(product // one, count - 1, one):
                yield one, *others
