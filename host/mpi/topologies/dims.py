"""Chooses the number of processes along each dimension of a grid."""

from collections.abc import Sequence

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
    given = iter(_closest(rest, free))
    return [one or next(given) for one in found]


def _closest(product: int, count: int) -> list[int]:
    """The ``count`` numbers of this ``product`` that are closest to each other, the largest
    first; of several those whose last is the largest, then the last but one."""
    divisors = _divisors(product)
    best: list[int] = [product] + [1] * (count - 1)

    def look(rest: int, left: int, chosen: list[int]) -> None:
        nonlocal best
        if left == 1:
            whole = [*chosen, rest]
            if rest <= chosen[-1] and _order(whole) < _order(best):
                best = whole
            return
        for one in divisors:
            if one > chosen[-1] or chosen[0] - one > best[0] - best[-1]:
                continue
            if rest % one == 0 and one ** left >= rest:
                look(rest // one, left - 1, [*chosen, one])

    if count == 1:
        return best
    for first in divisors:
        if first ** count < product:
            continue
        least = first - (best[0] - best[-1])
        if least > 0 and least ** count > product:
            break
        look(product // first, count - 1, [first])
    return best


def _order(numbers: Sequence[int]) -> tuple[int, list[int]]:
    """What is less for numbers that are closer to each other."""
    return numbers[0] - numbers[-1], [-one for one in reversed(numbers)]


def _divisors(number: int) -> list[int]:
    """All, the smallest first."""
    found, prime, rest = [1], 2, number
    while rest > 1:
        if prime * prime > rest:
            prime = rest
        power, more = 1, list(found)
        while rest % prime == 0:
            rest //= prime
            power *= prime
            found += [one * power for one in more]
        prime += 1
    return sorted(found)
