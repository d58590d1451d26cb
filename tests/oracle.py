"""An independent answer to every problem: block norms in cvxpy, solved by Clarabel.

Nothing here calls the mathematics of the library. A kernel is a factor, K_m = Z_m Z_mᵀ, a function
its coordinates, f_m = Z_m w_m, and the penalty ψ(t) of the norms t_m = ‖w_m‖ is written with the
atoms of cvxpy. As ∂ψ/∂t_m = t_m / d_m, the multiplier of ‖w_m‖ ≤ t_m gives the weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

_TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
_ATTEMPTS = tuple(  # unequilibrated is the more accurate; once in a while one of them gets stuck
    {"use_quad_obj": False, "equilibrate_enable": scaled, **dict.fromkeys(_TOLERANCES, tol)}
    for tol in (1e-11, 1e-9)
    for scaled in (False, True)
)


class Answer(NamedTuple):
    """The optimum, its weights and the predictions on the training samples."""

    objective: float
    weights: np.ndarray
    predictions: np.ndarray


def factor(K: np.ndarray) -> np.ndarray:
    """A matrix Z of full column rank with K = Z Zᵀ."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * max(values[-1], 1e-300)
    return vectors[:, kept] * np.sqrt(values[kept])


def solve_with_cvxpy(
    grams: Sequence[np.ndarray],
    y: np.ndarray,
    loss: Any,
    regularizer: Any,
    C: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: np.ndarray | None = None,
    offset: np.ndarray | None = None,
) -> Answer:
    """The solution of one problem in its block-norm form."""
    n, n_outputs = y.shape
    cost = C * (np.ones(n) if sample_weight is None else sample_weight)
    factors = [factor(K) for K in grams]
    ws = [cp.Variable((max(1, Z.shape[1]), n_outputs)) for Z in factors]
    t, b = cp.Variable(len(ws)), cp.Variable((1, n_outputs))
    f = sum(Z @ w for Z, w in zip(factors, ws, strict=True) if Z.shape[1])
    z = f + np.ones((n, 1)) @ b
    norms = [cp.norm(w, "fro") <= t[m] for m, w in enumerate(ws)]
    penalty, constraints = block_penalty(regularizer, t)
    constraints = [*norms, *constraints, (cp.sum(b) if loss.couples_outputs else 0 * b[0, 0]) == 0]
    if not fit_intercept:
        constraints.append(b == 0)
    seen = z if offset is None else z + offset
    data = cost @ loss_terms(loss, y, seen)
    constraints += loss_constraints(loss, seen)
    problem = cp.Problem(cp.Minimize(data + penalty), constraints)
    _run_clarabel(problem)
    multipliers = np.array([float(norm.dual_value) for norm in norms])
    sizes = np.array([np.linalg.norm(w.value) for w in ws])
    weights = np.divide(sizes, multipliers, out=np.zeros_like(sizes), where=multipliers > 0)
    return Answer(float(problem.value), weights, np.asarray(z.value))


def _run_clarabel(problem: cp.Problem) -> None:
    """Several attempts, of which that with the smallest residuals is kept."""
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=_ATTEMPTS[0])
    ends = [chain.solve_via_data(problem, data, solver_opts=dict(a)) for a in _ATTEMPTS]
    best = min(ends, key=_residual)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        problem.unpack_results(best, chain, inverse)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise RuntimeError(f"Clarabel stopped with status {problem.status}.")


def _residual(end: Any) -> float:
    gap = abs(end.obj_val - end.obj_val_dual) / max(1.0, abs(end.obj_val))
    return float(np.nan_to_num([gap, end.r_prim, end.r_dual], nan=np.inf).max())


