"""One fit of one library, in its own environment: ``python evidence_fits.py NAME TASK LIMIT``.

The model is y ~ N(0, Σ d_m K_m + σ² I) with d and σ² learned from equal shares of half the
variance; the answer is one line of JSON with the trace of the log marginal likelihood. Peers get
the same matrices, and nothing but the fit named multikernel imports that library.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from evidence_data import TASKS, Task, draw

_LEAST_NOISE = 1e-4  # of the bounded optimisers; the bound that GPyTorch has by itself
_REPEATS = 3


class OutOfTimeError(Exception):
    """The limit was reached."""


class Trace:
    """Processor and wall seconds since the start, log marginal likelihood, weights and noise."""

    def __init__(self, limit: float) -> None:
        self.limit, self.rows, self.best = limit, [], (-np.inf, None, None)
        self._start = time.process_time(), time.perf_counter()

    @property
    def seconds(self) -> tuple[float, float]:
        """Processor and wall seconds since the start."""
        return time.process_time() - self._start[0], time.perf_counter() - self._start[1]

    def note(self, lml: float, weights: Any, noise: Any) -> None:
        """Add an evaluation; raise OutOfTimeError after so many processor seconds."""
        cpu, wall = self.seconds
        self.rows.append((cpu, wall, float(lml)))
        if lml > self.best[0]:
            self.best = float(lml), np.array(weights, dtype=float).ravel(), float(noise)
        if cpu > self.limit:
            raise OutOfTimeError


def shares(M: int, y: Any) -> tuple[Any, float]:
    """The weights and the noise variance where every fit starts."""
    half = 0.5 * float(np.var(y))
    return np.full(M, half / M), half


def multikernel(K: Any, y: Any) -> Callable[[Trace], Any]:
    """Newton's method with the average information, to its own tolerance."""
    from multikernel.banks import PackedBank
    from multikernel.bayes import BayesProblem, InformationNewton
    from multikernel.likelihoods import Gaussian

    bank = PackedBank.from_grams(K)

    def run(trace: Trace) -> Any:
        class Traced(InformationNewton):
            def _step(self, e: Any) -> Any:
                new = super()._step(e)
                trace.note(-new.value / 2, new.state.d, new.state.likelihood.noise_var)
                return new

        problem = BayesProblem(bank, y[:, np.newaxis], Gaussian(), fit_intercept=False)
        return Traced().infer(problem)

    return run


def sklearn(K: Any, y: Any) -> Callable[[Trace], Any]:
    """GaussianProcessRegressor, one kernel that holds the bank, its default optimiser."""
    from scipy.optimize import minimize
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

    n, M = len(y), len(K)
    bank = np.concatenate([K, np.eye(n)[np.newaxis]])  # the noise is the last weight
    flat = bank.reshape(M + 1, -1)

    class BankKernel(Kernel):
        def __init__(self, weights: Any = None) -> None:
            self.weights = weights

        @property
        def hyperparameter_weights(self) -> Hyperparameter:
            bounds = np.array([(1e-8, 1e2)] * M + [(_LEAST_NOISE, 1e2)])
            return Hyperparameter("weights", "numeric", bounds, M + 1)

        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
            total = (self.weights @ flat).reshape(n, n)
            if not eval_gradient:
                return total
            return total, np.moveaxis(self.weights[:, np.newaxis, np.newaxis] * bank, 0, -1)

        def diag(self, X: Any) -> Any:
            return np.diagonal(self(X)).copy()

        def is_stationary(self) -> bool:
            return False

    def run(trace: Trace) -> Any:
        def optimise(objective: Any, theta: Any, bounds: Any) -> Any:
            def traced(theta: Any) -> Any:
                value, gradient = objective(theta)
                trace.note(-value, np.exp(theta[:-1]), np.exp(theta[-1]))
                return value, gradient

            found = minimize(traced, theta, method="L-BFGS-B", jac=True, bounds=bounds)
            return found.x, found.fun

        d, noise = shares(M, y)
        model = GaussianProcessRegressor(
            BankKernel(np.append(d, noise)), alpha=0.0, optimizer=optimise
        )
        return model.fit(np.arange(n)[:, np.newaxis], y)

    return run


