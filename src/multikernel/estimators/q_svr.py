"""QSVR: linear regression with a penalty that knows how features belong together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from .._component import Array
from ..losses import Loss
from ._linear import BaseLinear
from ._rollback import all_or_nothing
from ._sample_weights import check_sample_weight


class QSVR(RegressorMixin, BaseLinear):
    r"""Linear regression with a penalty that knows how features belong together.

    The regression twin of :class:`QSVC`: the penalty is :math:`\tfrac12 w^\top Q w`, the loss that
    of support vector regression or any other.

    Parameters
    ----------
    Q : matrix of shape (n_features, n_features) or None, default=None
        Symmetric and positive definite, with the ridge; dense, or sparse for many features. None
        is the identity, the ordinary linear machine.
    loss : str or Loss, default="epsilon_insensitive"
        Any of "epsilon_insensitive", "squared", "absolute", "huber", or an object such as
        ``EpsilonInsensitive(0.05)``. The squared loss gives generalised ridge regression.
    C : float, default=1.0
        Inverse regularization. It acts against the scale of Q: doubling both changes nothing.
    fit_intercept : bool, default=True
        Add a constant that is not regularized.
    ridge : float, default=0.0
        Adds ``ridge * mean(diag(Q))`` to the diagonal of Q: makes a graph Laplacian, which leaves
        the level of a pattern free, usable.
    form : {"auto", "primal", "dual"}, default="auto"
        Solve for one number per feature or one per sample and output; "auto" takes the fewer. The
        primal form makes a sparse Q dense.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=200
        Iterations after which to stop with a warning.

    Attributes
    ----------
    coef_ : array of shape (n_outputs, n_features)
        Coefficients of the features.
    intercept_ : array of shape (n_outputs,)
        Constant of every output.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Dual coefficients of the training samples, which prove the gap.
    objective_ : float
        The objective at the solution, summed over outputs.
    gap_ : float
        Relative duality gap: the objective is within this share of its minimum.
    converged_ : bool
        Whether ``gap_`` is at most ``tol``.
    n_iter_ : int
        Iterations used.
    form_ : {"primal", "dual"}
        The form that was solved.
    loss_ : Loss
        The loss as an object.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str
        Names of the columns of a DataFrame.

    See Also
    --------
    QSVC : The same for classes.
    spatial_laplacian : A sparse Q from the places of features.

    Notes
    -----
    .. math:: \min_{w, b}\; C \sum_i s_i\, \ell(y_i, x_i^\top w + b) + \tfrac12 w^\top Q w

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import QSVR, spatial_laplacian
    >>> rng = np.random.default_rng(0)
    >>> places = np.arange(60.0)[:, np.newaxis]
    >>> pattern = np.sin(places[:, 0] / 10)
    >>> X = rng.normal(size=(40, 60))
    >>> y = X @ pattern
    >>> smooth = QSVR(spatial_laplacian(places, n_neighbors=2), ridge=0.001, C=10.0).fit(X, y)
    >>> plain = QSVR(C=10.0).fit(X, y)
    >>> errors = [np.abs(model.coef_ - pattern).mean() for model in (smooth, plain)]
    >>> bool(errors[0] < 0.2 * errors[1]), smooth.form_
    (True, 'dual')
    """

    _default_loss = "epsilon_insensitive"

    def __init__(
        self,
        Q: Any = None,
        *,
        loss: str | Loss = "epsilon_insensitive",
        C: float = 1.0,
        fit_intercept: bool = True,
        ridge: float = 0.0,
        form: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        self.Q = Q
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.ridge = ridge
        self.form = form
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array of shape (n_samples,), optional
            Factors on C; an integer weight equals repetition.
        """
        self._check_parameters()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True
        )
        loss = self._resolve_loss(self.loss)
        if loss.y_domain != "real":
            raise ValueError(
                f"loss={self.loss!r} is for classes; a regressor takes 'epsilon_insensitive', "
                "'squared', 'absolute' or 'huber'."
            )
        y = np.asarray(y, dtype=np.float64)
        self._flat = y.ndim == 1
        s = check_sample_weight(sample_weight, X.shape[0])
        self._learn(X, y.reshape(len(y), -1), loss, np.ones(len(y)) if s is None else s)
        return self

    def predict(self, X: Any) -> Array:
        """Predict targets.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        """
        F = self._outputs(X)
        return F[:, 0] if self._flat else F
