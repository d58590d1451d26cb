"""What all estimators share: assemble the problem, solve it, publish the solution, predict."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from .._component import Array, resolve
from .._threads import with_blas_threads
from .._warnings import warn
from ..banks import Bank, FactoredBank, PackedBank
from ..banks.base import Index
from ..kernels import KernelSet, PrecomputedKernels
from ..losses import LOSSES, Loss
from ..regularizers import REGULARIZERS, Regularizer
from ..solvers import SOLVERS, Problem, Solution, Solver, choose_solver, explain_solver
from ._chosen import Chosen
from ._documented import Documented
from ._inputs import check_inputs, is_pairwise, is_precomputed, make_kernels
from ._logging import LOGGER

DTYPES = ("float64", "float32")
Prepared = tuple[Any, list[Array], Loss, Array | None, Array]  # X, Ys, loss, s, cost


class Tuning(Protocol):
    """What gives problems, on the samples that have a cost, their C and regularizer."""

    def parts(self, kept: Index) -> list[Index]:
        """The samples, by position among those kept, that tuning leaves in or out together."""

    def choose(self, problems: list[Problem], kept: Index) -> list[Chosen]:
        """The problems as they are to be solved."""


class BaseMKL(Documented, BaseEstimator):
    """An estimator that learns functions and kernel weights: validate, assemble, solve, publish."""

    _default_loss: str
    _default_regularizer = "elasticnet"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.kernels)
        tags.input_tags.sparse = not is_precomputed(self.kernels)
        tags.input_tags.three_d_array = tags.input_tags.pairwise
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of parts given by name, as in ``regularizer__l1_ratio``, too.

        Parameters
        ----------
        **params : dict
            Parameters of this estimator or, as ``part__name``, of one of its parts.
        """
        for part in {key.partition("__")[0] for key in params if "__" in key}:
            given = params.get(part, getattr(self, part, ""))
            if given is None or (isinstance(given, str) and given):
                params[part] = self._resolve(part, given)
        return super().set_params(**params)

    def _part(self, part: str) -> Any:
        """The object that a parameter, perhaps given by name or None, stands for."""
        return self._resolve(part, getattr(self, part))

    def _resolve(self, part: str, given: Any) -> Any:
        if part == "loss":
            return resolve(given, LOSSES, self._default_loss, part)
        if part == "regularizer":
            return resolve(given, REGULARIZERS, self._default_regularizer, part)
        if part == "solver":
            if given == "auto":
                raise ValueError(
                    "solver='auto' has no parameters of its own; set tol and max_iter of the "
                    "estimator, or pass a solver such as NewtonWeights()."
                )
            return resolve(given, SOLVERS, "alternating", part)
        if part == "kernels" and is_precomputed(given):
            return PrecomputedKernels(normalize=self.normalize)
        if part == "kernels":
            return KernelSet(families=given, normalize=self.normalize)
        return given

    def _check_parameters(self) -> None:
        self._check_C()
        check_scalar(self.tol, "tol", Real, min_val=0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {DTYPES}, got {self.dtype!r}.")

    def _check_C(self) -> None:
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")

    @with_blas_threads
    def _learn(
        self,
        X: Any,
        Ys: list[Array],
        loss: Loss,
        s: Array | None,
        cost: Array,
        tuning: Tuning | None = None,
    ) -> None:
        """Fit one problem per target on the same kernels.

        Parameters
        ----------
        X : checked input
        Ys : list of arrays of shape (n, n_outputs)
            Targets in the domain of the loss; each gets its own weights.
        loss : Loss
        s : array of shape (n,) or None
            Sample weights, for the normalisation of kernels.
        cost : array of shape (n,)
            Sample weights times class weights; samples without cost leave the problem.
        tuning : Tuning, optional
            What chooses C and the regularizer's parameters; those of the estimator by default.
        """
        began = time.perf_counter()
        problems, kept = self._assemble(X, Ys, loss, s, cost, tuning)
        with self._naming_indefinite():
            chosen = tuning.choose(problems, kept) if tuning else self._as_given(problems)
            chosen = [one._replace(problem=self._ready(one.problem)) for one in chosen]
            starts = [one.near(self._make_solver(one.problem)) for one in chosen]
            problems = [one.problem for one in chosen]
            del chosen  # and with it the memory of rough kernels
            solutions = list(map(self._solve, problems, starts))
        self._vouch(problems[0].bank, solutions)
        self.loss_, self.regularizer_ = loss, problems[0].regularizer
        self._publish(problems, solutions, kept, len(cost))
        LOGGER.info(
            "%s: %d of %d kernels in use, %d samples, relative duality gap %.1e after %d "
            "iterations, %.2f s",
            type(self).__name__,
            np.count_nonzero(np.atleast_2d(self.weights_).any(axis=0)),
            problems[0].bank.n_kernels,
            len(kept),
            self.gap_,
            self.n_iter_,
            time.perf_counter() - began,
        )

    def _assemble(
        self,
        X: Any,
        Ys: list[Array],
        loss: Loss,
        s: Array | None,
        cost: Array,
        tuning: Tuning | None = None,
    ) -> tuple[list[Problem], Index]:
        """One problem per target, all on one bank, with C = 1, and the samples that have a cost."""
        kept = np.flatnonzero(cost)
        bank = self._fit_kernels(X, s, kept, tuning.parts(kept) if tuning else None)
        if not bank.mean_diagonals().any():
            warn(
                f"{type(self).__name__}: no kernel tells any two training samples apart (all are "
                "zero once they are normalised), so that predictions are constant; check the data, "
                "and centre columns whose mean is far larger than their spread.",
                UserWarning,
            )
        weights = None if np.all(cost == 1) else cost[kept]
        regularizer = self._make_regularizer()
        problems = [
            Problem(bank, Y[kept], loss, regularizer, 1.0, self.fit_intercept, weights) for Y in Ys
        ]
        return problems, kept

    def _as_given(self, problems: list[Problem]) -> list[Chosen]:
        """The problems with the C of the estimator."""
        return [Chosen(replace(problem, C=float(self.C))) for problem in problems]

    def _fit_kernels(
        self, X: Any, s: Array | None, kept: Index, parts: list[Index] | None = None
    ) -> Bank:
        """Fit the kernel set on all samples and keep its Grams on those with a cost."""
        self.kernels_ = make_kernels(self.kernels, self.normalize, X)
        if (factors := self.kernels_.fit_factors(X, sample_weight=s)) is not None:
            return FactoredBank([Z[kept] for Z in factors])
        stacks = self.kernels_.fit_stacks(X, sample_weight=s)
        bank = PackedBank(len(kept), self.kernels_.n_kernels_, self.dtype, parts)
        if len(kept) < self.kernels_.n_samples_:
            stacks = (stack.take(kept) for stack in stacks)
        bank.set_kernels(stacks)
        return bank

    def _vouch(self, bank: Bank, solutions: Iterable[Solution]) -> None:
        r"""Test on all samples the kernels that solutions use or that show themselves indefinite.

        Tested are kernels with a weight, and those for which :math:`\alpha^\top K_m \alpha \le 0`
        (banks give its positive part): that of an indefinite kernel may be what denies it a weight.
        One that gets none although the form is positive is not tested, indefinite or not.
        """
        if not self.kernels_.glanced_:
            return
        owing = [(s.weights != 0) | (bank.quadratic(s.dual_coef) <= 0) for s in solutions]
        shaped = np.vstack([self._shape_weights(mask) for mask in owing])
        self.kernels_.vouch(np.flatnonzero(shaped.any(axis=0)))

    @contextmanager
    def _naming_indefinite(self) -> Iterator[None]:
        """Name the kernel that is not positive semi-definite if a solver fails, as it may then."""
        try:
            yield
        except np.linalg.LinAlgError:
            self.kernels_.vouch()
            raise

    def _make_regularizer(self) -> Regularizer:
        regularizer: Regularizer = self._part("regularizer")
        return regularizer

    def _ready(self, problem: Problem) -> Problem:
        """The problem with its regularizer made ready for the training kernels and targets."""
        sources = [row["source"] for row in self.kernels_.rows_]
        return replace(problem, regularizer=problem.regularizer.for_training(problem, sources))

    def _solve(self, problem: Problem, start: Solution | None) -> Solution:
        solution = self._make_solver(problem).solve(problem, start)
        reason = explain_solver(problem) if _is_automatic(self.solver) else ""
        return replace(solution, reason=reason)

    def _make_solver(self, problem: Problem) -> Solver:
        return make_solver(self.solver, problem, self.tol, self.max_iter)

    def _publish(
        self, problems: list[Problem], solutions: list[Solution], kept: Index, n_samples: int
    ) -> None:
        """Set the fitted attributes from the solutions, which share one bank."""
        alpha = np.zeros((n_samples, sum(s.dual_coef.shape[1] for s in solutions)))
        alpha[kept] = self._in_units(np.hstack([s.dual_coef for s in solutions]))
        self.support_ = np.flatnonzero(alpha.any(axis=1))
        if self.fit_intercept:  # 1ᵀα = 0 to rounding, so that centred kernels need the support only
            alpha[self.support_] -= alpha.sum(axis=0) / max(len(self.support_), 1)
        self.dual_coef_ = alpha[:, 0] if alpha.shape[1] == 1 else alpha
        self.intercept_ = self._in_units(np.concatenate([s.intercept for s in solutions]))
        self.weights_ = only_or_stack([self._shape_weights(s.weights) for s in solutions])
        self.norms_ = only_or_stack([self._shape_weights(np.sqrt(s.sq_norms)) for s in solutions])
        parts = [
            shares(p.bank, s.weights, s.dual_coef, p.cost[:, 0])
            for p, s in zip(problems, solutions, strict=True)
        ]
        self.contributions_ = only_or_stack([self._shape_weights(part) for part in parts])
        self.objective_ = float(sum(s.objective for s in solutions))
        self.gap_ = float(max(s.gap for s in solutions))
        self.n_iter_ = max(s.n_iter for s in solutions)
        self.converged_ = all(s.converged for s in solutions)
        self.solution_: Any = solutions[0] if len(solutions) == 1 else solutions
        self._rows = self.kernels_.table()
        self.sources_ = list(dict.fromkeys(row["source"] for row in self._rows))
        samples, kernels = self.kernels_.needed(*self._expansion())
        needed = None if len(samples) == len(kept) else np.union1d(samples, self.support_)
        self.kernels_ = self.kernels_.restrict(needed, kernels)

    def _in_units(self, outputs: Array) -> Array:
        """What is learned of outputs, in the last axis, in the units of the targets."""
        return outputs

    def _shape_weights(self, d: Array) -> Array:
        """Weights as solved for in the shape in which they are published."""
        return d

    def _expansion(self) -> tuple[Array, Array]:
        """Weights of shape (n_kernels, T) and coefficients of shape (n, T) of all outputs."""
        alpha = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        weights = np.atleast_2d(self.weights_).T
        return np.broadcast_to(weights, (len(weights), alpha.shape[1])), alpha

    def _evaluate(self, X: Any, *, contributions: bool = False) -> Array:
        """Outputs without intercept, shape (n, T), or by kernel, shape (n, T, n_kernels)."""
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        return self.kernels_.cross_combine(X, *self._expansion(), contributions=contributions)

    def _outputs(self, X: Any) -> Array:
        """Outputs with intercept, shape (n, T)."""
        return np.asarray(self._evaluate(X) + self.intercept_)

    def decision_contributions(self, X: Any, by: str = "kernel") -> Array:
        """Split what the model says about every sample into exact shares of kernels or sources.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        by : {"kernel", "source"}, default="kernel"
            One share per kernel, in the order of ``weights_``, or per source, in the order of
            ``sources_``.

        Returns
        -------
        contributions : array of shape (n_samples, n_shares) or (n_samples, n_shares, n_outputs)
            Their sum over axis 1, plus ``intercept_``, is the prediction of a regressor and the
            decision function of a classifier, or the latent mean of one without such a function.
        """
        if by not in ("kernel", "source"):
            raise ValueError(f"by must be 'kernel' or 'source', got {by!r}.")
        shares = np.moveaxis(self._evaluate(X, contributions=True), 1, 2)
        if by == "source":
            shares = np.stack([shares[:, m].sum(axis=1) for m in self._kernels_by_source()], axis=1)
        return shares[:, :, 0] if self.dual_coef_.ndim == 1 else shares

    def _kernels_by_source(self) -> list[Index]:
        source = np.array([row["source"] for row in self._rows])
        return [np.flatnonzero(source == name) for name in self.sources_]

    @property
    def kernel_table_(self) -> Any:
        """One row per kernel: where it comes from and what it does, as a pandas DataFrame.

        ``norm`` is the norm of the component function, and ``contribution`` its share in the sum
        over kernels of the mean absolute value of the component functions at the training samples.
        """
        check_is_fitted(self)
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "kernel_table_ is a pandas DataFrame: pip install 'multikernel[table]'. Without "
                "pandas, see weights_, norms_, contributions_ and kernels_.names_."
            ) from error
        factors = {
            "source": [row["source"] for row in self._rows],
            "family": [row["family"] for row in self._rows],
            "parameter": [_parameter(row) for row in self._rows],
        }
        frames = [
            pd.DataFrame(label | factors | {"weight": d, "norm": norm, "contribution": share})
            for label, d, norm, share in zip(
                self._table_labels(),
                np.atleast_2d(self.weights_),
                np.atleast_2d(self.norms_),
                np.atleast_2d(self.contributions_),
                strict=True,
            )
        ]
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    def _table_labels(self) -> list[dict[str, Any]]:
        """What tells the rows of ``weights_`` apart, where there are several."""
        return [{}]


