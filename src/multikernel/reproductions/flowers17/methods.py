"""What is compared on the flowers: each method fits one stack of kernels and names classes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from ..._warnings import unsaid
from ...estimators import BayesianMKLClassifier, BayesianMKLRegressor, MKLClassifier
from ...regularizers import ElasticNet, LpNorm, Uniform

Array = NDArray[Any]
_ACTIVE = 1e-3  # of the largest norm of a component function
_TOL = 1e-3  # relative duality gap of MKL
_JOINT_TOL = 1e-5  # of the bound of all classes in one model
_FIXED_NOISE = {"alpha_upsilon": 1e6, "beta_upsilon": 1e-4}  # precision 100, as good as known
_MAX_ITER = 30  # of MKL; where they do not suffice, the gap says so


@dataclass(frozen=True)
class Kernels:
    """Kernels among training samples and of queries: (n_train, n_train, M), (n, n_train, M)."""

    train: Array
    query: Array
    names: Sequence[str]


@dataclass
class Outcome:
    """Classes of the queries, and figures of the fit."""

    predicted: Array
    n_kernels: float
    fit_seconds: float
    predict_seconds: float
    n_iter: int = 0
    weights: list[float] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Method:
    """A name, whether C is chosen on the validation images, and how to fit."""

    name: str
    has_c: bool
    run: Callable[[Kernels, Array, float, int], Outcome]


class Seconds(NamedTuple):
    """Processor time of a fit and of its predictions."""

    fit: float
    predict: float


def timed(fit: Callable[[], Any], predict: Callable[[Any], Array]) -> tuple[Any, Array, Seconds]:
    """A fitted model, its predictions, and the processor time of both."""
    began = time.process_time()
    with unsaid(Warning):  # what did not converge is noted in the outcome
        model = fit()
    fitted = time.process_time()
    predicted = predict(model)
    return model, predicted, Seconds(fitted - began, time.process_time() - fitted)


def svm(kernels: Kernels, y: Array, C: float, combine: Callable[[Array], Array]) -> Outcome:
    """A support vector machine, one class against one, on one kernel made of all."""
    _, predicted, seconds = timed(
        lambda: SVC(C=C, kernel="precomputed").fit(combine(kernels.train), y),
        lambda model: model.predict(combine(kernels.query)),
    )
    return Outcome(predicted, 0, seconds.fit, seconds.predict)


def single_svm(m: int) -> Callable[[Kernels, Array, float, int], Outcome]:
    """An SVM on the m-th kernel."""

    def run(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
        outcome = svm(kernels, y, C, lambda K: np.ascontiguousarray(K[:, :, m]))
        outcome.n_kernels = 1
        return outcome

    return run


def mean_svm(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
    """An SVM on the mean of all kernels."""
    outcome = svm(kernels, y, C, lambda K: K.mean(axis=2))
    outcome.n_kernels = len(kernels.names)
    return outcome


def product_svm(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
    """An SVM on the geometric mean of all kernels, which is exp(-mean D / s)."""
    outcome = svm(kernels, y, C, lambda K: np.exp(np.log(K).mean(axis=2)))
    outcome.n_kernels = len(kernels.names)
    return outcome


def machine(regularizer: Any, p: float | None, C: float, n_kernels: int) -> MKLClassifier:
    """Squared-hinge MKL, one class against the rest, all classes with the same weights.

    C is that of a machine on the mean kernel: the largest equal weights under a p-norm of one sum
    to M^(1 - 1/p); without p, they are ones and sum to M.
    """
    total = float(n_kernels) if p is None else n_kernels ** (1 - 1 / p)
    return MKLClassifier(
        "precomputed",
        loss="squared_hinge",
        regularizer=regularizer,
        C=C / total,
        normalize=None,
        tol=_TOL,
        max_iter=_MAX_ITER,
    )


def mkl(regularizer: Any, p: float | None) -> Callable[[Kernels, Array, float, int], Outcome]:
    """MKL at a given C."""

    def run(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
        model, predicted, seconds = timed(
            lambda: machine(regularizer, p, C, len(kernels.names)).fit(kernels.train, y),
            lambda model: model.predict(kernels.query),
        )
        active = int(np.sum(model.norms_ > _ACTIVE * model.norms_.max()))
        share = (model.weights_ / model.weights_.sum()).tolist()
        note = f"gap {model.gap_:.0e}"
        return Outcome(predicted, active, seconds.fit, seconds.predict, model.n_iter_, share, note)

    return run


def bayes_together(outputs: str) -> Callable[[Kernels, Array, float, int], Outcome]:
    """Targets -1 and 1, one per class, in one model whose outputs share something."""

    def run(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
        Y = signs(y)
        model, scores, seconds = timed(
            lambda: regressor(max_iter, outputs=outputs, tol=_JOINT_TOL).fit(kernels.train, Y),
            lambda model: model.predict(kernels.query),
        )
        return bayes_outcome(model, scores.argmax(axis=1), seconds)

    return run


def bayes_apart(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
    """Targets -1 and 1, every class in a model of its own."""
    Y = signs(y)
    models, scores, seconds = timed(
        lambda: [regressor(max_iter).fit(kernels.train, target) for target in Y.T],
        lambda models: np.stack([model.predict(kernels.query) for model in models], axis=1),
    )
    done = sum(model.converged_ for model in models)
    return Outcome(
        scores.argmax(axis=1),
        float(np.mean([np.sum(model.active_kernels_) for model in models])),
        seconds.fit,
        seconds.predict,
        int(np.sum([model.n_iter_ for model in models])),
        shares(np.stack([model.weights_ for model in models])),
        f"{done} of {len(models)} converged",
    )


def bayes_probit(kernels: Kernels, y: Array, C: float, max_iter: int) -> Outcome:
    """The largest of several latent scores wins; classes share their kernel weights.

    The noise of intermediate outputs has a standard deviation of 0.1, as in the author's code for
    classification: with a vague prior all kernel weights vanish.
    """
    model, predicted, seconds = timed(
        lambda: BayesianMKLClassifier(
            "precomputed",
            priors=_FIXED_NOISE,
            normalize=None,
            max_iter=max_iter,
            tol=_JOINT_TOL,
        ).fit(kernels.train, y),
        lambda model: model.predict(kernels.query),
    )
    return bayes_outcome(model, predicted, seconds)


def regressor(max_iter: int, **options: Any) -> BayesianMKLRegressor:
    """The paper's model: priors (1, 1), kernels and targets as they are."""
    return BayesianMKLRegressor(
        "precomputed", normalize=None, standardize=False, max_iter=max_iter, **options
    )


