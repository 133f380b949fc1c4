"""The flow's equations: residual, Jacobians, the exact solution, the start.

The five variables are density, three momenta and energy. Arrays have them first, then the points by
the third, second and first axis; those of blocks have a halo of HALO points on each side.
"""

from functools import cache
from typing import Any

import numpy as np

__all__ = ["C1", "C15", "C2", "C34", "DAMPING", "DIFFUSION", "HALO", "Places", "damping",
           "diffusion", "exact", "flux_jacobian", "forcing", "residual", "start",
           "viscous_jacobian"]

HALO = 2
C1, C2 = 1.4, 0.4
C34 = 0.1
"""Viscosity."""
C15 = 1.96
"""Heat conduction over viscosity."""
NORMAL = 4 / 3
DAMPING = 0.25
"""Of the fourth differences."""
DIFFUSION = (0.75, 0.75, 1.0)
"""Of all variables along each axis."""

Places = tuple[slice, slice, slice]
"""The points of a block in the whole cube, by the first, second and third axis."""

_POLYNOMIALS = np.array([
    [2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3],
    [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4],
    [2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3],
    [5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2]])
"""Of each variable: the constant, and the coefficients of x, y, z, x², y², z², … to the fourth
power."""


# The known solution

def exact(x: Any, y: Any, z: Any) -> Any:
    """The solution at coordinates from 0 to 1, arrays that broadcast."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))
    found = np.empty((5, *shape))
    for variable, numbers in enumerate(_POLYNOMIALS):
        found[variable] = numbers[0] + sum(
            along[0] * at + along[1] * at ** 2 + along[2] * at ** 3 + along[3] * at ** 4
            for at, along in ((x, numbers[1::3]), (y, numbers[2::3]), (z, numbers[3::3])))
    return found


def _coordinates(edge: int) -> tuple[Any, Any, Any]:
    at = np.arange(edge) / (edge - 1)
    return at[None, None, :], at[None, :, None], at[:, None, None]


@cache
def start(edge: int) -> Any:
    """The variables in a cube of ``edge`` points: exact at its sides, and in between interpolated
    from these."""
    x, y, z = _coordinates(edge)
    low, high = np.zeros((1, 1, 1)), np.ones((1, 1, 1))
    one = (1 - x) * exact(low, y, z) + x * exact(high, y, z)
    two = (1 - y) * exact(x, low, z) + y * exact(x, high, z)
    three = (1 - z) * exact(x, y, low) + z * exact(x, y, high)
    found = one + two + three - one * two - two * three - three * one + one * two * three
    inner = np.s_[:, 1:-1, 1:-1, 1:-1]
    whole = exact(x, y, z)
    whole[inner] = found[inner]
    return whole


@cache
def forcing(edge: int) -> Any:
    """Returns what keeps the exact solution steady: its residual, which is subtracted."""
    padded = np.ones((5, *(edge + 2 * HALO,) * 3))
    padded[:, HALO:-HALO, HALO:-HALO, HALO:-HALO] = exact(*_coordinates(edge))
    whole = slice(0, edge)
    return residual(padded, (whole, whole, whole), edge)


# The residual

def residual(u: Any, places: Places, edge: int) -> Any:
    """By how much the variables of a block at ``places`` of a cube of ``edge`` points change in a
    unit of time, without forcing: 0 at the sides of the cube. Halos must hold the neighbours'
    values, and outside of the cube anything but density 0."""
    density = 1 / u[0]
    velocity = u[1:4] * density
    square = 0.5 * (u[1:4] * velocity).sum(axis=0)
    energy = u[4] * density
    heat = (1 - C15) * square * density + C15 * energy
    pressure = C2 * (u[4] - square)
    found = np.zeros((5, *(count - 2 * HALO for count in u.shape[1:])))
    for axis, place in enumerate(places):
        one, two = (edge - 1) / 2, float((edge - 1) ** 2)
        normal = velocity[axis]
        flux = u * normal
        flux[1 + axis] += pressure
        flux[4] += pressure * normal
        found -= one * (_shifted(flux, axis, 1) - _shifted(flux, axis, -1))
        found += two * DIFFUSION[axis] * _second(u, axis)
        stress = C34 * two * _second(velocity, axis)
        stress[axis] *= NORMAL
        found[1:4] += stress
        found[4] += C34 * two * _second(heat + normal ** 2 / 6, axis)
        for shift, weights in damping(edge, place).items():
            shape = [1, 1, 1]
            shape[2 - axis] = -1
            found -= DAMPING * weights.reshape(shape) * _shifted(u, axis, shift)
    for axis, place in enumerate(places):
        index: list[Any] = [slice(None)] * 4
        for side in (0, edge - 1):
            if place.start <= side < place.stop:
                index[3 - axis] = side - place.start
                found[tuple(index)] = 0
    return found


def _shifted(array: Any, axis: int, shift: int) -> Any:
    """The inner points' neighbours at ``shift`` along ``axis``."""
    index: list[Any] = [slice(HALO, -HALO)] * 3
    stop = -HALO + shift
    index[2 - axis] = slice(HALO + shift, stop if stop else None)
    return array[(..., *index)]


