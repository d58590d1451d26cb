"""The models that are compared: baselines and the MKL family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack, issparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ..estimators import (
    BayesianMKLClassifier,
    BayesianMKLRegressor,
    MKLClassifierCV,
    MKLRegressorCV,
    ProbabilisticMKLClassifier,
    ProbabilisticMKLRegressor,
)
from ..heuristics import Alignment, AlignmentQP, BestAligned, MarginShares, OneKernel
from ..interactions import KernelAlignment
from ..kernels import ViewBundle
from ..regularizers import ElasticNet, FixedWeights, LpNorm, QNorm, Uniform

UNIFORM, CONCATENATED, HEADLINE = "uniform sum", "concatenated, linear", "MKL, elastic net"
_MANY = 60  # kernels beyond which the best single one is chosen by alignment, not cross-validation
_FEW_CS = np.logspace(-2, 2, 4)  # for models that try each kernel


@dataclass(frozen=True)
class Setting:
    """What the models of a comparison have in common.

    Attributes
    ----------
    task : {"classification", "regression"}
    scoring : str
        What parameters are chosen by.
    kernels : anything that estimators take as ``kernels``
    n_kernels : int
    inner_cv : int, splitter or list of (train, test)
        Folds in which each model chooses its parameters.
    has_columns : bool
        Whether some source is a table of numbers.
    """

    task: str
    scoring: str
    kernels: Any
    n_kernels: int
    inner_cv: Any = 3
    has_columns: bool = True

    def tuned(self, regularizer: Any, grid: dict[str, Any] | None = None, Cs: Any = 6) -> Any:
        """An MKL estimator that chooses C, and what else the grid names."""
        classes = self.task == "classification"
        kind = MKLClassifierCV if classes else partial(MKLRegressorCV, standardize=True)
        return kind(
            self.kernels,
            regularizer=regularizer,
            Cs=Cs,
            regularizer_grid=grid,
            cv=self.inner_cv,
            scoring=self.scoring,
            tol=1e-4,
        )


def concatenated(setting: Setting) -> Any:
    """A linear model on the columns of all sources side by side."""
    if setting.task == "classification":
        model, grid = LogisticRegression(max_iter=5000), {"model__C": np.logspace(-3, 2, 6)}
    else:
        model, grid = Ridge(), {"model__alpha": np.logspace(-2, 5, 8)}
    scaled = Pipeline([("scale", StandardScaler(with_mean=False)), ("model", model)])
    search = GridSearchCV(scaled, grid, scoring=setting.scoring, cv=setting.inner_cv)
    return on_columns(search)


def on_columns(estimator: Any) -> Any:
    """An estimator for tables, on the columns of all sources."""
    return make_pipeline(FunctionTransformer(side_by_side), estimator)


def has_kernels(estimator: Any) -> bool:
    """Whether an estimator, or some part of it, reads sources: it has a parameter ``kernels``."""
    return any(name.split("__")[-1] == "kernels" for name in estimator.get_params())


def side_by_side(X: ViewBundle) -> Any:
    """The columns of all sources of numbers as one table; zeros where a sample lacks a source."""
    parts = [_filled(X, name) for name in X.names if is_numeric(X.block(name))]
    return hstack(parts, format="csr") if any(map(issparse, parts)) else np.hstack(parts)


def is_numeric(block: Any) -> bool:
    """Whether a source has columns, and not strings."""
    return len(block.shape) == 2


def _filled(X: ViewBundle, name: str) -> Any:
    block, has = X.block(name), X.has(name)
    if issparse(block):
        return csr_array(diags_array(has.astype(np.float64)) @ block)
    return np.where(has[:, None], np.asarray(block, dtype=np.float64), 0.0)


def best_kernel(setting: Setting) -> Any:
    """The one kernel that predicts best in the inner folds, or by alignment if there are many."""
    if setting.n_kernels > _MANY:
        return setting.tuned(FixedWeights(BestAligned()))
    grid = {"weights__kernel": list(range(setting.n_kernels))}
    return setting.tuned(FixedWeights(OneKernel()), grid, _FEW_CS)


def evidence(setting: Setting) -> Any:
    """Weights by the evidence, or by its variational bound for classes."""
    if setting.task == "classification":
        return ProbabilisticMKLClassifier(setting.kernels, hyper_prior="gamma", tol=1e-4)
    return ProbabilisticMKLRegressor(setting.kernels, hyper_prior="gamma", tol=1e-4)


def bayesian(setting: Setting) -> Any:
    """A posterior of the weights by conjugate variational inference."""
    if setting.task == "classification":
        return BayesianMKLClassifier(setting.kernels, random_state=0)
    return BayesianMKLRegressor(setting.kernels, random_state=0)


# In the order in which they are run on a fold: first what the verdict needs, then what is cheap.
MODELS: dict[str, Callable[[Setting], Any]] = {
    UNIFORM: lambda s: s.tuned(Uniform()),
    HEADLINE: lambda s: s.tuned(ElasticNet(), {"l1_ratio": [0.1, 0.5, 0.9]}),
    CONCATENATED: concatenated,
    "alignment weights": lambda s: s.tuned(FixedWeights(Alignment())),
    "alignment, jointly": lambda s: s.tuned(FixedWeights(AlignmentQP())),
    "margin shares": lambda s: s.tuned(FixedWeights(MarginShares())),
    "MKL, block 1-norm": lambda s: s.tuned(LpNorm(p=1.0)),
    "MKL, lp": lambda s: s.tuned(LpNorm(), {"p": [4 / 3, 2.0]}),
    "MKL, Q-norm": lambda s: s.tuned(QNorm(KernelAlignment())),
    "probabilistic": evidence,
    "Bayesian": bayesian,
    "best single kernel": best_kernel,
}
