"""Regularizer: h on the weights and everything that follows from it by conjugation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._component import Array, Component

F = TypeVar("F", bound=Callable[..., Any])


def available_when(check: Callable[[Any], bool]) -> Callable[[F], F]:
    """Make a method exist only on the instances that pass a check, so that ``hasattr`` tells."""
    return cast(Callable[[F], F], available_if(check))


class Atoms(NamedTuple):
    r"""A change of variables :math:`d = T^\top \tilde d` that makes a regularizer a simpler one.

    ``T`` has shape (n_atoms, n_kernels) and nonnegative entries; the problem with ``base`` on the
    atom kernels :math:`\tilde K_j = \sum_m T_{jm} K_m` has the same solution.
    """

    T: Array
    base: Regularizer


class Curvature(NamedTuple):
    r"""The Jacobian :math:`\partial d/\partial G = \mathrm{diag}(D) + U\mathrm{diag}(s)U^\top`."""

    D: Array
    U: Array
    s: Array


@dataclass(repr=False)
class Regularizer(Component):
    r"""The penalty h on kernel weights, the block norm g it leaves and the dual term.

    Notes
    -----
    With :math:`x_m = \|f_m\|^2` and :math:`G_m = \alpha^\top K_m \alpha`,

    .. math:: g(x) = \tfrac12 \inf_{d \ge 0} \sum_m x_m / d_m + h(d), \qquad
              \Omega(G) = \sup_{d \ge 0} d^\top G - h(d).

    Capabilities are methods that a subclass may have or lack, and solvers ask for them by name:
    ``gradient``/``hessian`` of h (Newton on the weights), ``dual_weights``/``dual_curvature``
    (Newton on the dual), ``prox``/``prox_derivative`` (proximal methods), ``norm`` (the gauge of a
    constraint on the weights). For ``form="ivanov"`` the gradient and Hessian are those of the
    penalty whose sublevel set is the constraint.
    """

    @property
    def convex(self) -> bool:
        """Whether h is convex in the weights."""
        return True

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return False

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        return np.inf

    @property
    def active_threshold(self) -> float:
        r"""The value below which :math:`\sqrt{G_m}` forces :math:`d_m = 0` at the optimum."""
        return 0.0

    @property
    def sparse(self) -> bool:
        """Whether the best weight of a kernel can be exactly zero."""
        return self.active_threshold > 0 or not hasattr(self, "dual_weights")

    @property
    def selects_kernels(self) -> bool:
        """Whether kernels drop out one by one; some regularizers only drop whole groups."""
        return self.sparse

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""

    @abstractmethod
    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""

    @abstractmethod
    def optimal_weights(self, sq_norms: Array) -> Array:
        r"""The weights d that attain g at :math:`x_m = \|f_m\|^2`."""

    @abstractmethod
    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""

    @abstractmethod
    def dual_value(self, G: Array) -> float:
        r"""The dual term :math:`\Omega(G)`; inf where it is."""

    def dual_ray(self, G: Array) -> Callable[[float], float]:
        r"""The function :math:`c \mapsto \Omega(c^2 G)`, for those who ask for many c."""
        return lambda c: self.dual_value(c**2 * G)

    def dual_scale(self, G: Array) -> float:
        r"""The largest c in (0, 1] for which :math:`\Omega(c^2 G)` is finite."""
        return 1.0

    def zero_scale(self, G: Array) -> float:
        r"""The largest c with :math:`\Omega(c^2 G) = 0`; below it the predictor is constant."""
        return 0.0

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return self.optimal_weights(np.ones(n_kernels))

    def atoms(self, n_kernels: int) -> Atoms | None:
        """An exact reduction to a simpler regularizer, or None."""
        return None

    def subgradient(self, d: Array, G: Array) -> Array:
        """The subgradient of the penalty at d that comes nearest to G; mostly the gradient."""
        return np.asarray(self.gradient(d))

    def for_training(self, problem: Any, sources: Sequence[str]) -> Regularizer:
        """The regularizer made ready for the kernels and targets of a problem; most are as given.

        Parameters
        ----------
        problem : Problem
            The problem to be solved, with this regularizer still to be made ready.
        sources : sequence of str
            Where each kernel comes from.
        """
        return self

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
