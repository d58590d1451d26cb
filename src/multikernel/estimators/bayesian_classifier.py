"""BayesianMKLClassifier: classes from kernels whose weights all have a posterior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtr
from sklearn.base import ClassifierMixin
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_scalar,
    column_or_1d,
)
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..bayes.conjugate.probit import largest_probability, sign_probability
from ._bayesian import BaseBayesianMKL
from ._inputs import check_inputs, refuse_other_order
from ._rollback import all_or_nothing

_KNOWN_PRECISION = {"alpha_upsilon": 1e6, "beta_upsilon": 1e-4}  # mean 100, sd 0.1


class BayesianMKLClassifier(ClassifierMixin, BaseBayesianMKL):
    r"""Classification whose kernel weights and sample weights have a posterior.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute, as for :class:`BayesianMKLRegressor`.
    coding : {"probit", "regression"}, default="probit"
        Labels as signs or order of latent scores, or as targets -1 and +1 of a regression, one
        per class, which is how [G12]_ classifies.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        More than two classes behind one probit likelihood in which the largest score wins, or
        each against the rest. The regression coding always is each against the rest.
    sparsity : {"none", "kernels", "samples", "both"}, default="none"
        Whose weights may vanish.
    priors : dict or Priors, default=None
        Shapes and *scales* of the Gamma priors by the names of [G12]_. The probit codings keep the
        precision of intermediate outputs near 100 (shape 1e6, scale 1e-4), as BEMKL does: with a
        prior that lets it fall, all weights may vanish.
    outputs : {"shared_weights", "shared_samples"}, default="shared_weights"
        What several classes or labels share.
    sample_precision : {"separate", "shared"}, default="separate"
        One precision for every sample weight, or one for all of an output.
    inference : {"mean_field", "structured"}, default="mean_field"
        "structured" keeps sample weights and intermediate outputs dependent. It is also tried,
        and kept if its bound is larger, where all weights of the mean-field family vanish, which
        with few samples per class they do.
    updates : {"accelerated", "plain"}, default="accelerated"
        "plain" runs the updates of [G12]_ one by one, from a random start.
    predictive : {"full", "plug_in"}, default="full"
        Whether probabilities know what is not known about intermediate outputs.
    margin : float, default=0.0
        Scores between -margin and +margin belong to no class: for two classes, labels, and each
        against the rest, with the probit coding; an error elsewhere.
    prune : bool, default=False
        Drop kernels and samples that no longer matter while iterating.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How kernels are made comparable. A :class:`KernelSet` given as ``kernels`` has its own.
    n_restarts : int, default=0
        Random starts besides the deterministic one, in units of the targets, far from it and
        near it in turn; the largest bound is kept.
    tol : float, default=1e-6
        Relative change of the bound at which to stop; predictions must change by less than its
        root, relative to their size.
    max_iter : int, default=1000
        Iterations after which to stop with a warning.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory.
    verbose : int, default=0
        1 reports the result of fit through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Draws the starts of ``n_restarts``, and the first one of plain updates.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, in the order of outputs and probabilities; for several labels per sample, the
        numbers of the columns of y.
    weights_, weights_std_ : array of shape (n_kernels,) or (n_classes, n_kernels)
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
        Lower bound of the log evidence of the labels.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_classes)
        Posterior means of the sample weights.
    intercept_ : array of shape (1,) or (n_classes,)
        Posterior means of the biases.
    dual_precision_, weight_precision_ : array
        Posterior means of the precisions of sample and kernel weights; infinite where pruned.
    norms_, contributions_ : array of the shape of weights_
        Norms of the component functions, and their shares in the training predictions.
    history_ : dict of arrays
        ``elbo``, ``prediction_change``, ``n_kernels``, ``n_samples``, ``n_passes`` and
        ``seconds`` after each iteration.
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
    BayesianMKLRegressor : The same for numbers.
    ProbabilisticMKLClassifier : Kernel weights as prior variances, chosen by a bound.

    Notes
    -----
    Scores :math:`f \sim N(e^\top g + b, 1)` stand behind the labels: the sign of one score, or
    the largest of several. With the predictor of mean :math:`\mu` and variance v, the probability
    of +1 is :math:`\Phi(\mu / \sqrt{1 + v})`; that of a class among several is the probability
    that its score is the largest, scores taken as independent.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import BayesianMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(np.abs(X[:, 0]) + 0.2 * rng.normal(size=80) > 0.7, "far", "near")
    >>> model = BayesianMKLClassifier({"first": [0], "second": [1]}).fit(X, y)
    >>> model.kernel_table_.groupby("source")["contribution"].sum().idxmax()
    'first'
    >>> model.predict([[0.0, 0.0], [2.0, 0.0]]).tolist()
    ['near', 'far']
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        coding: str = "probit",
        multi_class: str = "multinomial",
        sparsity: str = "none",
        priors: Any = None,
        outputs: str = "shared_weights",
        sample_precision: str = "separate",
        inference: str = "mean_field",
        updates: str = "accelerated",
        predictive: str = "full",
        margin: float = 0.0,
        prune: bool = False,
        normalize: str | None = "variance",
        n_restarts: int = 0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        dtype: str = "float64",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.coding = coding
        self.multi_class = multi_class
        self.sparsity = sparsity
        self.priors = priors
        self.outputs = outputs
        self.sample_precision = sample_precision
        self.inference = inference
        self.updates = updates
        self.predictive = predictive
        self.margin = margin
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
        tags.classifier_tags.multi_label = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Infer the posterior of all weights.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix of zeros and ones for several labels.
        """
        self._check_parameters()
        check_scalar(self.margin, "margin", (float, int), min_val=0)
        for name, known in (
            ("coding", ("probit", "regression")),
            ("multi_class", ("multinomial", "ovr")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}.")
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        signs = self._encode(y)
        check_consistent_length(X, signs)
        self._y_mean, self._y_scale = np.zeros(signs.shape[1]), np.ones(signs.shape[1])
        self._targets = self._choose_targets(signs.shape[1])
        Y = (signs > 0).astype(float) if self._targets == "onehot" else signs
        if self.margin and self._targets != "sign":
            raise ValueError(
                f"margin={self.margin!r} has no effect on coding={self.coding!r} with "
                f"{len(self.classes_)} classes and multi_class={self.multi_class!r}; leave it 0, "
                "or use coding='probit' with two classes, several labels or multi_class='ovr'."
            )
        self._infer(X, np.ascontiguousarray(Y.T), self._targets, float(self.margin))
        return self

    @property
    def _own_priors(self) -> dict[str, float]:
        """Intermediate outputs of known precision for the probit codings."""
        return _KNOWN_PRECISION if self.coding == "probit" else {}

    def _encode(self, y: Any) -> Array:
        """Signs of shape (n, n_outputs), and ``classes_``."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
        self._multi_label = (
            len(shape) == 2 and shape[1] > 1 and type_of_target(y) == "multilabel-indicator"
        )
        if self._multi_label:
            y = check_array(y, accept_sparse=True, input_name="y")
            y = y.toarray() if hasattr(y, "toarray") else y
            self.classes_, self._flat = np.arange(y.shape[1]), False
            signs = np.where(y > 0, 1.0, -1.0)
            if len(constant := np.flatnonzero(np.ptp(signs, axis=0) == 0)):
                raise ValueError(
                    f"Label {constant[0]} is the same for all samples, so there is nothing to "
                    "learn about it; leave its column out."
                )
            return signs
        y = self._check_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but all samples "
                f"belong to one class: {self.classes_.tolist()[0]!r}."
            )
        self._flat = len(self.classes_) == 2
        columns = [1] if self._flat else list(range(len(self.classes_)))
        return np.where(codes[:, np.newaxis] == columns, 1.0, -1.0)

    def _check_labels(self, y: Any) -> Array:
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)

    def _choose_targets(self, n_outputs: int) -> str:
        """What stands behind the labels."""
        if self.coding == "regression":
            return "real"
        several = n_outputs > 1 and not self._multi_label
        return "onehot" if several and self.multi_class == "multinomial" else "sign"

    def predict(self, X: Any) -> Array:
        """Predict the most probable class, or all labels more probable than not.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_labels)
        """
        check_is_fitted(self)
        if self._multi_label:
            return (self.predict_latent(X) > 0).astype(int)
        if self._flat:  # the probability exceeds one half where the mean is positive
            winner = (self.predict_latent(X) > 0).astype(int)
        else:
            winner = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes or labels, averaged over the posterior.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        p : array of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        mean, var = self._moments(X)
        if self._targets == "real":
            eps = self._posterior.factors.eps
            var = var + (eps.inverse_mean if self.predictive == "full" else 1 / eps.mean)
            up = ndtr(mean / np.sqrt(var))
        elif self._targets == "onehot":
            return largest_probability(mean, 1 + var)
        else:
            up = sign_probability(mean, var, float(self.margin))
        if self._multi_label:
            return np.asarray(up)
        if self._flat:
            return np.hstack([1 - up, up])
        if self._targets == "real":
            return largest_probability(mean, var)
        return np.asarray(up / up.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of all classes or labels.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        log_p : array of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))

    def log_predictive_density(self, X: Any, y: Any) -> Array:
        """Log-probability of labels under the model: the honest score of a forecast.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or an indicator matrix.

        Returns
        -------
        log_probability : array of the shape of y
        """
        p = self.predict_proba(X)
        tiny = np.finfo(float).tiny
        if self._multi_label:
            y = check_array(y, input_name="y", accept_sparse=True)
            if y.shape != p.shape:
                raise ValueError(
                    f"y must have shape {p.shape}, one column per label of training, got {y.shape}."
                )
            y = y.toarray() if hasattr(y, "toarray") else y
            return np.log(np.maximum(np.where(y > 0, p, 1 - p), tiny))
        y = self._check_labels(y)
        check_consistent_length(p, y)
        if len(unknown := np.setdiff1d(y, self.classes_)):
            raise ValueError(
                f"y holds labels that were not among the classes of training, first "
                f"{unknown.tolist()[0]!r}; the classes are {self.classes_.tolist()}."
            )
        return np.log(np.maximum(p[np.arange(len(y)), np.searchsorted(self.classes_, y)], tiny))

    def _table_labels(self) -> list[dict[str, Any]]:
        if self.weights_.ndim == 1:
            return [{}]
        return [{"class": label} for label in self.classes_]
