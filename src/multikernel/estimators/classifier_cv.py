"""MKLClassifierCV: an MKLClassifier that chooses C and the regularizer's parameters itself."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..banks.base import Index
from ..losses import Loss
from ..solvers import Problem
from ._cross_validation import CrossValidation
from ._rollback import all_or_nothing
from ._selection import SelectsParameters
from .classifier import MKLClassifier


class MKLClassifierCV(SelectsParameters, MKLClassifier):
    r"""Classification that learns which kernels to trust and chooses how strongly to regularize.

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
    Cs : int or array of float, default=6
        Inverse regularizations to try; a number stands for as many from 0.01 to 1000, evenly
        spaced in their logarithms.
    regularizer_grid : dict, optional
        Parameters of the regularizer to try with every C, as in ``{"l1_ratio": [0.1, 0.5, 0.9]}``.
    cv : int, splitter or iterable, default=None
        How to split: a number of folds (None for 5) with classes in proportion, or any splitter
        of scikit-learn.
    scoring : str or callable, default=None
        What the best is; None for accuracy. A callable gets, as ``scorer(model, X, y)``, decisions
        in place of X, which ``model`` turns into predictions.
    selection : {"best", "one_se"}, default="best"
        Take the candidate of the best mean score (the first of equals), or the smallest C within
        one standard error of it (of these, that with the fewest kernels).
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
        Shuffles the folds of ``calibrate=True``.

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
        Iterations of the final fit (of the slowest class), which begins at the mean of the folds;
        its first steps, in single precision, are not counted.
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
    MKLClassifier : The same with parameters given.
    mkl_path : All solutions for increasing C.

    Notes
    -----
    Kernels are computed once; every fold works on a slice of the same bank and follows a path of
    increasing C, each fit started from the last. Folds of K-fold splits go side by side where
    ``DualNewton`` solves them, so that each sweep over the kernels serves all of them. Widths and
    normalisations of kernels, which no label enters, are therefore those of all samples given to
    ``fit``; regularizers that learn from labels do so on the training samples of the fold. To judge
    the whole, put it into an outer cross-validation: ``best_score_`` is the best of many and so too
    good.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MKLClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 6))
    >>> y = np.where(np.abs(X[:, 0]) + 0.3 * rng.normal(size=120) > 0.7, "far", "near")
    >>> model = MKLClassifierCV({"first": [0], "rest": slice(1, 6)}, Cs=[0.01, 1.0], cv=3)
    >>> model.fit(X, y).best_params_
    {'C': 1.0}
    >>> model.scores_.shape, model.converged_
    ((2, 3), True)
    """

    _default_scoring = "accuracy"

    @staticmethod
    def _default_score(y: Any, predicted: Any, s: Any) -> float:
        return float(np.average(np.ravel(y) == predicted, weights=s))

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: str | Loss = "logistic",
        regularizer: Any = "elasticnet",
        Cs: Any = 6,
        regularizer_grid: Any = None,
        cv: Any = None,
        scoring: Any = None,
        selection: str = "best",
        fit_intercept: bool = True,
        normalize: str | None = "variance",
        weights: str = "shared",
        class_weight: Any = None,
        calibrate: bool = False,
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
        self.weights = weights
        self.class_weight = class_weight
        self.calibrate = calibrate
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
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Factors on C, and on the samples in the scores.
        groups : array of shape (n_samples,), optional
            Samples that stay together, for splitters that ask for them.
        """
        tuning = CrossValidation(self, X, np.asarray(y), sample_weight, groups)
        return self._fit(X, y, sample_weight, tuning)

    def _check_fold(self, problems: list[Problem], k: int, train: Index) -> None:
        Y = np.hstack([problem.y for problem in problems])[train]
        present = np.any(Y > 0, axis=0)
        if Y.shape[1] == 1:
            present = np.array([np.any(Y < 0), np.any(Y > 0)])
        if not present.all():
            label = self.classes_.tolist()[int(np.argmin(present))]
            raise ValueError(
                f"The training samples of fold {k} lack the class {label!r}; use a splitter with "
                "classes in proportion, such as StratifiedKFold or StratifiedGroupKFold, or leave "
                "the class out if it has too few samples."
            )
