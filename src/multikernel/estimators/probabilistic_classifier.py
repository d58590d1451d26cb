"""ProbabilisticMKLClassifier: class probabilities averaged over what is not known."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..likelihoods import Likelihood
from ._inputs import check_inputs, refuse_other_order
from ._probabilistic import BaseProbabilisticMKL
from ._rollback import all_or_nothing


class ProbabilisticMKLClassifier(ClassifierMixin, BaseProbabilisticMKL):
    r"""Classification whose probabilities know what the model does not know.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute. None takes a linear kernel and RBF kernels of three widths on the table,
        or on every view of a :class:`ViewBundle`; a dict maps names of sources to their columns;
        "precomputed" reads X as Gram matrices of shape (n, n, n_kernels).
    likelihood : str or Likelihood, default="logistic"
        Probability of a label given the latent function.
    objective : {"auto", "vb", "map", "mkl"}, default="auto"
        What chooses the weights: the variational lower bound of the evidence ("vb", and "auto"),
        the joint mode of weights and function (which collapses for this likelihood unless a
        hyper-prior or jitter holds it), or the convex MKL objective.
    weights : {"shared", "per_class"}, default="shared"
        With more than two classes, each against the rest: one set of kernel weights for all of
        them, or one for each.
    method : str, Method or None, default="auto"
        How the optimum of the bound is found: "newton", "mackay" or "double_loop"; "auto", and
        None, is the fastest that is safe.
    hyper_prior : str, HyperPrior or None, default=None
        Prior on the weights: "gamma", "inverse_gamma", "power". None has no preference; the best
        weights of separable classes may then be infinite, which a warning tells.
    learn_likelihood : bool, default=True
        Learn the parameters of the likelihood; the logistic one has none to learn.
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
        it as noise; predictions and ``log_evidence_`` are without it.
    n_restarts : int, default=0
        Further starts from random weights; the lowest objective is kept.
    tol : float, default=1e-6
        Stationarity at which to stop. A method given as an object has its own.
    max_iter : int, default=None
        Iterations after which to stop with a warning; None takes what suits the method. A method
        given as an object has its own.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory.
    verbose : int, default=0
        1 reports the result of fit, 2 its steps, through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Draws the starts of ``n_restarts``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, in the order of outputs and probabilities.
    weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Kernel weights: prior variances of the component functions; one row per class for
        ``weights="per_class"``.
    kernel_table_ : DataFrame
        Source, family, parameter, weight, norm and contribution of every kernel (per class).
    log_evidence_ : float
        Variational lower bound of the log marginal likelihood of the labels at the weights,
        hyper-prior and jitter not counted, whatever objective chose them; with more than two
        classes the sum over classes against the rest.
    likelihood_ : Likelihood
        The likelihood with its parameters.
    dual_coef_, site_var_ : array of shape (n_samples,) or (n_samples, n_classes)
        Coefficients of the posterior mean, and noise variances of the Gaussian model behind it.
    intercept_ : array of shape (1,) or (n_classes,)
        Posterior mean of the constant of every output.
    norms_, contributions_ : array of the shape of weights_
        Norms of the component functions, and their shares in the training predictions.
    objective_name_ : str
        What ``objective`` stands for: "vb", "map" or "mkl".
    objective_ : float
        What was minimised, hyper-prior included: minus twice the bound, or what ``objective``
        puts in its place.
    history_ : dict of arrays, or list of them
        As for :class:`ProbabilisticMKLRegressor` (one per class for ``weights="per_class"``).
    stationarity_, converged_ : float, bool
        Largest violation of the conditions of a stationary point, free of units (``gap_`` for
        ``objective="mkl"``); whether it is at most ``tol``.
    gap_ : float
        Relative duality gap of ``objective="mkl"``, which proves how near the minimum is; absent
        for the other objectives, which are not convex.
    n_iter_ : int
        Iterations used (by the slowest class).
    solution_ : Inference or list of Inference
        All that the method returned.
    problem_ : BayesProblem or list of BayesProblem
        The training problem with its kernels: large, and so not part of pickles and copies.
    kernels_, sources_ : Kernels, list of str
        The fitted kernel set, cut down to the kernels in use, and names of the sources.
    n_features_in_, feature_names_in_, source_names_in_ : int, array of str, array of str
        Number and names of the columns, or names of the blocks of a row container.

    See Also
    --------
    ProbabilisticMKLRegressor : The same for numbers.
    MKLClassifier : Weights by convex optimisation, probabilities plugged in.

    Notes
    -----
    .. math:: u \sim N\big(b \mathbf 1, \textstyle\sum_m d_m K_m\big), \qquad
              P(y_i \mid u_i) = \sigma(y_i u_i), \qquad
              P(y_* = 1) = \int \sigma(u_*)\, q(u_*)\, du_*

    With more than two classes, each has a latent function against the rest, and the averaged
    probabilities are divided by their sum. They need self-similarities of the queries: arrays of
    Gram matrices hold none, a :class:`KernelBundle` with a column for every sample does. Samples
    have no weights: ``fit`` takes no ``sample_weight``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import ProbabilisticMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(np.abs(X[:, 0]) + 0.4 * rng.normal(size=80) > 0.7, "far", "near")
    >>> model = ProbabilisticMKLClassifier({"first": [0], "second": [1]}).fit(X, y)
    >>> model.kernel_table_.groupby("source")["contribution"].sum().idxmax()
    'first'
    >>> model.predict([[0.0, 0.0], [2.0, 0.0]]).tolist()
    ['near', 'far']
    """

    _default_likelihood = "logistic"
    _y_domain = "sign"

    def __init__(
        self,
        kernels: Any = None,
        *,
        likelihood: str | Likelihood = "logistic",
        objective: str = "auto",
        weights: str = "shared",
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
        self.weights = weights
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

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Infer the weights of the kernels and the functions.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,)
            Class labels.
        """
        self._check_parameters()
        if self.weights not in ("shared", "per_class"):
            raise ValueError(f"weights must be 'shared' or 'per_class', got {self.weights!r}.")
        likelihood = self._check_likelihood()
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        y = self._check_labels(y)
        check_consistent_length(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but all samples "
                f"belong to one class: {self.classes_.tolist()[0]!r}."
            )
        self._flat = len(self.classes_) == 2
        columns = [1] if self._flat else list(range(len(self.classes_)))
        sign = np.where(codes[:, np.newaxis] == columns, 1.0, -1.0)
        Ys = np.split(sign, len(columns), axis=1) if self.weights == "per_class" else [sign]
        self._learn_posterior(X, Ys, likelihood)
        return self

    def _check_labels(self, y: Any) -> Array:
        self._require_targets(y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class labels.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training. For arrays of Gram matrices and more
            than two classes, the class of the largest latent mean.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        check_is_fitted(self)
        if self._flat:  # the averaged probability exceeds one half where the mean is positive
            winner = (self.predict_latent(X) > 0).astype(int)
        elif getattr(self.kernels_, "keyed_", True):
            winner = self.predict_log_proba(X).argmax(axis=1)
        else:
            winner = self.predict_latent(X).argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes, averaged over the posterior of the latent functions.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of all classes.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        log_p : array of shape (n_samples, n_classes)
        """
        mean, variance = self._latent_moments(X)
        signs = [-1.0, 1.0] if self._flat else [1.0]
        logs = np.hstack(
            [self.likelihood_.log_predictive(np.full(mean.shape, s), mean, variance) for s in signs]
        )
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Log-probability of labels under the model: the honest score of a forecast.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        log_probability : array of shape (n_samples,)
        """
        logs = self.predict_log_proba(X)
        y = self._check_labels(y)
        check_consistent_length(logs, y)
        if len(unknown := np.setdiff1d(y, self.classes_)):
            raise ValueError(
                f"y holds labels that were not among the classes of training, first "
                f"{unknown.tolist()[0]!r}; the classes are {self.classes_.tolist()}."
            )
        return logs[np.arange(len(y)), np.searchsorted(self.classes_, y)]

    def _table_labels(self) -> list[dict[str, Any]]:
        if self.weights_.ndim == 1:
            return [{}]
        return [{"class": label} for label in self.classes_]
