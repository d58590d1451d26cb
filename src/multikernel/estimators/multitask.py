"""Multi-task estimators: tasks with functions of their own and a part that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..banks import Bank, TaskBank
from ..banks.base import Index
from ..kernels import KernelBundle, ViewBundle
from ..losses import Loss
from ..regularizers import LpNorm, Regularizer, TaskCoupling
from ._base import BaseMKL
from ._inputs import check_inputs, is_precomputed
from .classifier import MKLClassifier
from .regressor import MKLRegressor


class _MultiTask(BaseMKL):
    """What turns an estimator of one task into one of several: task kernels and their sum."""

    task: Any
    sharing: float | None

    def _resolve(self, part: str, given: Any) -> Any:
        if part == "regularizer" and given is None:
            return LpNorm(p=1.0, form="ivanov")
        return super()._resolve(part, given)

    def _fit_kernels(
        self, X: Any, s: Array | None, kept: Index, parts: list[Index] | None = None
    ) -> Bank:
        X, tasks = split_task(X, self.task, self.kernels)
        self.tasks_ = np.unique(tasks[kept])
        self._codes = _encode(tasks, self.tasks_)
        bank = super()._fit_kernels(X, s, kept, parts)
        return TaskBank(bank, self._codes[kept], len(self.tasks_))

    def _make_regularizer(self) -> Regularizer:
        over = self._part("regularizer")
        return TaskCoupling(len(self.tasks_), sharing=self.sharing, over=over)

    def _shape_weights(self, d: Array) -> Array:
        return d.reshape(-1, len(self.tasks_) + 1).T

    def _expansion(self) -> tuple[Array, Array]:
        """One output for every task and the shared part, for each output of the problem."""
        alpha = self.dual_coef_.reshape(len(self.dual_coef_), 1, -1)
        member = self._codes[:, np.newaxis] == np.arange(len(self.tasks_) + 1)
        member[:, -1] = True  # all samples speak for the shared part
        A = alpha * member[:, :, np.newaxis]
        D = np.repeat(self.weights_.T[:, :, np.newaxis], alpha.shape[2], axis=2)
        return D.reshape(len(D), -1), A.reshape(len(A), -1)

    def _evaluate(self, X: Any, *, contributions: bool = False) -> Array:
        check_is_fitted(self)
        X, tasks = split_task(check_inputs(self, X, reset=False), self.task, self.kernels)
        F = self.kernels_.cross_combine(X, *self._expansion(), contributions=contributions)
        n_parts = len(self.tasks_) + 1
        F = F.reshape(len(F), n_parts, -1, *F.shape[2:])  # queries, tasks and shared, outputs
        codes = _encode(tasks, self.tasks_)
        known = np.flatnonzero(codes >= 0)
        out = F[:, -1].copy()
        out[known] += F[known, codes[known]]
        return out

    def _table_labels(self) -> list[dict[str, Any]]:
        return [{"task": task} for task in [*self.tasks_.tolist(), "shared"]]


def split_task(X: Any, task: Any, kernels: Any) -> tuple[Any, Array]:
    """The samples without the task column, and the task of each (0 for all where there is none)."""
    if task is None:
        return X, np.zeros(X.shape[0], dtype=int)
    if isinstance(X, KernelBundle) or is_precomputed(kernels):
        raise TypeError(
            "Precomputed kernels hold no task column; pass features, in a table or a ViewBundle."
        )
    if isinstance(X, ViewBundle):
        if task not in X.names:
            raise ValueError(f"task={task!r} is not a view; the bundle has: {', '.join(X.names)}.")
        rest = X.select([name for name in X.names if name != task])
        return rest, np.asarray(X.block(task)).reshape(len(X))
    column = _position(X, task)
    keep = np.delete(np.arange(X.shape[1]), column)
    if hasattr(X, "iloc"):
        return X.iloc[:, keep], X.iloc[:, column].to_numpy()
    if hasattr(X, "columns"):
        return X[:, keep.tolist()], X[:, column].to_numpy()
    values: Any = X[:, [column]]
    dense = values.toarray() if hasattr(values, "toarray") else values
    return X[:, keep], dense[:, 0]


def _position(X: Any, task: Any) -> int:
    """The position of the task column, given by position or by name."""
    names = list(getattr(X, "columns", ()))
    if task in names:
        return int(names.index(task))
    if isinstance(task, (int, np.integer)) and -X.shape[1] <= task < X.shape[1]:
        return int(task % X.shape[1])
    known = f"the names {', '.join(map(str, names))}" if names else f"positions below {X.shape[1]}"
    raise ValueError(f"task={task!r} is not a column of X, which has {known}.")


def _encode(tasks: Array, known: Array) -> Index:
    """The position of every task among the known ones, -1 for others."""
    position = {task: code for code, task in enumerate(known.tolist())}
    return np.array([position.get(task, -1) for task in tasks.tolist()], dtype=np.intp)


class MultiTaskMKLClassifier(_MultiTask, MKLClassifier):
    r"""Classification of several related tasks that learns how much they share.

    Every base kernel serves as one kernel per task, which sees only samples of that task, and as
    one kernel shared by all. A query of a task unknown in training is judged by the shared part.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, default=None
        What to compute, as in :class:`MKLClassifier`. Positions of columns count without the task
        column.
    task : int or str, default=None
        The column of X, by position or name, or the view of a :class:`ViewBundle`, that tells the
        task of every sample. None takes all samples as one task.
    sharing : float in [0, 1], default=None
        None learns a weight for every task kernel and every shared kernel. A number fixes the
        share of the shared kernels: 0 separates the tasks, 1 pools them; choose it by
        cross-validation.
    loss : str or Loss, default="logistic"
        As in :class:`MKLClassifier`.
    regularizer : str or Regularizer, default=None
        Over all kernels, or over base kernels where ``sharing`` is a number. None takes
        ``LpNorm(p=1, form="ivanov")``, which is sparse.
    C : float, default=1.0
        Inverse regularization.
    fit_intercept : bool, default=True
        Add a constant, the same for all tasks, that is not regularized.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How base kernels are made comparable, over the samples of all tasks.
    class_weight : dict or "balanced", default=None
        Factors on C by class.
    calibrate : bool, default=False
        As in :class:`MKLClassifier`.
    solver, tol, max_iter, dtype, verbose, random_state
        As in :class:`MKLClassifier`.

    Attributes
    ----------
    tasks_ : array of shape (n_tasks,)
        The tasks of training.
    classes_ : array of shape (n_classes,)
        Labels, in the order of outputs and probabilities.
    weights_, norms_, contributions_ : array of shape (n_tasks + 1, n_kernels)
        By task, in the order of ``tasks_``, and for the shared part in the last row.
    kernel_table_ : DataFrame
        Task, source, family, parameter, weight, norm and contribution of every kernel.
    dual_coef_, intercept_, objective_, gap_, n_iter_, converged_, solution_, kernels_, support_
        As in :class:`MKLClassifier`.

    See Also
    --------
    MultiTaskMKLRegressor : The same for numbers.
    TaskCoupling : The regularizer.

    Notes
    -----
    For a sample x of task t,

    .. math:: f(x) = \sum_p \sum_j \alpha_j\, k_p(x, x_j)\, \big(d_{p,\mathrm{shared}}
              + d_{p,t}\, [\mathrm{task}_j = t]\big).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MultiTaskMKLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)])
    >>> y = X[:, 0] + np.where(X[:, 2] == 2, X[:, 1], 0) > 0
    >>> model = MultiTaskMKLClassifier("linear", task=2).fit(X, y)
    >>> model.tasks_, model.weights_.shape
    (array([0., 1., 2.]), (4, 1))
    """

    weights = "shared"

    def __init__(
        self,
        kernels: Any = None,
        *,
        task: int | str | None = None,
        sharing: float | None = None,
        loss: str | Loss = "logistic",
        regularizer: Any = None,
        C: float = 1.0,
        fit_intercept: bool = True,
        normalize: str | None = "variance",
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
        self.task = task
        self.sharing = sharing
        self.loss = loss
        self.regularizer = regularizer
        self.C = C
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.verbose = verbose
        self.random_state = random_state


class MultiTaskMKLRegressor(_MultiTask, MKLRegressor):
    r"""Regression on several related tasks that learns how much they share.

    Every base kernel serves as one kernel per task, which sees only samples of that task, and as
    one kernel shared by all. A query of a task unknown in training is judged by the shared part.

    Parameters
    ----------
    kernels : None, KernelSet, family or list of them, dict of sources, default=None
        What to compute, as in :class:`MKLRegressor`. Positions of columns count without the task
        column.
    task : int or str, default=None
        The column of X, by position or name, or the view of a :class:`ViewBundle`, that tells the
        task of every sample. None takes all samples as one task.
    sharing : float in [0, 1], default=None
        None learns a weight for every task kernel and every shared kernel. A number fixes the
        share of the shared kernels: 0 separates the tasks, 1 pools them; choose it by
        cross-validation.
    loss : str or Loss, default="squared"
        As in :class:`MKLRegressor`.
    regularizer : str or Regularizer, default=None
        Over all kernels, or over base kernels where ``sharing`` is a number. None takes
        ``LpNorm(p=1, form="ivanov")``, which is sparse.
    C : float, default=1.0
        Inverse regularization.
    fit_intercept : bool, default=True
        Add a constant, the same for all tasks, that is not regularized.
    normalize : {"variance", "center", "trace", "cosine", None}, default="variance"
        How base kernels are made comparable, over the samples of all tasks.
    standardize, solver, tol, max_iter, dtype, verbose, random_state
        As in :class:`MKLRegressor`.

    Attributes
    ----------
    tasks_ : array of shape (n_tasks,)
        The tasks of training.
    weights_, norms_, contributions_ : array of shape (n_tasks + 1, n_kernels)
        By task, in the order of ``tasks_``, and for the shared part in the last row.
    kernel_table_ : DataFrame
        Task, source, family, parameter, weight, norm and contribution of every kernel.
    dual_coef_, intercept_, objective_, gap_, n_iter_, converged_, solution_, kernels_, support_
        As in :class:`MKLRegressor`.

    See Also
    --------
    MultiTaskMKLClassifier : The same for classes.
    TaskCoupling : The regularizer.

    Notes
    -----
    For a sample x of task t,

    .. math:: f(x) = \sum_p \sum_j \alpha_j\, k_p(x, x_j)\, \big(d_{p,\mathrm{shared}}
              + d_{p,t}\, [\mathrm{task}_j = t]\big).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import MultiTaskMKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)])
    >>> y = X[:, 0] + np.where(X[:, 2] == 2, X[:, 1], 0)
    >>> model = MultiTaskMKLRegressor("linear", task=2, C=10.0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        task: int | str | None = None,
        sharing: float | None = None,
        loss: str | Loss = "squared",
        regularizer: Any = None,
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
        self.task = task
        self.sharing = sharing
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
