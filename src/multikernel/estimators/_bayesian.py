"""What the Bayesian estimators share: assemble, infer, publish, and moments at new samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state, check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from .._memory import check_memory
from .._threads import with_blas_threads
from ..banks import Bank
from ..banks.base import Index
from ..bayes.conjugate import (
    OUTPUTS,
    ConjugatePosterior,
    Model,
    Priors,
    Schedule,
    active_kernels,
    active_samples,
    contributions,
    fit_conjugate,
)
from ._base import DTYPES, BaseMKL
from ._inputs import check_inputs
from ._logging import LOGGER, log_level

_BLOCK_ENTRIES = 1 << 23  # entries of all query-by-training matrices held at a time
_CREDIBLE = 0.95
CHOICES = {
    "outputs": OUTPUTS,
    "inference": ("mean_field", "structured"),
    "updates": ("accelerated", "plain"),
    "sample_precision": ("separate", "shared"),
    "predictive": ("full", "plug_in"),
    "dtype": DTYPES,
}


class BaseBayesianMKL(BaseMKL):
    """An estimator of the conjugate model: all weights have an approximate posterior."""

    _flat: bool

    def _check_parameters(self) -> None:
        check_scalar(self.tol, "tol", Real, min_val=0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.n_restarts, "n_restarts", Integral, min_val=0)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}.")
        if self.sample_precision == "shared" and self.sparsity in ("samples", "both"):
            raise ValueError(
                f"sparsity={self.sparsity!r} needs a precision for every sample weight, but "
                "sample_precision='shared' has one for all, so that none can vanish alone; use "
                "sample_precision='separate', or sparsity='none' or 'kernels'."
            )

    @property
    def _own_priors(self) -> dict[str, float]:
        """Priors that differ from those of a regression, unless the user gives others."""
        return {}

    def _make_priors(self) -> Priors:
        """The priors behind ``sparsity`` and ``priors``."""
        given = self.priors
        if isinstance(given, Priors):
            if self.sparsity != "none":
                raise ValueError(
                    f"a Priors object says all; leave sparsity='none', got {self.sparsity!r}, or "
                    "pass priors as a dict of the values to change."
                )
            priors = given
        elif given is None or isinstance(given, dict):
            priors = Priors.for_sparsity(self.sparsity, **(self._own_priors | (given or {})))
        else:
            raise TypeError(
                "priors must be None, a Priors object or a dict such as "
                f"{{'alpha_omega': 1e-10}}, got {type(given).__name__}."
            )
        priors.check()
        return priors

    @with_blas_threads
    def _infer(self, X: Any, Y: Array, targets: Any, margin: float = 0.0) -> None:
        """Infer the posterior for targets Y of shape (L, n), and publish it."""
        began, (L, n) = time.perf_counter(), Y.shape
        model = Model(
            self._make_priors(),
            self.outputs,
            targets,
            tied=self.sample_precision == "shared",
            structured=self.inference == "structured",
            margin=margin,
        )
        plain = self.updates == "plain"
        schedule = Schedule(float(self.tol), int(self.max_iter), bool(self.prune), plain)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(1 << 31))
        with log_level(self.verbose):
            bank = self._fit_kernels(X, None, np.arange(n))
            self.kernels_.vouch()
            n_sets = 1 if self.outputs == "shared_samples" else L
            size = 8.0 * n**2 * (n_sets + 6)  # factors, Q, and what makes them
            check_memory(
                size,
                f"posterior covariances of {n:,} samples and {n_sets:,} outputs",
                "use fewer samples"
                + ("" if n_sets == 1 else ", or outputs='shared_samples', which has one set"),
            )
            posterior = fit_conjugate(bank, Y, model, schedule, self.n_restarts, rng)
            self._publish_factors(posterior, bank)
            LOGGER.info(
                "%s: %d of %d kernels active, %d samples, bound %.6g after %d iterations, %.2f s",
                type(self).__name__,
                np.count_nonzero(self.active_kernels_),
                bank.n_kernels,
                n,
                self.elbo_,
                self.n_iter_,
                time.perf_counter() - began,
            )

    def _publish_factors(self, posterior: ConjugatePosterior, bank: Bank) -> None:
        """Set the fitted attributes; what was pruned has weights of zero."""
        q, kernels, samples = posterior.factors, posterior.kernels, posterior.samples
        M, n, L = bank.n_kernels, bank.n_samples, len(q.be.bias)
        scale = self._y_scale[:, np.newaxis]
        self._posterior = posterior
        weights = _spread_out(q.be.mean, kernels, M)
        std = _spread_out(np.sqrt(np.diagonal(q.be.cov, axis1=1, axis2=2)), kernels, M)
        alpha = (np.broadcast_to(_spread_out(q.a.mean, samples, n), (L, n)) * scale).T
        self.weights_ = weights[0] if len(weights) == 1 else weights
        self.weights_std_ = std[0] if len(std) == 1 else std
        self.dual_coef_ = alpha[:, 0] if L == 1 else alpha
        self.intercept_ = self._y_mean + self._y_scale * q.be.bias
        self.active_kernels_ = np.isin(np.arange(M), kernels[active_kernels(q)])
        self.active_samples_ = samples[active_samples(posterior.sample_squares())]
        self.dual_precision_ = _shaped(_spread_out(_tied(q.lam.mean, samples), samples, n, np.inf))
        self.weight_precision_ = _shaped(_spread_out(q.omega.mean, kernels, M, np.inf))
        self.norms_, self.contributions_ = _norms(bank, weights, alpha), _shares(posterior, M)
        self.elbo_, self.history_ = posterior.elbo, posterior.history
        self.n_iter_, self.converged_ = posterior.n_iter, posterior.converged
        self.inference_ = "structured" if posterior.model.structured else "mean_field"
        self.priors_ = asdict(posterior.model.priors)
        self._rows = self.kernels_.table()
        self.sources_ = list(dict.fromkeys(row["source"] for row in self._rows))
        self.kernels_ = self.kernels_.restrict(None, kernels)

    def _moments(self, X: Any) -> tuple[Array, Array]:
        """Means and variances of the predictor, in units of the targets: shape (n, L) each."""
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        posterior = self._posterior
        parts = [
            posterior.predictor_moments(Ks, full=self.predictive == "full")
            for Ks in self._query_blocks(X)
        ]
        mean = np.concatenate([part[0] for part in parts])
        var = np.concatenate([part[1] for part in parts])
        return self._y_mean + self._y_scale * mean, self._y_scale**2 * var

    def _query_blocks(self, X: Any) -> Iterator[Array]:
        """Kernels between queries and samples with weights, (M, n_rows, D), in blocks of rows."""
        kernels, samples = self._posterior.kernels, self._posterior.samples
        size = max(1, _BLOCK_ENTRIES // (len(kernels) * self.kernels_.n_samples_))
        position = {int(m): k for k, m in enumerate(kernels)}
        rows_of = X.iloc if hasattr(X, "iloc") else X
        for rows in gen_batches(X.shape[0], size):
            Z = X if X.shape[0] <= size else rows_of[rows]
            Ks = np.empty((len(kernels), rows.stop - rows.start, len(samples)))
            for m, K in self.kernels_.cross(Z, position, samples):
                Ks[position[m]] = K
            yield Ks

    def predict_latent(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean of the predictor, and its standard deviation, without noise.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        return_std : bool, default=False
            Also return standard deviations.

        Returns
        -------
        mean : array of shape (n_samples,) or (n_samples, n_outputs)
        std : array of the same shape, if ``return_std``
        """
        if not return_std:
            return self._squeeze(self._outputs(X))
        mean, var = self._moments(X)
        return self._squeeze(mean), self._squeeze(np.sqrt(var))

    @property
    def kernel_table_(self) -> Any:
        """One row per kernel: where it comes from and what it does, as a pandas DataFrame.

        ``weight`` and ``std`` are posterior mean and standard deviation, ``lower`` and ``upper``
        the ends of the 95 % credible interval, ``active`` is the rule of ``active_kernels_``;
        ``norm`` and ``contribution`` are those of the component functions at the posterior means.
        """
        table = super().kernel_table_
        std = np.ravel(self.weights_std_)
        reach = float(ndtri((1 + _CREDIBLE) / 2)) * std
        table.insert(table.columns.get_loc("weight") + 1, "std", std)
        table.insert(table.columns.get_loc("std") + 1, "lower", table["weight"] - reach)
        table.insert(table.columns.get_loc("lower") + 1, "upper", table["weight"] + reach)
        table["active"] = np.resize(self.active_kernels_, len(table))
        return table

    def _squeeze(self, values: Array) -> Array:
        """Values of all outputs, without the last axis where there is one output."""
        return values[..., 0] if self._flat else values


def _spread_out(values: Array, index: Index, size: int, rest: float = 0.0) -> Array:
    """Values of some kernels or samples in an array for all of them."""
    out = np.full((len(values), size), rest)
    out[:, index] = values
    return out


def _tied(values: Array, samples: Index) -> Array:
    return np.broadcast_to(values, (len(values), len(samples)))


def _shaped(rows: Array) -> Array:
    return rows[0] if len(rows) == 1 else rows


def _norms(bank: Bank, weights: Array, alpha: Array) -> Array:
    r"""The norms :math:`|e_m| \sqrt{a^\top K_m a}` of the component functions."""
    if len(weights) == 1:
        return np.asarray(np.abs(weights[0]) * np.sqrt(bank.quadratic(alpha)))
    forms = np.stack([bank.quadratic(column[:, np.newaxis]) for column in alpha.T])
    return np.asarray(np.abs(weights) * np.sqrt(forms))


def _shares(posterior: ConjugatePosterior, n_kernels: int) -> Array:
    """The share of every kernel in the mean absolute components at the training samples."""
    shares = contributions(posterior.factors)
    return _shaped(_spread_out(shares, posterior.kernels, n_kernels))