def loss_terms(loss: Any, y: np.ndarray, z: Any) -> Any:
    """The losses of the samples, summed over outputs: a vector of n convex expressions."""
    name = type(loss).__name__
    if name == "Multinomial":
        return cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(y, z), axis=1)
    terms = {
        "Hinge": lambda: cp.pos(1 - cp.multiply(y, z)),
        "SquaredHinge": lambda: cp.square(cp.pos(1 - cp.multiply(y, z))),
        "Logistic": lambda: cp.logistic(-cp.multiply(y, z)),
        "Squared": lambda: cp.square(y - z) / 2,
        "Absolute": lambda: cp.abs(y - z),
        "EpsilonInsensitive": lambda: cp.pos(cp.abs(y - z) - loss.epsilon),
        "Huber": lambda: cp.huber(y - z, loss.delta) / 2,
        "RelativeMargin": lambda: (
            cp.pos(1 - cp.multiply(y, z)) if loss.bound > 1 else 1 - cp.multiply(y, z)
        ),
    }
    return cp.sum(terms[name](), axis=1)


def loss_constraints(loss: Any, z: Any) -> list[Any]:
    """The bounds on predictions beyond which the losses are infinite."""
    return [cp.abs(z) <= loss.bound] if type(loss).__name__ == "RelativeMargin" else []


def block_penalty(regularizer: Any, t: Any) -> tuple[Any, list[Any]]:
    """The penalty of norms t as a convex expression, with the constraints that it needs."""
    return _PENALTIES[type(regularizer).__name__](regularizer, t)


