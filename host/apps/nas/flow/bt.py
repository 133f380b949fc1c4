"""BT: systems along each axis are block tridiagonal, with blocks of 5 by 5.

``apps.bt_point`` is charged for a point and iteration.
"""

from typing import Any

import numpy as np

from .alternating import Alternating, Size
from .equations import diffusion, flux_jacobian, viscous_jacobian
from .multipartition import Cell, Cells

__all__ = ["BlockTridiagonal"]


class BlockTridiagonal(Alternating):
    """BT."""

    name = "BT"
    title = "flow, by block tridiagonal systems along each axis"
    item = "bt_point"
    forth = 30
    """The block that multiplies the next point, and the right side."""
    back = 5
    classes = {
        "S": Size(12, 60, 0.010, (
            1.7034283709541311e-1, 1.2975252070034097e-2, 3.2527926989486055e-2,
            2.6436421275166801e-2, 1.9211784131744430e-1)),
        "W": Size(24, 200, 0.0008, (
            0.1125590409344e3, 0.1180007595731e2, 0.2710329767846e2, 0.2469174937669e2,
            0.2638427874317e3)),
        "A": Size(64, 200, 0.0008, (
            1.0806346714637264e2, 1.1319730901220813e1, 2.5974354511582465e1,
            2.3665622544678910e1, 2.5278963211748344e2)),
    }

    def lines(self, layers: tuple[int, int, int], axis: int) -> int:
        """Room for the largest cell."""
        return (self.partition.edge // self.partition.layers + 1) ** 2

    def begin(self, cells: Cells) -> None:
        pass

    def eliminate(self, cells: Cells, cell: Cell, axis: int, came: Any) -> tuple[Any, Any]:
        two, one = cells.weights
        around = cell.lines_around(axis)
        flux, viscous = flux_jacobian(around, axis), viscous_jacobian(around, axis)
        before = -one * flux[:-2] - two * (viscous[:-2] + diffusion(axis))
        after = one * flux[2:] - two * (viscous[2:] + diffusion(axis))
        here = np.eye(5) + 2 * two * (viscous[1:-1] + diffusion(axis))
        right = _lines(cell, axis)
        # Of each line and point: the next point's block, and the right side.
        solved = np.empty((*right.shape[:2], 5, 6))
        last = None if came is None else came.T.reshape(-1, 5, 6)
        for point in range(len(right)):
            both = np.concatenate((after[point], right[point][..., None]), axis=-1)
            block = here[point]
            if last is not None:
                block = block - before[point] @ last[..., :5]
                both[..., 5:] -= before[point] @ last[..., 5:]
            last = solved[point] = np.linalg.solve(block, both)
        assert last is not None
        return solved, last.reshape(-1, 30).T

    def substitute(self, cell: Cell, axis: int, kept: Any, came: Any) -> Any:
        right = _lines(cell, axis).copy()
        following = None if came is None else came.T
        for point in reversed(range(len(kept))):
            value = kept[point, ..., 5]
            if following is not None:
                value = value - (kept[point, ..., :5] @ following[..., None])[..., 0]
            following = right[point] = value
        cell.set_lines_of_change(axis, right.transpose(0, 2, 1))
        assert following is not None
        return following.T


def _lines(cell: Cell, axis: int) -> Any:
    """The changes at the inner points: by point along ``axis``, line, variable."""
    return cell.lines_of_change(axis).transpose(0, 2, 1)