def _second(array: Any, axis: int) -> Any:
    return _shifted(array, axis, 1) - 2 * _shifted(array, axis, 0) + _shifted(array, axis, -1)


def damping(edge: int, place: slice) -> dict[int, Any]:
    """Weights of the fourth difference for each neighbour along an axis: one-sided at the sides."""
    at = np.arange(edge)
    far, near = edge - 2, edge - 3
    weights = {
        -2: np.where((at <= 2), 0.0, 1.0), -1: np.where(at <= 1, 0.0, -4.0),
        0: np.where((at == 1) | (at == far), 5.0, 6.0),
        1: np.where(at >= far, 0.0, -4.0), 2: np.where(at >= near, 0.0, 1.0)}
    return {shift: one[place] for shift, one in weights.items()}


# Jacobians, of the variables at points: arrays of points, then 5 by 5

def flux_jacobian(u: Any, axis: int) -> Any:
    """Of the flux along ``axis``. ``u`` has the variables first."""
    found = np.zeros((*u.shape[1:], 5, 5))
    density = 1 / u[0]
    velocity = u[1:4] * density
    normal = velocity[axis]
    square = (velocity ** 2).sum(axis=0)
    energy = u[4] * density
    found[..., 0, 1 + axis] = 1
    for one in range(3):
        found[..., 1 + one, 0] = -velocity[one] * normal
        found[..., 1 + one, 1 + one] += normal
        found[..., 1 + one, 1 + axis] += velocity[one]
        found[..., 1 + axis, 1 + one] -= C2 * velocity[one]
        found[..., 4, 1 + one] = -C2 * velocity[one] * normal
    found[..., 1 + axis, 0] += 0.5 * C2 * square
    found[..., 1 + axis, 4] = C2
    found[..., 4, 0] = (C2 * square - C1 * energy) * normal
    found[..., 4, 1 + axis] += C1 * energy - 0.5 * C2 * square
    found[..., 4, 4] = C1 * normal
    return found


def viscous_jacobian(u: Any, axis: int) -> Any:
    """Of viscosity and heat conduction along ``axis``."""
    found = np.zeros((*u.shape[1:], 5, 5))
    density = 1 / u[0]
    velocity = u[1:4] * density
    conduction = C34 * C15
    found[..., 4, 0] = -conduction * u[4] * density ** 2
    for one in range(3):
        viscosity = C34 * (NORMAL if one == axis else 1)
        found[..., 1 + one, 0] = -viscosity * velocity[one] * density
        found[..., 1 + one, 1 + one] = viscosity * density
        found[..., 4, 0] -= (viscosity - conduction) * velocity[one] ** 2 * density
        found[..., 4, 1 + one] = (viscosity - conduction) * velocity[one] * density
    found[..., 4, 4] = conduction * density
    return found


def diffusion(axis: int) -> Any:
    """The matrix of the added diffusion along ``axis``."""
    return DIFFUSION[axis] * np.eye(5)
