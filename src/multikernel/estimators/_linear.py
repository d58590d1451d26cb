"""What linear machines with a quadratic penalty share: assemble, solve, publish, predict."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data

from .._component import Array, resolve
from .._memory import check_memory
from .._warnings import unsaid, warn
from ..banks import FactoredBank, PackedBank
from ..losses import LOSSES, Loss
from ..regularizers import Uniform
from ..solvers import Problem, choose_solver
from ..solvers.factored_machine import FactoredMachine, fit_factored
from ._documented import Documented
from ._penalty_matrix import check_penalty_matrix, make_penalty, make_whitening

_FORMS = ("auto", "primal", "dual")
_CHUNK = 256  # samples whose features are dense at one time
_PATIENCE = 10  # iterations after which a kernel machine is solved on factors of its kernel
_NEGLIGIBLE = 1e-12  # eigenvalue of a kernel, relative to the largest


class BaseLinear(Documented, BaseEstimator):
    """A linear machine with a quadratic penalty: validate, assemble, solve, publish."""

    _default_loss: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a loss given by name, as in ``loss__epsilon``, too.

        Parameters
        ----------
        **params : dict
            Parameters of this estimator or, as ``loss__name``, of its loss.
        """
        if any(key.startswith("loss__") for key in params):
            params["loss"] = self._resolve_loss(params.get("loss", self.loss))
        return super().set_params(**params)

    def _resolve_loss(self, given: Any) -> Loss:
        return resolve(given, LOSSES, self._default_loss, "loss")

    def _check_parameters(self) -> None:
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")
        check_scalar(
            self.ridge, "ridge", Real, min_val=0, max_val=np.inf, include_boundaries="left"
        )
        check_scalar(self.tol, "tol", Real, min_val=0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        if self.form not in _FORMS:
            raise ValueError(f"form must be one of {_FORMS}, got {self.form!r}.")

    def _learn(self, X: Any, Y: Array, loss: Loss, cost: Array) -> None:
        """Fit all outputs on the samples that have a cost."""
        kept = np.flatnonzero(cost)
        X, Y, s = X[kept], Y[kept], cost[kept]
        Q = check_penalty_matrix(self.Q, X.shape[1])
        features = _Features(X, s if self.fit_intercept else None)
        self.form_ = self._choose_form(*X.shape)
        weights = None if np.all(s == 1) else s
        parts = (Y, loss, Uniform(), float(self.C), self.fit_intercept, weights)
        found = (self._solve_primal if self.form_ == "primal" else self._solve_dual)(
            features, Q, parts
        )
        self._publish(found, features.mean, loss)
        alpha = np.zeros((len(cost), Y.shape[1]))
        alpha[kept] = found.alpha
        self.dual_coef_ = alpha[:, 0] if Y.shape[1] == 1 else alpha

    def _publish(self, found: _Linear, mean: Array, loss: Loss) -> None:
        """Set the fitted attributes, and warn where the certificate is not good enough."""
        self.loss_ = loss
        self.coef_ = np.ascontiguousarray(found.w.T)
        self.intercept_ = found.b - mean @ found.w
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.n_iter
        self.converged_ = bool(self.gap_ <= self.tol)
        if not self.converged_:
            warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations with relative "
                f"duality gap {self.gap_:.1e} > tol={self.tol:.1e}; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _choose_form(self, n: int, p: int) -> str:
        """The form with the smaller matrices."""
        if self.form == "auto":
            return "primal" if n > p else "dual"
        return str(self.form)

    def _solve_dual(self, features: _Features, Q: Any, parts: tuple[Any, ...]) -> _Linear:
        r"""The machine with kernel :math:`X Q^{-1} X^\top`, where :math:`w = Q^{-1} X^\top a`."""
        n = features.X.shape[0]
        check_memory(5 * 8.0 * n**2, f"kernel matrices of the dual form for {n:,} samples")
        penalty = make_penalty(Q, self.ridge)
        K = features.gram(penalty)
        problem = Problem(PackedBank.from_grams([K]), *parts)
        solver = choose_solver(problem, tol=self.tol, max_iter=min(self.max_iter, _PATIENCE))
        with unsaid(ConvergenceWarning):  # there is another way
            found = solver.solve(problem)
        if found.converged:
            w = penalty.solve(features.transposed_times(found.dual_coef))
            numbers = found.objective, found.gap, found.n_iter
            return _Linear(w, found.intercept, found.dual_coef, *numbers)
        Z, to_samples = _factor(K)
        machine = fit_factored(problem, Z, self.tol, self.max_iter)
        w = penalty.solve(features.transposed_times(to_samples @ machine.w))
        return _linear(machine, w)

    def _solve_primal(self, features: _Features, Q: Any, parts: tuple[Any, ...]) -> _Linear:
        r"""The machine on whitened features :math:`X L^{-\top}`, where :math:`w = L^{-\top} v`."""
        n, p = features.X.shape
        check_memory(3 * 8.0 * n * p, f"whitened features of the primal form, {n:,} × {p:,} × 8 B")
        penalty = make_whitening(Q, self.ridge)
        bank = FactoredBank([features.whitened(penalty)])
        problem = Problem(bank, *parts)
        problem.check()
        machine = fit_factored(problem, bank.factors[0], self.tol, self.max_iter)
        return _linear(machine, penalty.unwhiten(machine.w))

    def _outputs(self, X: Any) -> Array:
        """Outputs with intercept, shape (n, n_outputs)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.asarray(X @ self.coef_.T + self.intercept_)


class _Linear(NamedTuple):
    """A linear machine on centred features: w of shape (p, n_outputs), and its certificate."""

    w: Array
    b: Array
    alpha: Array
    objective: float
    gap: float
    n_iter: int


def _linear(machine: FactoredMachine, w: Array) -> _Linear:
    """A machine on factors with its coefficients in terms of features."""
    numbers = machine.objective, machine.gap, machine.n_iter
    return _Linear(w, machine.b, machine.alpha, *numbers)


def _factor(K: Array) -> tuple[Array, Array]:
    r"""A factor Z with :math:`K = ZZ^\top`, and T with :math:`K T v = Z v`."""
    values, vectors = eigh(K)
    kept = values > _NEGLIGIBLE * values[-1]
    U, roots = vectors[:, kept], np.sqrt(values[kept])
    return U * roots, U / roots


class _Features:
    """Features of the training samples, centred where there is an intercept, dense in chunks."""

    def __init__(self, X: Any, sample_weight: Array | None) -> None:
        self.X = X
        self.mean = np.zeros(X.shape[1])
        if sample_weight is not None:
            self.mean = np.asarray(sample_weight @ X).ravel() / sample_weight.sum()

    def _chunks(self) -> Iterator[tuple[slice, Array]]:
        """Slices of samples with their centred features, one column per sample."""
        for start in range(0, self.X.shape[0], _CHUNK):
            rows = slice(start, start + _CHUNK)
            chunk = self.X[rows].toarray() if issparse(self.X) else self.X[rows]
            yield rows, np.ascontiguousarray((chunk - self.mean).T)

    def gram(self, penalty: Any) -> Array:
        r"""The kernel :math:`X Q^{-1} X^\top`, with the factors of Q used once per sample."""
        K = np.empty((self.X.shape[0], self.X.shape[0]))
        for rows, chunk in self._chunks():
            V = penalty.solve(chunk)
            K[:, rows] = self.X @ V - self.mean @ V
        return np.asarray((K + K.T) / 2)

    def whitened(self, penalty: Any) -> Array:
        r"""The features :math:`X L^{-\top}`, whose penalty is the identity."""
        Z = np.empty(self.X.shape)
        for rows, chunk in self._chunks():
            Z[rows] = penalty.whiten(chunk).T
        return Z

    def transposed_times(self, alpha: Array) -> Array:
        r"""The product :math:`X^\top \alpha`."""
        product = self.X.T @ alpha - np.outer(self.mean, alpha.sum(axis=0))
        return np.asarray(product)
