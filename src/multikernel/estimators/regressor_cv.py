"""MKLRegressorCV: an MKLRegressor that chooses C and the regularizer's parameters itself."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score

from .._component import Array
from .._warnings import warn
from ..losses import Loss
from ..solvers import Problem
from ._chosen import Chosen
from ._cross_validation import CrossValidation, Fold
from ._rollback import all_or_nothing
from ._selection import SelectsParameters
from .regressor import MKLRegressor


class MKLRegressorCV(SelectsParameters, MKLRegressor):
    r"""Regression that learns which kernels to trust and chooses how strongly to regularize.

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
    Cs : int or array of float, default=6
        Inverse regularizations to try; a number stands for as many from 0.01 to 1000, evenly
        spaced in their logarithms.
    regularizer_grid : dict, optional
        Parameters of the regularizer to try with every C, as in ``{"l1_ratio": [0.1, 0.5, 0.9]}``.
    cv : int, splitter or iterable, default=None
        How to split: a number of folds (None for 5), or any splitter of scikit-learn.
    scoring : str or callable, default=None
        What the best is; None for R². A callable gets, as ``scorer(model, X, y)``, decisions
        in place of X, which ``model`` turns into predictions.
    selection : {"best", "one_se"}, default="best"
        Take the candidate of the best mean score (the first of equals), or the smallest C within
        one standard error of it (of these, that with the fewest kernels).
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
        Relative duality gap of the final fit. A solver given as an object has its own.
    cv_tol : float, default=3e-3
        Relative duality gap of the fits that are compared. Where C is so small that a constant is
        nearly as good, scores are rough at the default; 1e-6 gives those of a grid search. From
        1e-3 on, smooth losses are fitted in single precision where C is moderate, except with block
        norms, with half the memory of the bank again while it lasts. Folds side by side take up to
        as much, for each worker.
    max_iter : int, default=200
        Iterations after which to stop with a warning. A solver given as an object has its own.
    dtype : {"float64", "float32"}, default="float64"
        Storage of the Gram matrices; float32 takes half the memory. It is accurate on centred
        kernels ("variance", "center"); factors of linear kernels stay in float64.
    n_jobs : int, default=None
        Processes to divide the folds among, through joblib. Folds of one process share each sweep
        over the kernels; however they are divided, scores agree within what ``cv_tol`` allows.
        Starting processes takes seconds, so that only longer fits gain by them.
    verbose : int, default=0
        1 reports the result of fit, 2 its steps, through the logger ``multikernel``.
    random_state : int, RandomState or None, default=None
        Accepted for uniformity; nothing here is random.

    Attributes
    ----------
    C_ : float
        The C that was chosen.
    best_params_ : dict
        The choice in the names of scikit-learn's searches: "C" and "regularizer__...".
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its row in ``cv_results_``.
    cv_results_ : DataFrame
        Scores of every candidate in every fold, and the mean number of kernels in use.
    scores_ : array of shape (n_candidates, n_folds)
        The scores alone.
    candidates_ : list of Candidate
        What was tried, in the same order.
    n_active_ : array of shape (n_candidates,)
        Kernels in use, mean over the folds.
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
        Iterations of the final fit, which begins at the mean of the folds;
        its first steps, in single precision, are not counted.
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
    MKLRegressor : The same with parameters given.
    MKLClassifierCV : The same for classes; its notes say what the folds share.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 6))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=90)
    >>> model = MKLRegressorCV({"first": [0], "rest": slice(1, 6)}, Cs=[0.01, 10.0], cv=3)
    >>> model.fit(X, y).C_, model.best_score_ > 0.8
    (10.0, True)
    """

    _default_scoring = "r2"

    @staticmethod
    def _default_score(y: Any, predicted: Any, s: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=s))

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: str | Loss = "squared",
        regularizer: Any = "elasticnet",
        Cs: Any = 6,
        regularizer_grid: Any = None,
        cv: Any = None,
        scoring: Any = None,
        selection: str = "best",
        fit_intercept: bool = True,
        normalize: str | None = "variance",
        standardize: bool = False,
        solver: Any = "auto",
        tol: float = 1e-6,
        cv_tol: float = 3e-3,
        max_iter: int = 200,
        dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.regularizer = regularizer
        self.Cs = Cs
        self.regularizer_grid = regularizer_grid
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.cv_tol = cv_tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose parameters by cross-validation, then learn functions and kernel weights.

        Parameters
        ----------
        X : table, row container or array of Gram matrices
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets; several outputs share the kernel weights.
        sample_weight : array of shape (n_samples,), optional
            Factors on C, and on the samples in the scores.
        groups : array of shape (n_samples,), optional
            Samples that stay together, for splitters that ask for them.
        """
        tuning = CrossValidation(self, X, np.asarray(y), sample_weight, groups)
        return self._fit(X, y, sample_weight, tuning)

    def _select(
        self, problems: list[Problem], folds: list[Fold], y: Array, s: Array | None
    ) -> list[Chosen]:
        chosen = super()._select(problems, folds, y, s)
        varied = any(np.ptp(y[train], axis=0).any() for train, _ in folds)
        if varied and problems[0].bank.mean_diagonals().any() and not self.n_active_.any():
            warn(
                f"{type(self).__name__}: no kernel gets a weight at any C up to "
                f"{self.candidates_[-1].C:g}, so that predictions are constant; give larger Cs, or "
                "set standardize=True if targets are small.",
                UserWarning,
            )
        return chosen
