"""What a stored row of a run holds, and its parts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

NUMBERS = ("t", "h", "h_before", "e")  # parts that are numbers, not vectors


class Layout(dict):
    """The parts of a row, name -> width, in their order.

    A method that chooses its own step begins its rows with t and h; the rest of a row is what its
    Statement carries.
    """

    @property
    def width(self) -> int:
        return sum(self.values())

    @property
    def chooses_step(self) -> bool:
        return "h" in self

    def join(self, **parts: ArrayLike | None) -> np.ndarray:
        """Rows from their parts, which broadcast over the leading axes; others are left out."""
        arrays = {x: np.asarray(parts[x], float) for x in self}
        batches = {y.shape if x in NUMBERS else y.shape[:-1] for x, y in arrays.items()}
        batch = np.broadcast_shapes(*batches) if len(batches) > 1 else batches.pop()  # quickly
        rows = Rows(self, np.empty((*batch, self.width)))
        for name, x in arrays.items():
            getattr(rows, name)[...] = x
        return rows.array

    def without_first_energy(self, array: np.ndarray) -> np.ndarray:
        """Rows without the energy e, which a run takes from its first step."""
        return array[..., : self.width - self.get("e", 0)]

    def columns(self, t: Any, h: Any, carry: Iterable[Any]) -> list:
        """The numbers of a row in their order: what is carried, behind t and h if they belong."""
        return [t, h, *carry] if self.chooses_step else [*carry]


class Rows:
    """One row or many, shape (..., width): ``rows.q``, ``rows.p``, ``rows.h_before``, ...

    The parts are views: what is written into them is written into ``rows.array``.  Which there are
    is said by the layout.
    """

    q: np.ndarray
    p: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    u: np.ndarray
    t: np.ndarray
    h: np.ndarray
    h_before: np.ndarray
    e: np.ndarray

    def __init__(self, layout: Layout, array: np.ndarray) -> None:
        self.array, at = array, 0
        for name, width in layout.items():
            part = array[..., at] if name in NUMBERS else array[..., at : at + width]
            setattr(self, name, part)
            at += width
        self.carry = array[..., 2 if layout.chooses_step else 0 :]

    def clock(self, t: Any, h: Any) -> tuple[Any, Any]:
        """(t, h) of the rows, or these where the method does not choose its own step."""
        return (self.t, self.h) if hasattr(self, "t") else (t, h)