def gpy(K: Any, y: Any, fixed: bool, bounded: bool = False) -> Callable[[Trace], Any]:
    """GPRegression on a sum of Fixed kernels or one kernel of the bank, with its L-BFGS.

    Or, bounded, with scipy's L-BFGS-B on the weights themselves instead of a transformation.
    """
    import GPy
    from paramz.transformations import Logexp
    from scipy.optimize import minimize

    n, M = len(y), len(K)
    flat = K.reshape(M, -1)

    class BankKernel(GPy.kern.Kern):
        def __init__(self, d: Any) -> None:
            super().__init__(1, None, "bank")
            constraint = () if bounded else (Logexp(),)
            self.d = GPy.core.parameterization.Param("d", d, *constraint)
            self.link_parameter(self.d)

        def K(self, X: Any, X2: Any = None) -> Any:
            return (np.asarray(self.d) @ flat).reshape(n, n)

        def Kdiag(self, X: Any) -> Any:
            return np.diagonal(self.K(X)).copy()

        def update_gradients_full(self, dL_dK: Any, X: Any, X2: Any = None) -> None:
            self.d.gradient = flat @ dL_dK.ravel()

    def run(trace: Trace) -> Any:
        class Traced(GPy.models.GPRegression):
            def parameters_changed(self) -> None:
                super().parameters_changed()
                d = [part.variance[0] for part in self.kern.parts] if fixed else self.kern.d
                noise = self.likelihood.variance[0]
                trace.note(float(np.squeeze(self.log_likelihood())), d, noise)

        d, noise = shares(M, y)
        if fixed:
            kernel = GPy.kern.Add([GPy.kern.Fixed(1, K[m], d[m], name=f"k{m}") for m in range(M)])
        else:
            kernel = BankKernel(d)
        inputs = np.arange(n, dtype=float)[:, np.newaxis]
        model = Traced(inputs, y[:, np.newaxis], kernel, noise_var=noise)
        if not bounded:
            return model.optimize("lbfgsb", max_iters=2000)
        model.likelihood.variance.unconstrain()

        def objective(x: Any) -> Any:
            model.optimizer_array = x
            return model.objective_function(), model.objective_function_gradients()

        bounds = [(0, None)] * M + [(_LEAST_NOISE, None)]
        x = model.optimizer_array.copy()
        return minimize(objective, x, method="L-BFGS-B", jac=True, bounds=bounds)

    return run


def gpytorch(K: Any, y: Any, adam: int | None = None) -> Callable[[Trace], Any]:
    """An exact GP by Cholesky factors and one kernel of the bank, with L-BFGS or Adam steps."""
    import gpytorch as gp
    import torch
    from scipy.optimize import minimize

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    n, M = len(y), len(K)
    flat, targets = torch.from_numpy(K.reshape(M, -1)), torch.from_numpy(y)
    inputs = torch.arange(n, dtype=torch.float64)[:, None]
    positive = gp.constraints.Positive()

    class BankKernel(gp.kernels.Kernel):
        def __init__(self, d: Any) -> None:
            super().__init__()
            raw = positive.inverse_transform(torch.from_numpy(d))
            self.register_parameter("raw", torch.nn.Parameter(raw))

        def forward(self, x1: Any, x2: Any, diag: bool = False, **_: Any) -> Any:
            total = (positive.transform(self.raw) @ flat).view(n, n)
            return total.diagonal() if diag else total

    class Model(gp.models.ExactGP):
        def __init__(self, likelihood: Any, d: Any) -> None:
            super().__init__(inputs, targets, likelihood)
            self.mean, self.kernel = gp.means.ZeroMean(), BankKernel(d)

        def forward(self, x: Any) -> Any:
            return gp.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    def run(trace: Trace) -> Any:
        d, noise = shares(M, y)
        likelihood = gp.likelihoods.GaussianLikelihood().double()
        likelihood.noise = noise
        model = Model(likelihood, d).double()
        model.train()
        likelihood.train()
        mll = gp.mlls.ExactMarginalLogLikelihood(likelihood, model)
        parameters = list(model.parameters())

        def loss() -> Any:
            model.zero_grad()
            value = -mll(model(inputs), targets)
            value.backward()
            d = positive.transform(model.kernel.raw).detach().numpy()
            trace.note(-n * value.item(), d, likelihood.noise.item())
            return value

        def numpy_loss(x: Any) -> Any:
            torch.nn.utils.vector_to_parameters(torch.from_numpy(x), parameters)
            value = loss().item()
            gradient = torch.cat([p.grad.reshape(-1) for p in parameters])
            return n * value, n * gradient.numpy().astype(float)

        with gp.settings.fast_computations(False, False, False):
            if adam:
                optimiser = torch.optim.Adam(parameters, lr=0.1)
                for _ in range(adam):
                    optimiser.step(loss)
                return None
            x = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
            return minimize(numpy_loss, x, method="L-BFGS-B", jac=True)

    return run


