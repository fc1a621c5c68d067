"""What a stored row of a run holds, and its parts by name."""

from __future__ import annotations

import numpy as np

NUMBERS = ("t", "h", "h_before", "e")  # parts that are numbers, not vectors


class Layout(dict):
    """The parts of a row, name -> width, in their order.

    A method that chooses its own step begins its rows with t and h; the rest of a row is what its
    Statement carries.
    """

    @property
    def width(self):
        return sum(self.values())

    @property
    def chooses_step(self):
        return "h" in self

    def join(self, **parts):
        """Rows from their parts, which broadcast over the leading axes."""
        parts = {x: np.asarray(parts[x], float) for x in self}
        parts = [y[..., None] if x in NUMBERS else y for x, y in parts.items()]
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
        return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in parts], -1)


class Rows:
    """One row or many, shape (..., width): ``rows.q``, ``rows.p``, ``rows.h_before``, ...

    The parts are views: what is written into them is written into ``rows.array``.
    """

    def __init__(self, layout, array):
        self.array, at = array, 0
        for name, width in layout.items():
            part = array[..., at] if name in NUMBERS else array[..., at : at + width]
            setattr(self, name, part)
            at += width
        self.carry = array[..., 2 if layout.chooses_step else 0 :]
