"""Your own regularizer, given by its penalty on the weights or by its block norm."""

from __future__ import annotations

from ._conjugation import Terms
from .block_penalty import BlockPenalty
from .weight_penalty import WeightPenalty


def from_weight_penalty(
    h: Terms, gradient: Terms | None = None, separable: bool = True
) -> WeightPenalty:
    r"""Make a regularizer of your own convex penalty on the weights.

    Parameters
    ----------
    h : callable
        The penalty. If separable, it maps an array of weights to the array of its terms; otherwise
        to their penalty, a float, and must be finite and differentiable at positive weights.
    gradient : callable, optional
        Its derivative, elementwise if separable; by default found by differences, with less
        accuracy.
    separable : bool, default=True
        Whether h is a sum of one term per kernel.

    Returns
    -------
    WeightPenalty
        The regularizer.

    Examples
    --------
    >>> import numpy as np
    >>> reg = from_weight_penalty(lambda d: d + d**2 / 2, gradient=lambda d: 1 + d)
    >>> round(reg.dual_value(np.array([3.0, 0.5])), 6)  # (3 - 1)² / 2
    2.0
    """
    regularizer = WeightPenalty(h, gradient, separable)
    regularizer.check()
    return regularizer


def from_block_norm(
    g: Terms, gradient: Terms | None = None, separable: bool = True
) -> BlockPenalty:
    r"""Make a regularizer of your own block norm on the squared norms.

    Parameters
    ----------
    g : callable
        The block norm as a function of :math:`x_m = \|f_m\|^2`: concave and nondecreasing in x, and
        convex as a function of :math:`t = \sqrt x`. If separable, it maps an array to the array of
        its terms; otherwise to a float.
    gradient : callable, optional
        Its derivative in x, elementwise if separable; by default found by differences, with less
        accuracy, above all where x is below 1e-6.
    separable : bool, default=True
        Whether g is a sum of one term per kernel.

    Returns
    -------
    BlockPenalty
        The regularizer.

    Examples
    --------
    >>> import numpy as np
    >>> reg = from_block_norm(np.sqrt, gradient=lambda x: 0.5 / np.sqrt(x))  # the block 1-norm
    >>> reg.optimal_weights(np.array([4.0, 9.0]))
    array([2., 3.])
    """
    regularizer = BlockPenalty(g, gradient, separable)
    regularizer.check()
    return regularizer