def make_solver(given: Any, problem: Problem, tol: float, max_iter: int) -> Solver:
    """The solver asked for; tol and max_iter are its own where it is an object."""
    if _is_automatic(given):
        return choose_solver(problem, tol=tol, max_iter=max_iter)
    solver: Solver = resolve(given, SOLVERS, "alternating", "solver")
    return replace(solver, tol=tol, max_iter=max_iter) if isinstance(given, str) else solver


def _is_automatic(solver: Any) -> bool:
    return isinstance(solver, str) and solver == "auto"


def only_or_stack(rows: list[Array]) -> Array:
    """The row itself where there is one, else all of them as a matrix."""
    return rows[0] if len(rows) == 1 else np.stack(rows)


def shares(bank: Bank, d: Array, alpha: Array, cost: Array | None = None) -> Array:
    """The share of every kernel in the mean absolute components at the training samples."""
    cost = np.ones(len(alpha)) if cost is None else cost
    used = np.flatnonzero(d)
    size = np.zeros(len(d))
    components = bank.apply(alpha, used)  # K_m α
    size[used] = d[used] * np.einsum("mit,i->m", np.abs(components), cost)
    return size / (size.sum() or 1.0)


def _parameter(row: dict[str, Any]) -> Any:
    """The parameter of a kernel: a number, the text of several, or None."""
    values = list(row["parameters"].values())
    return values[0] if len(values) == 1 else row["parameter"] or None