def bayes_outcome(model: Any, predicted: Array, seconds: Seconds) -> Outcome:
    """The figures of one Bayesian model."""
    return Outcome(
        predicted,
        float(np.sum(model.active_kernels_)),
        seconds.fit,
        seconds.predict,
        model.n_iter_,
        shares(np.atleast_2d(model.weights_)),
        "converged" if model.converged_ else "not converged",
    )


def shares(weights: Array) -> list[float]:
    """Sizes of weights as shares of their sum, averaged over outputs."""
    sizes = np.abs(weights)
    mean = (sizes / sizes.sum(axis=1, keepdims=True)).mean(axis=0)
    return [float(share) for share in mean]


def signs(y: Array) -> Array:
    """Targets of shape (n, n_classes)."""
    return np.where(y[:, np.newaxis] == np.arange(y.max() + 1), 1.0, -1.0)


def methods(names: Sequence[str]) -> list[Method]:
    """All methods, on kernels of these names."""
    alone = [Method(f"SVM, {name} alone", True, single_svm(m)) for m, name in enumerate(names)]
    return [
        *alone,
        Method("SVM, mean of kernels", True, mean_svm),
        Method("SVM, product of kernels", True, product_svm),
        Method("MKL, equal weights", True, mkl(Uniform(), None)),
        Method("MKL, p = 1", True, mkl(LpNorm(1.0, form="ivanov"), 1.0)),
        Method("MKL, p = 4/3", True, mkl(LpNorm(4 / 3, form="ivanov"), 4 / 3)),
        Method("MKL, p = 2", True, mkl(LpNorm(2.0, form="ivanov"), 2.0)),
        Method("MKL, elastic net", True, mkl(ElasticNet(0.5), None)),
        Method("BMKL, single output", False, bayes_apart),
        Method("BMKL, multiple output", False, bayes_together("shared_weights")),
        Method("BMKL, shared sample weights", False, bayes_together("shared_samples")),
        Method("BMKL, multinomial probit", False, bayes_probit),
    ]
