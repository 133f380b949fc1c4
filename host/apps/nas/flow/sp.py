"""SP: the equations are turned into characteristic variables, for which systems along each axis are
scalar and pentadiagonal: one for the three waves that go with the flow, one for each sound wave.

``apps.sp_point`` is charged for a point and iteration.
"""

from typing import Any

import numpy as np

from .alternating import Alternating, Size
from .equations import C1, C2, C15, C34, DAMPING, DIFFUSION, damping
from .multipartition import Cell, Cells

__all__ = ["ScalarPentadiagonal"]

HALF = np.sqrt(0.5)
SYSTEM = np.array([0, 0, 0, 1, 2])
"""Of each variable."""


class ScalarPentadiagonal(Alternating):
    """SP."""

    name = "SP"
    title = "flow, by scalar pentadiagonal systems along each axis"
    item = "sp_point"
    forth = 22
    """Of the last two points: two coefficients for each system, and the right side."""
    back = 10
    classes = {
        "S": Size(12, 100, 0.015, (
            2.7470315451339479e-2, 1.0360746705285417e-2, 1.6235745065095532e-2,
            1.5840557224455615e-2, 3.4849040609362460e-2)),
        "W": Size(36, 400, 0.0015, (
            0.1893253733584e-2, 0.1717075447775e-3, 0.2778153350936e-3, 0.2887475409984e-3,
            0.3143611161242e-2)),
        "A": Size(64, 400, 0.0015, (
            2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179,
            2.1292113035138280)),
    }

    def lines(self, layers: tuple[int, int, int], axis: int) -> int:
        """The inner points of a face."""
        edge, found = self.partition.edge, 1
        for other, layer in enumerate(layers):
            if other != axis:
                points = self.partition.points(layer)
                found *= min(points.stop, edge - 1) - max(points.start, 1)
        return found

    def begin(self, cells: Cells) -> None:
        """Into characteristic variables of the first axis."""
        for cell in cells.cells:
            state = _State(cell.around(0)[..., 1:-1])
            r1, r2, r3, r4, r5 = right = cell.inner_change()
            (x, y, z), density = state.velocity, state.density
            pressure = C2 / state.sound ** 2 * (
                state.square * r1 - x * r2 - y * r3 - z * r4 + r5)
            along = HALF / density * (x * r1 - r2)
            sound = HALF / density * state.sound * pressure
            right[:] = np.stack((r1 - pressure, (r4 - z * r1) / density, (y * r1 - r3) / density,
                                 sound - along, sound + along))

    def eliminate(self, cells: Cells, cell: Cell, axis: int, came: Any) -> tuple[Any, Any]:
        rows = self._rows(cells, cell, axis)
        right = cell.lines_of_change(axis)
        points, _, lines = right.shape
        # Two points before the first: those of the cell before, or none.
        one, two = (np.zeros((points + 2, 3, lines)) for _ in range(2))
        solved = np.zeros((points + 2, 5, lines))
        if came is not None:
            one[:2], two[:2] = came[:6].reshape(2, 3, -1), came[6:12].reshape(2, 3, -1)
            solved[:2] = came[12:].reshape(2, 5, -1)
        for point in range(points):
            far, near, here, following, beyond = rows[:, point]
            near = near - far * one[point]
            pivot = here - far * two[point] - near * one[point + 1]
            one[point + 2] = (following - near * two[point + 1]) / pivot
            two[point + 2] = beyond / pivot
            solved[point + 2] = (right[point] - far[SYSTEM] * solved[point]
                                 - near[SYSTEM] * solved[point + 1]) / pivot[SYSTEM]
        goes = np.concatenate([array[-2:].reshape(-1, lines) for array in (one, two, solved)])
        return (one[2:], two[2:], solved[2:]), goes

    def substitute(self, cell: Cell, axis: int, kept: Any, came: Any) -> Any:
        one, two, right = kept
        points, _, lines = right.shape
        solved = np.zeros((points + 2, 5, lines))
        if came is not None:
            solved[-2:] = came.reshape(2, 5, -1)
        for point in reversed(range(points)):
            solved[point] = (right[point] - one[point][SYSTEM] * solved[point + 1]
                             - two[point][SYSTEM] * solved[point + 2])
        cell.set_lines_of_change(axis, solved[:points])
        (_to_second, _to_third, _to_flow)[axis](cell)
        return solved[:2].reshape(-1, lines)

    def _rows(self, cells: Cells, cell: Cell, axis: int) -> Any:
        """The systems' five coefficients: by coefficient, point, system, line."""
        edge, step = cells.edge, self._class.step
        two, one = cells.weights
        state = _State(cell.lines_around(axis))
        normal = state.velocity[axis]
        speeds = np.stack((normal, normal + state.sound, normal - state.sound), axis=1)
        # What spreads a variable most: heat conduction.
        spread = (DIFFUSION[axis] + C15 * C34 / state.density)[:, None]
        place = cell.places[axis]
        inner = slice(max(place.start, 1), min(place.stop, edge - 1))
        weights = damping(edge, inner)
        rows = np.zeros((5, *speeds[1:-1].shape))
        rows[1] = -one * speeds[:-2] - two * spread[:-2]
        rows[2] = 1 + 2 * two * spread[1:-1]
        rows[3] = one * speeds[2:] - two * spread[2:]
        for shift, row in enumerate(rows, -2):
            row += step * DAMPING * weights[shift][:, None, None]
        return rows


class _State:
    """The numbers at some points of which the systems are made.

    Attributes
    ----------
    density, velocity, square, sound
        The latter two: half the velocity's square, the speed of sound.
    """

    def __init__(self, u: Any) -> None:
        self.density = u[0]
        self.velocity = u[1:4] / u[0]
        self.square = 0.5 * (self.velocity ** 2).sum(axis=0)
        self.sound = np.sqrt(C1 * C2 * (u[4] / u[0] - self.square))


def _to_second(cell: Cell) -> None:
    """From characteristic variables of the first axis into those of the second."""
    r1, r2, r3, r4, r5 = right = cell.inner_change()
    one, two = HALF * r3, 0.5 * (r4 + r5)
    right[:] = np.stack((-r2, r1, HALF * (r4 - r5), two - one, two + one))


def _to_third(cell: Cell) -> None:
    """From those of the second axis into those of the third."""
    r1, r2, r3, r4, r5 = right = cell.inner_change()
    one, two = HALF * r1, 0.5 * (r4 + r5)
    right[:] = np.stack((HALF * (r4 - r5), -r3, r2, two - one, two + one))


def _to_flow(cell: Cell) -> None:
    """From those of the third axis into the flow's own variables."""
    state = _State(cell.around(0)[..., 1:-1])
    (x, y, z), density = state.velocity, state.density
    r1, r2, r3, r4, r5 = right = cell.inner_change()
    sound = HALF * density / state.sound * (r4 + r5)
    first, third = r3 + sound, HALF * density * (r4 - r5)
    right[:] = np.stack((
        first, x * first - density * r2, y * first + density * r1, z * first + third,
        density * (y * r1 - x * r2) + state.square * first + state.sound ** 2 / C2 * sound
        + z * third))
