"""Anderson's acceleration: a fixed-point iteration that remembers where it has been."""

from __future__ import annotations

import numpy as np

from .._component import Array

_ALIKE = 1e-6  # relative size of differences of residuals that tell nothing new


class Anderson:
    r"""Extrapolates an iteration :math:`x \leftarrow g(x)` from its last few points.

    Parameters
    ----------
    memory : int, default=5
        Steps that are remembered.
    mixing : float, default=1.0
        How far to go along what is left of the residual; more than 1 where g steps too short.

    Notes
    -----
    With residuals :math:`r = g(x) - x` and the differences :math:`\Delta x_k, \Delta r_k` between
    successive points, the next point is

    .. math:: x - \textstyle\sum_k c_k \Delta x_k
              + \beta \big(r - \textstyle\sum_k c_k \Delta r_k\big), \qquad
              c = \arg\min_c \big\|r - \textstyle\sum_k c_k \Delta r_k\big\|,

    which for a linear iteration is as good as GMRES. Points need not follow from it: whoever finds
    one to be no good may go elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.bayes.anderson import Anderson
    >>> slow, x, anderson = np.array([0.5, 0.99]), np.ones(2), Anderson()
    >>> for _ in range(4):
    ...     x = anderson.next(x, slow * x)
    >>> bool(np.abs(x).max() < 1e-8)
    True
    """

    def __init__(self, memory: int = 5, mixing: float = 1.0) -> None:
        self.memory, self.mixing = memory, mixing
        self._points: list[Array] = []
        self._residuals: list[Array] = []

    def next(self, x: Array, image: Array) -> Array:
        """The point after x, whose image is g(x); the image itself at first."""
        r = image - x
        self._points = [*self._points, x][-self.memory - 1 :]
        self._residuals = [*self._residuals, r][-self.memory - 1 :]
        if len(self._points) == 1:
            return image
        dx, dr = np.diff(self._points, axis=0), np.diff(self._residuals, axis=0)
        c = np.linalg.lstsq(dr.T, r, rcond=_ALIKE)[0]
        return np.asarray(x - c @ dx + self.mixing * (r - c @ dr))
