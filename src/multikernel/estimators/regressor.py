"""MKLRegressor: numbers from many kernels whose weights are learned."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from .._component import Array
from ..losses import Loss
from ._base import BaseMKL, Prepared, Tuning
from ._inputs import check_inputs, refuse_other_order
from ._logging import log_level
from ._rollback import all_or_nothing
from ._sample_weights import check_sample_weight
from ._targets import check_real_targets, target_scales


class MKLRegressor(RegressorMixin, BaseMKL):
    r"""Regression that learns which kernels, and so which data sources, to trust.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, "precomputed", default=None
        What to compute. None takes a linear kernel and RBF kernels of three widths on the table,
        or on every view of a :class:`ViewBundle`; a dict maps names of sources to their columns;
        "precomputed" reads X as Gram matrices of shape (n, n, n_kernels).
    loss : str or Loss, default="squared"
        Any of "squared", "absolute", "epsilon_insensitive", "huber".
    regularizer : str or Regularizer, default="elasticnet"
        What is asked of the weights: "elasticnet", "lp", "uniform", "wedge", ...
    C : float, default=1.0
        Inverse regularization.
    fit_intercept : bool, default=True
        Add a constant that is not regularized.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How kernels are made comparable. A :class:`KernelSet` given as ``kernels`` has its own.
    standardize : bool, default=False
        Learn from targets divided by their standard deviation. What penalties say of weights
        depends on the unit of y, except where they bound them (``form="ivanov"``) or fix them;
        targets far from 1 want this, or another C. Predictions, ``dual_coef_`` and ``intercept_``
        are in the units of y; ``objective_``, ``norms_`` and ``solution_``, and what a loss calls
        ``epsilon`` or ``delta``, in standard deviations.
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
        Accepted for uniformity; nothing here is random.

    Attributes
    ----------
    weights_ : array of shape (n_kernels,)
        Kernel weights, shared by all outputs.
    kernel_table_ : DataFrame
        Source, family, parameter, weight, norm and contribution of every kernel.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Coefficients of the training samples.
    intercept_ : float or array of shape (n_outputs,)
        Constant of every output.
    norms_, contributions_ : array of shape (n_kernels,)
        Norms of the component functions, and their shares in the training predictions.
    objective_ : float
        The objective at the solution.
    gap_ : float
        Relative duality gap: the objective is within this share of its minimum.
    n_iter_ : int
        Iterations used.
    converged_ : bool
        Whether ``gap_`` is at most ``tol``.
    solution_ : Solution
        All that the solver returned, with its history.
    kernels_ : Kernels
        The fitted kernel set, cut down to what prediction needs.
    support_ : array of int
        Training samples with a non-zero coefficient.
    sources_ : list of str
        Names of the sources.
    n_features_in_ : int
        Number of columns (of training samples for "precomputed").
    feature_names_in_ : array of str
        Names of the columns of a DataFrame.
    source_names_in_ : array of str
        Names of the blocks of a row container.

    See Also
    --------
    MKLClassifier : The same for classes.
    MultiTaskMKLRegressor : Several tasks that share part of their functions.

    Notes
    -----
    .. math:: \min_{d \ge 0, f, b}\; C \sum_i \ell\Big(y_i, \sum_m f_m(x_i) + b\Big)
              + \tfrac12 \sum_m \|f_m\|^2 / d_m + \tfrac12 h(d)

    With ``regularizer="uniform"``, ``normalize=None`` and ``fit_intercept=False`` this is kernel
    ridge regression on the sum of the kernels with ``alpha=1/C``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 6))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> model = MKLRegressor({"first": [0], "rest": slice(1, 6)}, C=10.0).fit(X, y)
    >>> model.decision_contributions(X, by="source").std(axis=0).argmax()
    np.int64(0)
    >>> model.score(X, y) > 0.9
    True
    """

    _default_loss = "squared"

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: str | Loss = "squared",
        regularizer: Any = "elasticnet",
        C: float = 1.0,
        fit_intercept: bool = True,
        normalize: str | None = "variance",
        standardize: bool = False,
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
        self.standardize = standardize
        self.solver = solver
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn functions and kernel weights.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets; several outputs share the kernel weights.
        sample_weight : array of shape (n_samples,), optional
            Factors on C; an integer weight equals repetition.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, tuning: Tuning | None = None) -> Self:
        with log_level(self.verbose):
            self._learn(*self._prepare(X, y, sample_weight), tuning)
        if self._flat:
            self.intercept_: Any = float(self.intercept_[0])
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check everything that the user gave."""
        self._check_parameters()
        X = check_inputs(self, X, reset=True)
        refuse_other_order(X, y)
        y = check_real_targets(self, X, y)
        s = check_sample_weight(sample_weight, X.shape[0])
        cost = np.ones(len(y)) if s is None else s
        self._flat, Y = y.ndim == 1, y.reshape(len(y), -1)
        self._y_scale = target_scales(Y, cost) if self.standardize else np.ones(Y.shape[1])
        return X, [Y / self._y_scale], self._regression_loss(), s, cost

    def _regression_loss(self) -> Loss:
        loss: Loss = self._part("loss")
        if loss.y_domain != "real":
            raise ValueError(
                f"loss={self.loss!r} is for classes; a regressor takes 'squared', 'absolute', "
                "'epsilon_insensitive' or 'huber'."
            )
        return loss

    def predict(self, X: Any) -> Array:
        """Predict targets.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Samples, of the same form as those of training; Gram matrices between them and the
            training samples.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._predict_from(self._outputs(X))

    def _predict_from(self, F: Array) -> Array:
        return F[:, 0] if self._flat else F

    def _in_units(self, outputs: Array) -> Array:
        return outputs * self._y_scale
