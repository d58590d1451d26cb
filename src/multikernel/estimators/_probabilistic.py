"""What the probabilistic estimators share: assemble, infer, publish, and the latent posterior."""

from __future__ import annotations

import time
from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from .._component import Array, resolve
from .._memory import check_memory
from .._threads import with_blas_threads
from ..banks import Bank
from ..bayes import (
    HYPER_PRIORS,
    METHODS,
    BayesProblem,
    HyperPrior,
    Inference,
    default_method,
)
from ..bayes.sites import noise_of
from ..likelihoods import LIKELIHOODS, Likelihood
from ._base import DTYPES, BaseMKL, only_or_stack, shares
from ._inference import RUNS, USED_BY, best_inference, log_evidence, ready_problem
from ._inputs import check_inputs
from ._logging import LOGGER, log_level
from ._posterior import Posterior, component_moments, latent_covariance, latent_variance


class BaseProbabilisticMKL(BaseMKL):
    """An estimator with a latent Gaussian process whose kernel weights are inferred."""

    _default_likelihood: str
    _y_domain: str

    def _resolve(self, part: str, given: Any) -> Any:
        if part == "likelihood":
            return resolve(given, LIKELIHOODS, self._default_likelihood, part)
        if part == "hyper_prior":
            return resolve(given, HYPER_PRIORS, "flat", part)
        if part == "method":
            if given is None or (isinstance(given, str) and given == "auto"):
                return default_method(self._part("likelihood"))
            return resolve(given, METHODS, "newton", part)
        return super()._resolve(part, given)

    def _check_parameters(self) -> None:
        check_scalar(self.tol, "tol", Real, min_val=0, include_boundaries="neither")
        if self.max_iter is not None:
            check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.n_restarts, "n_restarts", Integral, min_val=0)
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {DTYPES}, got {self.dtype!r}.")
        if self.objective not in ("auto", *RUNS):
            raise ValueError(f"objective must be one of {['auto', *RUNS]}, got {self.objective!r}.")

    def _check_objective(self, likelihood: Likelihood) -> str:
        """The objective asked for, if it suits the likelihood and uses all that was given."""
        exact = likelihood.is_gaussian
        objective = self.objective if self.objective != "auto" else "evidence" if exact else "vb"
        if objective == "evidence" and not exact:
            raise ValueError(
                f"objective='evidence' is exact and needs likelihood='gaussian', got "
                f"{self.likelihood!r}; use objective='vb', its lower bound."
            )
        defaults = signature(type(self)).parameters
        for name, objectives in USED_BY.items():
            given, default = getattr(self, name), defaults[name].default
            if objective not in objectives and given != default:
                users = " or ".join(repr(o) for o in objectives if exact or o != "evidence")
                raise ValueError(
                    f"{name}={given!r} has no effect with objective={objective!r}; leave "
                    f"{name}={default!r}, or choose objective={users}."
                )
        return objective

    def _require_targets(self, y: Any) -> None:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )

    def _check_likelihood(self) -> Likelihood:
        """The likelihood asked for, if it suits the targets."""
        likelihood: Likelihood = self._part("likelihood")
        if likelihood.y_domain != self._y_domain:
            able = [name for name, cls in LIKELIHOODS.items() if cls.y_domain == self._y_domain]
            raise ValueError(
                f"likelihood={self.likelihood!r} does not suit the targets of "
                f"{type(self).__name__}; choose one of: {', '.join(able)}."
            )
        likelihood.check()
        return likelihood

    @with_blas_threads
    def _learn_posterior(self, X: Any, Ys: list[Array], likelihood: Likelihood) -> None:
        """Infer weights for every array of targets on the same kernels, and publish them."""
        began, n = time.perf_counter(), X.shape[0]
        if n < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 samples, got n_samples={n}.")
        hyper_prior: HyperPrior = self._part("hyper_prior")
        hyper_prior.check()
        hyper_prior = hyper_prior.in_units(_unit(Ys, likelihood))
        self.objective_name_ = self._check_objective(likelihood)
        run = RUNS[self.objective_name_](self)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(1 << 31))
        with log_level(self.verbose):
            bank = self._fit_kernels(X, None, np.arange(n))
            self.kernels_.vouch()
            covariances = 1 if likelihood.is_gaussian else Ys[0].shape[1]
            check_memory(8.0 * n**2 * (4 + 3 * covariances), f"covariances of {n:,} targets")
            problems = [
                BayesProblem(
                    bank, Y, likelihood, self.fit_intercept, hyper_prior, self.learn_likelihood
                )
                for Y in Ys
            ]
            problems = [ready_problem(problem, self.objective_name_, self) for problem in problems]
            inferences = [best_inference(run, p, self.n_restarts, rng) for p in problems]
            self._publish_posterior(problems, inferences)
            LOGGER.info(
                "%s: %d of %d kernels in use, %d samples, log evidence %.6g, stationarity %.1e "
                "after %d iterations, %.2f s",
                type(self).__name__,
                np.count_nonzero(self.weights_.reshape(-1, bank.n_kernels).any(0)),
                bank.n_kernels,
                n,
                self.log_evidence_,
                self.stationarity_,
                self.n_iter_,
                time.perf_counter() - began,
            )

    def _publish_posterior(self, problems: list[BayesProblem], inferences: list[Inference]) -> None:
        """Set the fitted attributes from the inferences, which share one bank."""
        bank = problems[0].bank
        self._posteriors = [
            Posterior.from_inference(bank, inference, self.fit_intercept)
            for inference in inferences
        ]
        alpha = np.hstack([i.dual_coef for i in inferences])
        self.dual_coef_ = alpha[:, 0] if alpha.shape[1] == 1 else alpha
        self.intercept_ = np.concatenate([i.intercept for i in inferences])
        self.site_var_ = np.hstack([i.site_var for i in inferences]).reshape(self.dual_coef_.shape)
        self.weights_ = only_or_stack([i.weights for i in inferences])
        self.norms_ = only_or_stack([_norms(bank, i) for i in inferences])
        self.contributions_ = only_or_stack(
            [shares(bank, i.weights, i.dual_coef) for i in inferences]
        )
        self.likelihood_ = inferences[0].likelihood
        for name in ("noise_var_", "gap_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if self.likelihood_.is_gaussian:
            self.noise_var_ = noise_of(self.likelihood_)
        if self.objective_name_ == "mkl":
            self.gap_ = float(max(i.gap for i in inferences))
        self.objective_ = float(sum(i.objective for i in inferences))
        self.log_evidence_ = sum(
            log_evidence(problem, inference, self.objective_name_)
            for problem, inference in zip(problems, inferences, strict=True)
        )
        self.stationarity_ = float(max(i.stationarity for i in inferences))
        self.n_iter_ = max(i.n_iter for i in inferences)
        self.converged_ = all(i.converged for i in inferences)
        one = len(inferences) == 1
        self.history_ = inferences[0].history if one else [i.history for i in inferences]
        self.solution_ = inferences[0] if one else inferences
        self.problem_ = problems[0] if one else problems
        self._rows = self.kernels_.table()
        self.sources_ = list(dict.fromkeys(row["source"] for row in self._rows))
        used = np.flatnonzero(self.weights_.reshape(-1, bank.n_kernels).any(axis=0))
        self.kernels_ = self.kernels_.restrict(None, used)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the training kernels, which are large and not needed to predict."""
        state = dict(super().__getstate__())
        state.pop("problem_", None)
        return state

    def _latent_mean(self, X: Any) -> Array:
        """Posterior means of the latent function at checked samples, shape (n, n_outputs)."""
        F = self.kernels_.cross_combine(X, *self._expansion())
        return np.asarray(F + self.intercept_)

    def _latent_moments(self, X: Any) -> tuple[Array, Array]:
        """Posterior means and variances of the latent function, shape (n, n_outputs) each."""
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        return self._latent_mean(X), latent_variance(self._posteriors, self.kernels_, X)

    def predict_latent(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Posterior of the latent function: its mean, and standard deviation or covariance.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        return_std : bool, default=False
            Also return standard deviations.
        return_cov : bool, default=False
            Also return the covariances between all samples.

        Returns
        -------
        mean : array of shape (n_samples,) or (n_samples, n_outputs)
        std : array of the same shape, if ``return_std``
        cov : array of shape (n_samples, n_samples) or (n_samples, n_samples, n_outputs), if
            ``return_cov``
        """
        if return_std and return_cov:
            raise ValueError("predict_latent returns either standard deviations or covariances.")
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        mean = self._squeeze(self._latent_mean(X))
        if return_cov:
            return mean, self._squeeze(latent_covariance(self._posteriors, self.kernels_, X))
        if return_std:
            variance = latent_variance(self._posteriors, self.kernels_, X)
            return mean, self._squeeze(np.sqrt(variance))
        return mean

    def predict_components(self, X: Any) -> tuple[Array, Array]:
        r"""Posterior mean and variance of the function of every kernel.

        The means add up, with ``intercept_``, to the mean of :meth:`predict_latent`. The variances
        do not: functions of similar kernels are known better together than apart.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        mean, variance : array of shape (n_samples, n_kernels) or (n_samples, n_kernels, n_outputs)
        """
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        mean, variance = component_moments(self._posteriors, self.kernels_, X)
        return self._squeeze(mean), self._squeeze(variance)

    def _squeeze(self, values: Array) -> Array:
        """Values of all outputs, without the last axis where there is one output."""
        return values[..., 0] if self._flat else values

    _flat: bool


def _norms(bank: Bank, inference: Inference) -> Array:
    r"""The norms of the component functions, :math:`d_m^2 \alpha^\top K_m \alpha` squared."""
    return np.asarray(inference.weights * np.sqrt(bank.quadratic(inference.dual_coef)))


def _unit(Ys: list[Array], likelihood: Likelihood) -> float:
    """The variance of the targets, in which weights are counted; 1 for labels."""
    if likelihood.y_domain != "real":
        return 1.0
    return float(np.mean([np.var(Y, axis=0).mean() for Y in Ys])) or 1.0
