"""MKLClassifier: classes from many kernels whose weights are learned."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._component import Array
from ..banks.base import Index
from ..losses import Logistic, Loss, Multinomial
from ..solvers import Problem, Solution
from ._base import BaseMKL, Prepared, Tuning
from ._calibration import (
    fit_sigmoid,
    held_out_decisions,
    normalize_probabilities,
    sigmoid_probabilities,
    stratified_folds,
)
from ._inputs import check_inputs, refuse_other_order
from ._logging import log_level
from ._rollback import all_or_nothing
from ._sample_weights import check_sample_weight, class_factors


def _has_probabilities(self: Any) -> bool:
    if self.calibrate or self._part("loss").likelihood:
        return True
    raise AttributeError(
        f"predict_proba needs a loss that is a likelihood, or out-of-fold decisions: fit "
        f"{type(self).__name__} with loss='logistic' or calibrate=True; got loss={self.loss!r}."
    )


class MKLClassifier(ClassifierMixin, BaseMKL):
    r"""Classification that learns which kernels, and so which data sources, to trust.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute. None takes a linear kernel and RBF kernels of three widths on the table,
        or on every view of a :class:`ViewBundle`; a dict maps names of sources to their columns;
        "precomputed" reads X as Gram matrices of shape (n, n, n_kernels).
    loss : str or Loss, default="logistic"
        Any of "logistic", "hinge", "squared_hinge", or a regression loss on targets -1 and 1. With
        more than two classes that share their weights, "logistic" is the multinomial loss; the
        others are taken one class against the rest.
    regularizer : str or Regularizer, default="elasticnet"
        What is asked of the weights: "elasticnet", "lp", "uniform", "wedge", ...
    C : float, default=1.0
        Inverse regularization.
    fit_intercept : bool, default=True
        Add a constant that is not regularized.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How kernels are made comparable. A :class:`KernelSet` given as ``kernels`` has its own.
    weights : {"shared", "per_class"}, default="shared"
        With more than two classes: one set of kernel weights for all of them, or one for each
        class against the rest.
    class_weight : dict or "balanced", default=None
        Factors on C by class; "balanced" gives all classes the same total.
    calibrate : bool, default=False
        Give ``predict_proba`` to a loss that is no likelihood, by sigmoids fitted to the decisions
        of a stratified three-fold cross-validation inside fit. Classes by greatest probability may
        then differ from ``predict``.
    solver : str or Solver, default="auto"
        How the minimum is found: "dual_newton", "newton", "block_descent", "dal" or "alternating";
        "auto" picks by what loss, regularizer and kernels allow.
    tol : float, default=1e-6
        Relative duality gap at which to stop. A solver given as an object has its own.
    max_iter : int, default=200
        Iterations after which to stop with a warning. A solver given as an object has its own.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory. It is accurate on centred
        kernels ("variance", "center"); factors of linear kernels stay in float64.
    verbose : int, default=0
        1 reports the result of fit, 2 its steps, through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Shuffles the folds of ``calibrate=True``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, in the order of outputs and probabilities.
    weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Kernel weights; one row per class for ``weights="per_class"``.
    kernel_table_ : DataFrame
        Source, family, parameter, weight, norm and contribution of every kernel (per class).
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_classes)
        Coefficients of the training samples.
    intercept_ : array of shape (1,) or (n_classes,)
        Constant of every output.
    norms_, contributions_ : array of the shape of weights_
        Norms of the component functions, and their shares in the training decisions.
    objective_ : float
        The objective at the solution (the sum over classes for ``weights="per_class"``).
    gap_ : float
        Relative duality gap: the objective is within this share of its minimum (the worst class).
    n_iter_ : int
        Iterations used (by the slowest class).
    converged_ : bool
        Whether ``gap_`` is at most ``tol``.
    solution_ : Solution or list of Solution
        All that the solver returned, with its history (one per class for
        ``weights="per_class"``).
    kernels_ : Kernels
        The fitted kernel set, cut down to what prediction needs.
    support_ : array of int
        Training samples with a non-zero coefficient.
    sources_ : list of str
        Names of the sources.
    sigmoids_ : array of shape (n_outputs, 2) or None
        Slopes and offsets learned by ``calibrate=True``.
    n_features_in_ : int
        Number of columns (of training samples for "precomputed").
    feature_names_in_ : array of str
        Names of the columns of a DataFrame.
    source_names_in_ : array of str
        Names of the blocks of a row container.

    See Also
    --------
    MKLRegressor : The same for numbers.
    MultiTaskMKLClassifier : Several tasks that share part of their functions.

    Notes
    -----
    .. math:: \min_{d \ge 0, f, b}\; C \sum_i \ell\Big(y_i, \sum_m f_m(x_i) + b\Big)
              + \tfrac12 \sum_m \|f_m\|^2 / d_m + \tfrac12 h(d)

    where :math:`\|f_m\|^2` sums over the classes that share their weights. With
    ``regularizer="uniform"``, ``loss="hinge"`` and ``normalize=None`` this is scikit-learn's
    ``SVC(C=C)`` on the sum of the kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> y = np.where(np.abs(X[:, 0]) > 0.7, "far", "near")
    >>> model = MKLClassifier({"first": [0], "rest": slice(1, 6)}).fit(X, y)
    >>> model.decision_contributions(X, by="source").std(axis=0).argmax()
    np.int64(0)
    >>> model.converged_, model.score(X, y) > 0.9
    (True, True)
    """

    _default_loss = "logistic"

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: str | Loss = "logistic",
        regularizer: Any = "elasticnet",
        C: float = 1.0,
        fit_intercept: bool = True,
        normalize: str | None = "variance",
        weights: str = "shared",
        class_weight: Any = None,
        calibrate: bool = False,
        solver: Any = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
        dtype: str = "float64",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.regularizer = regularizer
        self.C = C
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.weights = weights
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn functions and kernel weights.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Factors on C; an integer weight equals repetition.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, tuning: Tuning | None = None) -> Self:
        with log_level(self.verbose):
            self._learn(*self._prepare(X, y, sample_weight), tuning)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check everything that the user gave, and encode the labels."""
        self._check_parameters()
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        y = self._check_labels(y)
        check_consistent_length(X, y)
        s = check_sample_weight(sample_weight, X.shape[0])
        codes, cost = self._encode(y, s)
        loss, Ys = self._make_targets(codes)
        self.sigmoids_: Array | None = None
        return X, Ys, loss, s, cost

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.weights not in ("shared", "per_class"):
            raise ValueError(f"weights must be 'shared' or 'per_class', got {self.weights!r}.")

    def _check_labels(self, y: Any) -> Array:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return np.asarray(y)

    def _encode(self, y: Array, s: Array | None) -> tuple[Array, Array]:
        """Classes as numbers (-1 for samples without weight), and the factors on C."""
        cost = np.ones(len(y)) if s is None else s
        kept = cost > 0
        codes = np.full(len(y), -1)
        self.classes_, codes[kept] = np.unique(y[kept], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but all samples "
                f"(of positive weight) belong to one class: {self.classes_.tolist()[0]!r}."
            )
        if self.class_weight is not None:
            factors = class_factors(self.class_weight, self.classes_, codes[kept], cost[kept])
            if np.sum(factors > 0) < 2:
                raise ValueError(
                    f"class_weight={self.class_weight!r} leaves fewer than 2 classes with a "
                    "positive weight; leave the samples of the others out instead."
                )
            cost = cost * np.append(factors, 0)[codes]
        return codes, cost

    def _make_targets(self, codes: Array) -> tuple[Loss, list[Array]]:
        """The loss, and one array of targets per set of kernel weights."""
        loss: Loss = self._part("loss")
        likelihood = loss.likelihood
        columns = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        sign = np.where(codes[:, np.newaxis] == columns, 1.0, -1.0)
        if self.weights == "per_class":
            loss = Logistic() if likelihood else loss
            return loss, [sign[:, [t]] for t in range(len(columns))]
        if likelihood and len(columns) > 1:
            return Multinomial(), [(sign + 1) / 2]
        return Logistic() if likelihood else loss, [sign]

    def _publish(
        self, problems: list[Problem], solutions: list[Solution], kept: Index, n_samples: int
    ) -> None:
        super()._publish(problems, solutions, kept, n_samples)
        if self.calibrate and not problems[0].loss.likelihood:
            self.sigmoids_ = self._fit_sigmoids(problems, solutions)

    def _fit_sigmoids(self, problems: list[Problem], solutions: list[Solution]) -> Array:
        """Slope and offset of the probability of every output."""
        Y = np.hstack([problem.y for problem in problems])
        codes = (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)
        folds = list(stratified_folds(codes, self.random_state))
        decisions = [
            held_out_decisions(problem, self._make_solver(problem), solution, folds)
            for problem, solution in zip(problems, solutions, strict=True)
        ]
        s = problems[0].cost[:, 0] / problems[0].C
        return np.array(
            [fit_sigmoid(f, y > 0, s) for f, y in zip(np.hstack(decisions).T, Y.T, strict=True)]
        )

    def decision_function(self, X: Any) -> Array:
        """How far every sample is on the side of every class.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training; Gram matrices between them and the
            training samples.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        return self._decision_function_from(self._outputs(X))

    def _decision_function_from(self, F: Array) -> Array:
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X: Any) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        return self._predict_from(self._outputs(X))

    def _predict_from(self, F: Array) -> Array:
        winner = (F[:, 0] > 0).astype(int) if len(self.classes_) == 2 else F.argmax(axis=1)
        return np.asarray(self.classes_[winner])

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes.

        The softmax or the logistic function of the decisions for the logistic loss (normalised
        over the classes for ``weights="per_class"``), sigmoids fitted to out-of-fold decisions for
        ``calibrate=True``.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training.

        Returns
        -------
        p : array of shape (n_samples, n_classes)
        """
        return self._predict_proba_from(self._outputs(X))

    def _predict_proba_from(self, F: Array) -> Array:
        if self.sigmoids_ is not None:
            return sigmoid_probabilities(F, self.sigmoids_)
        if F.shape[1] > 1 and self.weights == "shared":
            return np.asarray(softmax(F, axis=1))
        return normalize_probabilities(expit(F))

    @available_if(_has_probabilities)
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
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _table_labels(self) -> list[dict[str, Any]]:
        if self.weights_.ndim == 1:
            return [{}]
        return [{"class": label} for label in self.classes_]
