"""QSVC: linear classification with a penalty that knows how features belong together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .._component import Array
from ..losses import Logistic, Loss
from ._linear import BaseLinear
from ._rollback import all_or_nothing
from ._sample_weights import check_sample_weight, class_factors


class QSVC(ClassifierMixin, BaseLinear):
    r"""Linear classification with a penalty that knows how features belong together.

    The squared norm of the coefficients of a support vector machine becomes :math:`w^\top Q w`. A
    graph Laplacian as Q asks features that are tied for similar coefficients: voxels of an image,
    stations of a network, genes of a pathway. The inverse of a covariance asks for coefficients
    that vary together as that covariance says.

    Parameters
    ----------
    Q : matrix of shape (n_features, n_features) or None, default=None
        Symmetric and positive definite, with the ridge; dense, or sparse for many features. None
        is the identity, the ordinary linear machine.
    loss : str or Loss, default="hinge"
        Any of "hinge", "squared_hinge", "logistic", or a regression loss on targets -1 and 1. More
        than two classes are taken one against the rest; "multinomial" is the softmax over them.
    C : float, default=1.0
        Inverse regularization. It acts against the scale of Q: doubling both changes nothing.
    fit_intercept : bool, default=True
        Add a constant that is not regularized.
    class_weight : dict or "balanced", default=None
        Factors on C by class; "balanced" gives all classes the same total.
    ridge : float, default=0.0
        Adds ``ridge * mean(diag(Q))`` to the diagonal of Q: makes a graph Laplacian, which leaves
        the level of a pattern free, usable.
    form : {"auto", "primal", "dual"}, default="auto"
        Solve for one number per feature or one per sample and class; "auto" takes the fewer. The
        primal form makes a sparse Q dense.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=200
        Iterations after which to stop with a warning.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, in the order of outputs.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features.
    intercept_ : array of shape (1,) or (n_classes,)
        Constant of every output.
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_classes)
        Dual coefficients of the training samples, which prove the gap.
    objective_ : float
        The objective at the solution, summed over classes.
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
    QSVR : The same for numbers.
    spatial_laplacian : A sparse Q from the places of features.
    MKLClassifier : Weights of kernels, not of features.

    Notes
    -----
    .. math:: \min_{w, b}\; C \sum_i s_i\, \ell(y_i, x_i^\top w + b) + \tfrac12 w^\top Q w

    is the machine with kernel :math:`X Q^{-1} X^\top`, and :math:`w = Q^{-1} X^\top \alpha`; with
    :math:`Q = LL^\top` it is also the ordinary machine on features :math:`X L^{-\top}`. [H12]_,
    Section 3.2, derives it from Q-MKL on one kernel per feature, but it is a model of its own:
    there, :math:`Q = I` penalises :math:`\tfrac12 \|w\|_{4/3}^2`.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import QSVC, spatial_laplacian
    >>> rng = np.random.default_rng(0)
    >>> places = np.arange(40.0)[:, np.newaxis]
    >>> pattern = np.exp(-(((places[:, 0] - 12) / 4) ** 2))
    >>> X = rng.normal(size=(60, 40))
    >>> y = np.where(X @ pattern + rng.normal(size=60) > 0, "on", "off")
    >>> smooth = QSVC(spatial_laplacian(places, n_neighbors=2), ridge=0.01, C=0.1).fit(X, y)
    >>> plain = QSVC(C=0.1).fit(X, y)
    >>> roughness = [np.abs(np.diff(m.coef_)).sum() / np.ptp(m.coef_) for m in (smooth, plain)]
    >>> bool(roughness[0] < roughness[1]), smooth.form_, smooth.converged_
    (True, 'primal', True)
    """

    _default_loss = "hinge"

    def __init__(
        self,
        Q: Any = None,
        *,
        loss: str | Loss = "hinge",
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        ridge: float = 0.0,
        form: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        self.Q = Q
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.ridge = ridge
        self.form = form
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), optional
            Factors on C; an integer weight equals repetition.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        s = check_sample_weight(sample_weight, X.shape[0])
        s = np.ones(X.shape[0]) if s is None else s
        kept = s > 0
        codes = np.full(len(y), -1)
        self.classes_, codes[kept] = np.unique(y[kept], return_inverse=True)
        cost = (
            s
            * np.append(class_factors(self.class_weight, self.classes_, codes[kept], s[kept]), 0)[
                codes
            ]
        )
        if len(np.unique(codes[cost > 0])) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but all samples "
                f"(of positive weight) belong to one class of {self.classes_.tolist()!r}."
            )
        self._learn(X, *self._make_targets(codes), cost)
        return self

    def _make_targets(self, codes: Array) -> tuple[Array, Loss]:
        """Signs, one column per class against the rest, or one-hot rows; and the loss."""
        loss = self._resolve_loss(self.loss)
        columns = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        sign = np.where(codes[:, np.newaxis] == columns, 1.0, -1.0)
        if not loss.couples_outputs:
            return sign, loss
        return (sign, Logistic()) if len(columns) == 1 else ((sign + 1) / 2, loss)

    def decision_function(self, X: Any) -> Array:
        """How far every sample is on the side of every class.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        decision : array of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        F = self._outputs(X)
        return F[:, 0] if len(self.classes_) == 2 else F

    def predict(self, X: Any) -> Array:
        """Predict class labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        F = self._outputs(X)
        winner = (F[:, 0] > 0).astype(int) if len(self.classes_) == 2 else F.argmax(axis=1)
        return np.asarray(self.classes_[winner])
