"""BayesianMKLRegressor: numbers from kernels whose weights all have a posterior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm
from sklearn.base import RegressorMixin
from sklearn.utils import (
    check_scalar,
)

from .._component import Array
from ._bayesian import BaseBayesianMKL
from ._inputs import check_inputs, refuse_other_order
from ._rollback import all_or_nothing
from ._targets import check_real_targets, target_scales


class BayesianMKLRegressor(RegressorMixin, BaseBayesianMKL):
    r"""Regression whose kernel weights, sample weights and noise all have a posterior.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute. None takes a linear kernel and RBF kernels of three widths on the table,
        or on every view of a :class:`ViewBundle`; a dict maps names of sources to their columns;
        "precomputed" reads X as Gram matrices of shape (n, n, n_kernels).
    sparsity : {"none", "kernels", "samples", "both"}, default="none"
        Whose weights may vanish: these get Gamma priors of shape 1e-10 and scale 1e10 on their
        precisions, all others of shape 1 and scale 1.
    priors : dict or Priors, default=None
        Shapes and *scales* of the Gamma priors by the names of [G12]_, such as
        ``{"alpha_omega": 1e-10, "beta_omega": 1e10}``: lambda for sample weights, upsilon for
        intermediate outputs, gamma for biases, omega for kernel weights, epsilon for noise.
    outputs : {"shared_weights", "shared_samples"}, default="shared_weights"
        What several targets share: the kernel weights ([G12]_, Section 4), or the sample weights
        while each has kernel weights of its own.
    sample_precision : {"separate", "shared"}, default="separate"
        One precision for every sample weight, as in [G12]_, or one for all of an output, where
        none vanishes alone, so that ``sparsity`` must not ask for it, and an iteration needs no
        factorisation.
    inference : {"mean_field", "structured"}, default="mean_field"
        "structured" keeps sample weights and intermediate outputs dependent: a better bound, at
        the cost of a product of square matrices per kernel and iteration. It is also tried, and
        kept if its bound is larger, where all weights of the mean-field family vanish.
    updates : {"accelerated", "plain"}, default="accelerated"
        "plain" runs the updates of [G12]_ one by one, from a random start, to see what the paper
        saw after ``max_iter`` iterations; many more of them lead to the same kind of optima.
    predictive : {"full", "plug_in"}, default="full"
        Whether predictive variances include what is not known about intermediate outputs;
        "plug_in" is the formula of [G12]_, which is too sure.
    standardize : bool, default=True
        Bring targets to mean 0 and variance 1 before inference, because the priors know no units;
        predictions, ``dual_coef_``, ``intercept_`` and ``noise_var_`` are in the units of y.
    prune : bool, default=False
        Drop kernels and samples that no longer matter while iterating. Faster; the bound is then
        that of the smaller model.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How kernels are made comparable. A :class:`KernelSet` given as ``kernels`` has its own.
    n_restarts : int, default=0
        Random starts besides the deterministic one, in units of the targets, far from it and
        near it in turn; the largest bound is kept.
    tol : float, default=1e-6
        Relative change of the bound at which to stop; predictions must change by less than its
        root, relative to their size.
    max_iter : int, default=500
        Iterations after which to stop with a warning.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory.
    verbose : int, default=0
        1 reports the result of fit through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Draws the starts of ``n_restarts``, and the first one of plain updates.

    Attributes
    ----------
    weights_, weights_std_ : array of shape (n_kernels,) or (n_outputs, n_kernels)
        Posterior means and standard deviations of the kernel weights, which may be negative.
    kernel_table_ : DataFrame
        Source, family, parameter, weight, std, lower, upper, norm, contribution and active of
        every kernel; ``lower`` and ``upper`` bound the 95 % credible interval.
    active_kernels_ : array of bool of shape (n_kernels,)
        Kernels whose ``contributions_`` exceed 0.01 in some output, or 0.001 where the 95 %
        credible interval of the weight excludes zero; none where all weights vanished.
    active_samples_ : array of int
        Samples whose expected squared weight exceeds a millionth of the largest, in any output.
    elbo_ : float
        Lower bound of the log evidence of the targets as inference saw them.
    noise_var_ : float or array of shape (n_outputs,)
        Posterior mean of the noise variance.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Posterior means of the sample weights.
    intercept_ : float or array of shape (n_outputs,)
        Posterior means of the biases.
    dual_precision_, weight_precision_ : array
        Posterior means of the precisions of sample and kernel weights; infinite where pruned.
    norms_, contributions_ : array of the shape of weights_
        Norms of the component functions, and their shares in the training predictions.
    history_ : dict of arrays
        ``elbo``, ``prediction_change``, ``n_kernels``, ``n_samples``, ``n_passes`` and
        ``seconds`` after each iteration. The bound never falls while the model stays the same.
    n_iter_ : int
        Iterations used.
    converged_ : bool
        Whether bound and predictions came to rest.
    inference_ : {"mean_field", "structured"}
        The family of the posterior.
    priors_ : dict
        Shapes and scales of all Gamma priors.
    kernels_ : Kernels
        The fitted kernel set, without pruned kernels.
    sources_ : list of str
        Names of the sources.
    n_features_in_ : int
        Number of columns (of training samples for "precomputed").
    feature_names_in_, source_names_in_ : array of str
        Names of the columns of a DataFrame, or of the blocks of a row container.

    See Also
    --------
    BayesianMKLClassifier : The same for classes.
    ProbabilisticMKLRegressor : Kernel weights as prior variances, chosen by the evidence.

    Notes
    -----
    .. math:: a_i \sim N(0, \lambda_i^{-1}), \quad
              g_i^m \sim N(k_{m,i}^\top a, \upsilon^{-1}), \quad
              e_m \sim N(0, \omega_m^{-1}), \quad b \sim N(0, \gamma^{-1}), \quad
              y_i \sim N(e^\top g_i + b, \epsilon^{-1})

    with Gamma priors on all precisions ([G12]_). Sparse priors have many local optima, and which
    kernels look alive depends on when the iteration stops: see ``history_`` and ``n_restarts``.
    Log-densities and intervals take the predictive distribution for a Gaussian with the moments
    of :meth:`predict`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import BayesianMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(60, 2))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    >>> model = BayesianMKLRegressor({"first": [0], "second": [1]}).fit(X, y)
    >>> model.kernel_table_.groupby("source")["contribution"].sum().idxmax()
    'first'
    >>> mean, std = model.predict([[0.5, 0.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.0)) < 3 * std[0])
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        sparsity: str = "none",
        priors: Any = None,
        outputs: str = "shared_weights",
        sample_precision: str = "separate",
        inference: str = "mean_field",
        updates: str = "accelerated",
        predictive: str = "full",
        standardize: bool = True,
        prune: bool = False,
        normalize: str | None = "variance",
        n_restarts: int = 0,
        tol: float = 1e-6,
        max_iter: int = 500,
        dtype: str = "float64",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.sparsity = sparsity
        self.priors = priors
        self.outputs = outputs
        self.sample_precision = sample_precision
        self.inference = inference
        self.updates = updates
        self.predictive = predictive
        self.standardize = standardize
        self.prune = prune
        self.normalize = normalize
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
        """Infer the posterior of all weights and of the noise.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        """
        self._check_parameters()
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        y = check_real_targets(self, X, y)
        if len(y) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 samples, got n_samples={len(y)}."
            )
        self._flat = y.ndim == 1
        Y = y.reshape(len(y), -1)
        self._y_mean, self._y_scale = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if self.standardize:
            self._y_mean, self._y_scale = Y.mean(axis=0), target_scales(Y)
        self._infer(X, np.ascontiguousarray(((Y - self._y_mean) / self._y_scale).T), "real")
        noise = self._y_scale**2 * self._posterior.factors.eps.inverse_mean
        self.noise_var_ = float(noise[0]) if self._flat else noise
        if self._flat:
            self.intercept_: Any = float(self.intercept_[0])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and how far they may scatter.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training; Gram matrices between them and the
            training samples.
        return_std : bool, default=False
            Also return the standard deviation of the target, noise included; that of the
            predictor alone is in :meth:`predict_latent`.

        Returns
        -------
        mean : array of shape (n_samples,) or (n_samples, n_outputs)
        std : array of the same shape, if ``return_std``
        """
        if not return_std:
            return self.predict_latent(X)
        mean, var = self._target_moments(X)
        return self._squeeze(mean), self._squeeze(np.sqrt(var))

    def _target_moments(self, X: Any) -> tuple[Array, Array]:
        """Means and variances of targets, shape (n, n_outputs) each."""
        mean, var = self._moments(X)
        eps = self._posterior.factors.eps
        noise = eps.inverse_mean if self.predictive == "full" else 1 / eps.mean
        return mean, var + self._y_scale**2 * noise

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
        mean, var = self._target_moments(X)
        reach = ndtri((1 + coverage) / 2) * np.sqrt(var)
        return np.stack([self._squeeze(mean - reach), self._squeeze(mean + reach)], axis=-1)

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
        mean, var = self._target_moments(X)
        y = check_real_targets(self, X, y)
        if y.size != mean.size:
            raise ValueError(
                f"y must have shape {self._squeeze(mean).shape}, one target per sample and output "
                f"of training, got {y.shape}."
            )
        return self._squeeze(norm.logpdf(y.reshape(mean.shape), mean, np.sqrt(var)))

    def _table_labels(self) -> list[dict[str, Any]]:
        if self.weights_.ndim == 1:
            return [{}]
        return [{"output": o} for o in range(len(self.weights_))]