FITS: dict[str, Callable[..., Callable[[Trace], Any]]] = {
    "multikernel": multikernel,
    "scikit-learn, L-BFGS": sklearn,
    "GPy, one kernel, L-BFGS": lambda K, y: gpy(K, y, fixed=False),
    "GPy, one kernel, L-BFGS-B on d ≥ 0": lambda K, y: gpy(K, y, fixed=False, bounded=True),
    "GPy, sum of Fixed, L-BFGS": lambda K, y: gpy(K, y, fixed=True),
    "gpytorch, L-BFGS": gpytorch,
    "gpytorch, Adam": lambda K, y: gpytorch(K, y, adam=500),
}


def log_marginal_likelihood(K: Any, y: Any, d: Any, noise: float) -> float:
    """The value at the end, by numpy alone."""
    C = np.tensordot(d, K, 1) + noise * np.eye(len(y))
    log_det, solved = np.linalg.slogdet(C)[1], np.linalg.solve(C, y)
    return float(-0.5 * (log_det + y @ solved + len(y) * np.log(2 * np.pi)))


def unit_parts(K: Any) -> dict[str, float]:
    """Seconds of a Cholesky factor, of the inverse from it, and of one pass B @ v over the bank."""
    from scipy.linalg.lapack import dpotrf, dpotri

    n = K.shape[1]
    C = np.asfortranarray(K.mean(axis=0) + np.eye(n))
    flat, v = K.reshape(len(K), -1), K[0].ravel().copy()
    factor = dpotrf(C, lower=True, clean=False)[0]
    calls = {
        "cholesky": lambda: dpotrf(C, lower=True, clean=False),
        "inverse": lambda: dpotri(factor, lower=True),
        "pass": lambda: flat @ v,
    }
    return {name: least_seconds(call) for name, call in calls.items()}


def least_seconds(call: Callable[[], Any]) -> float:
    """The least time of several calls: of the processor with one thread, else of the wall."""
    clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
    seconds = []
    for _ in range(_REPEATS):
        start = clock()
        call()
        seconds.append(clock() - start)
    return min(seconds)


def bound_of_labels(K: Any, y: Any) -> dict[str, Any]:
    """The variational bound of a logistic likelihood, to its tolerance."""
    from multikernel.banks import PackedBank
    from multikernel.bayes import BayesProblem, DoubleLoop
    from multikernel.likelihoods import LogisticLikelihood

    bank = PackedBank.from_grams(K)
    problem = BayesProblem(bank, y[:, np.newaxis], LogisticLikelihood())
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inference = DoubleLoop().infer(problem)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu": cpu, "wall": wall} | outcome(inference)


def outcome(inference: Any) -> dict[str, Any]:
    """What an inference of ours says of itself."""
    return {
        "iterations": inference.n_iter,
        "stationarity": inference.stationarity,
        "passes": inference.n_passes,
        "objective": inference.objective,
        "active": int(np.sum(inference.weights > 0)),
    }


def fit_traced(name: str, K: Any, y: Any, limit: float) -> tuple[Trace, Any, tuple[float, float]]:
    """A fit with its trace and its seconds, after a small one that loads the code."""
    FITS[name](K[:, :40, :40].copy(), y[:40].copy())(Trace(np.inf))
    run = FITS[name](K, y)
    trace = Trace(limit)
    try:
        result = run(trace)
    except OutOfTimeError:
        result = None
    return trace, result, trace.seconds


def main(name: str, task: Task, limit: float) -> dict[str, Any]:
    """Fit and report."""
    K, y = draw(task)
    if task.labels:
        bound_of_labels(K[:, :40, :40].copy(), y[:40])
        return bound_of_labels(K, y) | {"unit": unit_parts(K)}
    ours = name == "multikernel"
    unit = unit_parts(K) if ours else None
    warnings.simplefilter("ignore")
    trace, result, seconds = fit_traced(name, K, y, limit)
    lml, d, noise = trace.best
    row = {
        "trace": trace.rows,
        "seconds": seconds,
        "stopped": seconds[0] > limit,
        "lml": lml,
        "lml_checked": log_marginal_likelihood(K, y, d, noise),
        "active": int(np.sum(d > 1e-6 * d.max())),
        "version": _version(name.split(",")[0]),
    }
    if ours:
        after = unit_parts(K)
        row |= outcome(result) | {"unit": {key: min(unit[key], after[key]) for key in unit}}
    return row


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(source tree)"


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], TASKS[sys.argv[2]], float(sys.argv[3]))))
