"""ProbabilisticMKLRegressor: numbers with their uncertainty, from kernels weighed by evidence."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, check_scalar

from .._component import Array
from .._warnings import warn
from ..bayes import BayesProblem
from ..bayes.sites import noise_floor
from ..likelihoods import Likelihood
from ._inputs import check_inputs, refuse_other_order
from ._probabilistic import BaseProbabilisticMKL
from ._rollback import all_or_nothing
from ._targets import check_real_targets


class ProbabilisticMKLRegressor(RegressorMixin, BaseProbabilisticMKL):
    r"""Regression that weighs kernels by their evidence and says how sure it is.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute. None takes a linear kernel and RBF kernels of three widths on the table,
        or on every view of a :class:`ViewBundle`; a dict maps names of sources to their columns;
        "precomputed" reads X as Gram matrices of shape (n, n, n_kernels).
    likelihood : str or Likelihood, default="gaussian"
        How targets scatter: "gaussian", or "laplace" and "student", which resist outliers.
    objective : {"auto", "evidence", "vb", "map", "mkl"}, default="auto"
        What chooses the weights: the evidence (Gaussian noise), its variational lower bound (any
        likelihood; the evidence itself for Gaussian noise), the joint mode of weights and
        function (a local optimum that may collapse), or the convex MKL objective. "auto" is
        "evidence" for Gaussian noise and "vb" for other likelihoods.
    method : str, Method or None, default="auto"
        How the optimum of evidence or bound is found: "newton", "mackay", "double_loop", and for
        Gaussian noise "em" and "reweighted"; "auto", and None, is the fastest that is safe.
    hyper_prior : str, HyperPrior or None, default=None
        Prior on the weights, in units of the variance of y: "gamma", "inverse_gamma", "power".
        None has no preference; evidence then keeps few kernels when samples are few.
    learn_likelihood : bool, default=True
        Learn the parameters of the likelihood, such as the noise variance; False keeps them. For
        "map" and "mkl", which have no minimum in them, the evidence or its bound learns them.
    fit_intercept : bool, default=True
        Add a constant with a flat prior, which is integrated out.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How kernels are made comparable. A :class:`KernelSet` given as ``kernels`` has its own.
    strength : float or None, default=None
        Penalty on the weights, for ``objective="mkl"`` only; None takes one that is on average as
        steep as the evidence, or its bound, at the optimum of that.
    p : float, default=1.0
        Order of that penalty, at least 1; 1 keeps few kernels. For ``objective="mkl"`` only.
    jitter : float or None, default=None
        Variance of a white part of the latent values, for ``objective="map"`` only. The fit counts
        it as noise; standard deviations, intervals, densities, draws and ``log_evidence_`` are
        without it, as the noise that the evidence learned covers all scatter.
    n_restarts : int, default=0
        Further starts from random weights, with less noise where that is learned; the
        lowest objective is kept.
    tol : float, default=1e-6
        Stationarity at which to stop. A method given as an object has its own.
    max_iter : int, default=None
        Iterations after which to stop with a warning; None takes what suits the method. A method
        given as an object has its own.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory, and cannot tell noise below
        about 1e-7 ``n_samples`` times the variance of y from none.
    verbose : int, default=0
        1 reports the result of fit, 2 its steps, through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Draws the starts of ``n_restarts``.

    Attributes
    ----------
    weights_ : array of shape (n_kernels,)
        Kernel weights: prior variances of the component functions, shared by all outputs.
    kernel_table_ : DataFrame
        Source, family, parameter, weight, norm and contribution of every kernel.
    log_evidence_ : float
        Log marginal likelihood of the targets at the weights, hyper-prior and jitter not counted:
        exact for Gaussian noise, the variational lower bound for other likelihoods, whatever
        objective chose the weights. With an intercept it is that of contrasts (REML), one less than
        there are samples for every output.
    noise_var_ : float
        Variance of Gaussian noise; absent for other likelihoods.
    likelihood_ : Likelihood
        The likelihood with its parameters as learned.
    dual_coef_, site_var_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Coefficients of the posterior mean, and noise variances of the Gaussian model behind it.
    intercept_ : float or array of shape (n_outputs,)
        Posterior mean of the constant of every output.
    norms_, contributions_ : array of shape (n_kernels,)
        Norms of the component functions, and their shares in the training predictions.
    objective_name_ : str
        What ``objective`` stands for: "evidence", "vb", "map" or "mkl".
    objective_ : float
        What was minimised, hyper-prior included: minus twice the log evidence, its bound, or what
        ``objective`` puts in its place.
    history_ : dict of arrays
        Objective, stationarity, passes and seconds at the start and after each of ``n_iter_``
        iterations (for ``objective="mkl"``, after each).
    stationarity_, converged_ : float, bool
        Largest violation of the conditions of a stationary point, free of units (``gap_`` for
        ``objective="mkl"``); whether it is at most ``tol``.
    gap_ : float
        Relative duality gap of ``objective="mkl"``, which proves how near the minimum is; absent
        for the other objectives, which are not convex.
    solution_ : Inference
        All that the method returned.
    problem_ : BayesProblem
        The training problem with its kernels: large, and so not part of pickles and copies.
    kernels_, sources_ : Kernels, list of str
        The fitted kernel set, cut down to the kernels in use, and names of the sources.
    n_features_in_, feature_names_in_, source_names_in_ : int, array of str, array of str
        Number and names of the columns, or names of the blocks of a row container.

    See Also
    --------
    ProbabilisticMKLClassifier : The same for classes.
    MKLRegressor : Weights by convex optimisation, without uncertainty.

    Notes
    -----
    .. math:: u \sim N\big(b \mathbf 1, \textstyle\sum_m d_m K_m\big), \qquad
              y_i \sim P(\cdot \mid u_i), \qquad d_m \sim p(d)

    With ``fit_intercept=False`` and Gaussian noise this is scikit-learn's
    ``GaussianProcessRegressor`` on the weighted sum of the kernels. Constant targets leave no noise
    to learn, which is then fixed near zero. Standard deviations need self-similarities of the
    queries: arrays of Gram matrices hold none, a :class:`KernelBundle` with a column for every
    sample does. Samples have no weights, ``fit`` takes no ``sample_weight``: to repeat a
    measurement, repeat its row.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProbabilisticMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(60, 2))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> model = ProbabilisticMKLRegressor({"first": [0], "second": [1]}).fit(X, y)
    >>> model.kernel_table_.groupby("source")["contribution"].sum().idxmax()
    'first'
    >>> mean, std = model.predict([[0.5, 0.0], [9.0, 0.0]], return_std=True)
    >>> bool(std[1] > 3 * std[0])
    True
    """

    _default_likelihood = "gaussian"
    _y_domain = "real"

    def __init__(
        self,
        kernels: Any = None,
        *,
        likelihood: str | Likelihood = "gaussian",
        objective: str = "auto",
        method: Any = "auto",
        hyper_prior: Any = None,
        learn_likelihood: bool = True,
        fit_intercept: bool = True,
        normalize: str | None = "variance",
        strength: float | None = None,
        p: float = 1.0,
        jitter: float | None = None,
        n_restarts: int = 0,
        tol: float = 1e-6,
        max_iter: int | None = None,
        dtype: str = "float64",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.likelihood = likelihood
        self.objective = objective
        self.method = method
        self.hyper_prior = hyper_prior
        self.learn_likelihood = learn_likelihood
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.strength = strength
        self.p = p
        self.jitter = jitter
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Infer the weights of the kernels, the noise and the functions.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets; several outputs share the weights and the likelihood.
        """
        self._check_parameters()
        likelihood = self._check_likelihood()
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        y = check_real_targets(self, X, y)
        self._flat = y.ndim == 1
        self._learn_posterior(X, [y.reshape(len(y), -1)], likelihood)
        if self._flat:
            self.intercept_: Any = float(self.intercept_[0])
        if self.learn_likelihood and self.likelihood_.is_gaussian and np.any(np.ptp(y, axis=0) > 0):
            self._warn_without_noise()
        return self

    def _warn_without_noise(self) -> None:
        """Say so where kernels explain every target, which noise-free data do, and overfitting."""
        noise = self.noise_var_
        if noise <= 2 * noise_floor(cast(BayesProblem, self.problem_)):
            warn(
                f"The noise variance ended at its floor, {noise:.1e}: the kernels explain all "
                "targets. Unless these are free of noise, predictive intervals are too "
                "narrow; use fewer kernels, or fix the noise by likelihood=Gaussian(noise_var=...) "
                "and learn_likelihood=False.",
                UserWarning,
            )

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and how far they may scatter.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training; Gram matrices between them and the
            training samples.
        return_std : bool, default=False
            Also return the standard deviation of the target, noise included; that of the latent
            function alone is in :meth:`predict_latent`.

        Returns
        -------
        mean : array of shape (n_samples,) or (n_samples, n_outputs)
        std : array of the same shape, if ``return_std``
            Infinite for Student-t noise of at most 2 degrees of freedom.
        """
        if not return_std:
            return self.predict_latent(X)
        mean, variance = self._latent_moments(X)
        std = np.sqrt(self.likelihood_.predictive_var(mean, variance))
        return self._squeeze(mean), self._squeeze(std)

    def predict_interval(self, X: Any, coverage: float = 0.95) -> Array:
        """Credible intervals that hold the target with a given probability.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        coverage : float, default=0.95
            Probability of the interval, equally much left out at both ends.

        Returns
        -------
        interval : array of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper ends.
        """
        check_scalar(
            coverage, "coverage", (float, int), min_val=0, max_val=1, include_boundaries="neither"
        )
        mean, variance = self._latent_moments(X)
        tails = ((1 - coverage) / 2, (1 + coverage) / 2)
        ends = [
            self.likelihood_.predictive_quantile(np.full(mean.shape, q), mean, variance)
            for q in tails
        ]
        return np.stack([self._squeeze(end) for end in ends], axis=-1)

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Log-density of targets under the model: the honest score of a forecast.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.

        Returns
        -------
        log_density : array of the shape of y
        """
        mean, variance = self._latent_moments(X)
        y = check_real_targets(self, X, y).reshape(mean.shape)
        return self._squeeze(self.likelihood_.log_predictive(y, mean, variance))

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw targets from the posterior, jointly for all samples.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=0
            Fixes the draws.

        Returns
        -------
        y : array of shape (n_queries, n_samples) or (n_queries, n_outputs, n_samples)
        """
        mean, covariance = self.predict_latent(X, return_cov=True)
        rng = np.random.default_rng(check_random_state(random_state).randint(1 << 31))
        means, covariances = (
            mean.reshape(len(mean), -1),
            covariance.reshape(*covariance.shape[:2], -1),
        )
        draws = [
            rng.multivariate_normal(m, covariances[:, :, o], n_samples, "ignore", method="eigh").T
            for o, m in enumerate(means.T)
        ]
        y = self.likelihood_.sample(np.stack(draws, axis=1), rng)
        return y[:, 0] if self._flat else y