def _lp(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    q = 2 * reg.p / (1 + reg.p)
    if reg.form == "ivanov":
        return cp.square(cp.norm1(t) if q == 1 else cp.pnorm(t, q)) / 2, []
    return (cp.sum(t) if q == 1 else cp.sum(cp.power(t, q)) / q), []


def _group(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    order = 2.0 if np.isinf(reg.within) else 2 * reg.within / (1 + reg.within)
    labels = list(dict.fromkeys(reg.groups))
    members = [[m for m, label in enumerate(reg.groups) if label == g] for g in labels]
    u = cp.Variable(len(labels))
    inside = [
        (cp.norm1(t[index]) if order == 1 else cp.pnorm(t[index], order)) <= u[g]
        for g, index in enumerate(members)
    ]
    q = 2 * reg.across / (1 + reg.across)
    if reg.form == "ivanov":
        return cp.square(cp.norm1(u) if q == 1 else cp.pnorm(u, q)) / 2, inside
    return (cp.sum(u) if q == 1 else cp.sum(cp.power(u, q)) / q), inside


def _wedge(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    d = cp.Variable(t.shape[0], nonneg=True)
    penalty, _ = _with_weights(t, d, cp.sum(d))
    return penalty, [d[:-1] >= d[1:]]


def _task_coupling(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    n_base = t.shape[0] // (reg.n_tasks + 1)
    u, inside = t, []
    if reg.sharing is not None:  # d is a multiple of the pattern inside each block
        pattern = np.append(np.full(reg.n_tasks, reg.n_tasks * (1 - reg.sharing)), reg.sharing)
        u = cp.Variable(n_base)
        blocks = [t[p * len(pattern) : (p + 1) * len(pattern)] for p in range(n_base)]
        inside = [
            cp.norm(cp.multiply(pattern**-0.5, block)) <= u[p] for p, block in enumerate(blocks)
        ]
    if reg.over is None:
        return cp.square(cp.sum(u)) / 2, [*inside, u >= 0]
    penalty, more = block_penalty(reg.over, u)
    return penalty, [*inside, *more]


def _with_weights(t: Any, d: Any, h: Any) -> tuple[Any, list[Any]]:
    ratios = [cp.quad_over_lin(t[m], d[m]) for m in range(t.shape[0])]
    return (sum(ratios) + h) / 2, []


def _q_norm(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    M = t.shape[0]
    d, ratio = cp.Variable(M), cp.Variable(M)
    cones = [cp.SOC(ratio[m] + d[m], cp.hstack([2 * t[m], ratio[m] - d[m]])) for m in range(M)]
    eigenvalues, V = np.linalg.eigh(reg.Q)
    R = V * np.sqrt(np.maximum(eigenvalues, 0.0))
    if reg.form == "tikhonov":
        return (cp.sum(ratio) + cp.sum_squares(R.T @ d)) / 2, cones
    return cp.sum(ratio) / 2, [*cones, cp.norm(R.T @ d) <= 1]


def _weight_penalty(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    d = cp.Variable(t.shape[0], nonneg=True)
    terms = {
        "_linear_quadratic": lambda: cp.sum(d) + cp.sum_squares(d) / 2,
        "_exponential": lambda: cp.sum(cp.exp(d)) - t.shape[0],
        "_mean_square": lambda: cp.square(cp.sum(d)) / 2 + cp.sum_squares(d) / 4,
    }
    return _with_weights(t, d, terms[reg.penalty.__name__]())


def _custom_block_norm(reg: Any, t: Any) -> tuple[Any, list[Any]]:
    if reg.norm_terms.__name__ == "_joint_root":
        return cp.norm(cp.hstack([t, 0.5])) - 0.5 + cp.sum_squares(t) / 2, []
    roots = [cp.norm(cp.hstack([t[m], 0.5])) - 0.5 for m in range(t.shape[0])]
    return sum(roots), []


_PENALTIES = {
    "LpNorm": _lp,
    "Uniform": lambda reg, t: (cp.sum_squares(t) / 2, []),
    "FixedWeights": lambda reg, t: (cp.sum_squares(t / np.sqrt(reg.weights)) / 2, []),
    "BlockNorm": lambda reg, t: (cp.sum(cp.power(t, reg.q)) / reg.q, []),
    "ElasticNet": lambda reg, t: (
        reg.l1_ratio * cp.sum(t) + (1 - reg.l1_ratio) / 2 * cp.sum_squares(t),
        [],
    ),
    "Wedge": _wedge,
    "GroupNorm": _group,
    "QNorm": _q_norm,
    "TaskCoupling": _task_coupling,
    "WeightPenalty": _weight_penalty,
    "BlockPenalty": _custom_block_norm,
}


def objective_by_hand(
    grams: Sequence[np.ndarray],
    y: np.ndarray,
    loss: Any,
    regularizer: Any,
    C: float,
    sample_weight: np.ndarray | None,
    weights: np.ndarray,
    dual_coef: np.ndarray,
    intercept: np.ndarray,
    offset: np.ndarray | float = 0.0,
) -> float:
    """J at a solver's answer, from its definition: f = Σ d_m K_m α + b, ‖f_m‖² = d_m² αᵀK_m α."""
    cost = C * (np.ones(len(y)) if sample_weight is None else sample_weight)
    K = sum(d * K_m for d, K_m in zip(weights, grams, strict=True))
    z = K @ dual_coef + intercept + offset
    G = np.array([np.sum(dual_coef * (K_m @ dual_coef)) for K_m in grams])
    data = float(cost @ loss_values(loss, y, z))
    if type(regularizer).__name__ == "BlockNorm":  # its weights maximise: only g is a penalty
        q = regularizer.q
        return data + float(np.sum((weights * np.sqrt(np.maximum(G, 0))) ** q)) / q
    return data + (float(weights @ G) + weight_penalty_value(regularizer, weights)) / 2


def loss_values(loss: Any, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The losses of the samples, summed over outputs."""
    name = type(loss).__name__
    if name == "Multinomial":
        top = z.max(axis=1, keepdims=True)
        return np.log(np.sum(np.exp(z - top), axis=1)) + top[:, 0] - np.sum(y * z, axis=1)
    size = np.abs(y - z)
    terms = {
        "Hinge": lambda: np.maximum(0, 1 - y * z),
        "SquaredHinge": lambda: np.maximum(0, 1 - y * z) ** 2,
        "Logistic": lambda: np.logaddexp(0, -y * z),
        "Squared": lambda: size**2 / 2,
        "Absolute": lambda: size,
        "EpsilonInsensitive": lambda: np.maximum(0, size - loss.epsilon),
        "Huber": lambda: np.where(
            size <= loss.delta, size**2 / 2, loss.delta * size - loss.delta**2 / 2
        ),
        "RelativeMargin": lambda: (
            np.maximum(0, 1 - y * z) + _at_most(float(np.max(np.abs(z))), loss.bound)
        ),
    }
    return np.sum(terms[name](), axis=1)


def weight_penalty_value(regularizer: Any, d: np.ndarray) -> float:
    """The penalty h(d), with an assertion that d is feasible where h is a constraint."""
    assert np.all(d >= 0)
    return float(_WEIGHT_PENALTIES[type(regularizer).__name__](regularizer, d))


def _at_most(value: float, bound: float) -> float:
    """The indicator of value <= bound, up to rounding."""
    assert value <= bound * (1 + 1e-8)
    return 0.0


def _lp_value(reg: Any, d: np.ndarray) -> float:
    return _at_most(np.sum(d**reg.p), 1.0) if reg.form == "ivanov" else np.sum(d**reg.p) / reg.p


def _elastic_value(reg: Any, d: np.ndarray) -> float:
    if reg.l1_ratio == 0:
        return _at_most(np.max(d), 1.0)
    return np.sum(reg.l1_ratio**2 * d / (1 - (1 - reg.l1_ratio) * d))


def _wedge_value(reg: Any, d: np.ndarray) -> float:
    assert np.all(np.diff(d) <= 1e-8 * np.max(d))
    return np.sum(d)


def _group_value(reg: Any, d: np.ndarray) -> float:
    groups = np.array([str(label) for label in reg.groups])
    norms = [np.linalg.norm(d[groups == g], reg.within) for g in np.unique(groups)]
    total = np.sum(np.array(norms) ** reg.across)
    return _at_most(total, 1.0) if reg.form == "ivanov" else total / reg.across


def _task_value(reg: Any, d: np.ndarray) -> float:
    base = d
    if reg.sharing is not None:
        blocks = d.reshape(-1, reg.n_tasks + 1)
        base = blocks[:, -1] / reg.sharing
        separate = blocks[:, :-1] / (reg.n_tasks * (1 - reg.sharing))
        assert np.allclose(separate, base[:, None], rtol=1e-9, atol=1e-12)
    return _at_most(np.sum(base), 1.0) if reg.over is None else weight_penalty_value(reg.over, base)


def _weight_value(reg: Any, d: np.ndarray) -> float:
    terms = {
        "_linear_quadratic": lambda: np.sum(d + d**2 / 2),
        "_exponential": lambda: np.sum(np.exp(d) - 1),
        "_mean_square": lambda: np.sum(d) ** 2 / 2 + np.sum(d**2) / 4,
    }
    return terms[reg.penalty.__name__]()


def _block_value(reg: Any, d: np.ndarray) -> float:
    """The penalty behind √(x + ¼) - ½: d + 1/(4d) - 1 from d = ½ on."""
    if reg.norm_terms.__name__ == "_joint_root":
        assert np.max(d) < 1
        d = np.array([np.max(d) / (1 - np.max(d))])  # only the largest weight matters
    return np.sum(np.where(d > 0.5, d + 0.25 / np.maximum(d, 0.5) - 1, 0.0))


_WEIGHT_PENALTIES = {
    "LpNorm": _lp_value,
    "Uniform": lambda reg, d: _at_most(np.max(d), 1.0),
    "FixedWeights": lambda reg, d: _at_most(np.max(d / reg.weights), 1.0),
    "ElasticNet": _elastic_value,
    "Wedge": _wedge_value,
    "GroupNorm": _group_value,
    "QNorm": lambda reg, d: _at_most(d @ reg.Q @ d, 1.0) if reg.form == "ivanov" else d @ reg.Q @ d,
    "TaskCoupling": _task_value,
    "WeightPenalty": _weight_value,
    "BlockPenalty": _block_value,
}
