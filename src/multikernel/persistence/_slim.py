"""Slim copies of models: what prediction needs, in forms that travel, and nothing that runs."""

from __future__ import annotations

from copy import copy
from dataclasses import is_dataclass, replace
from functools import partial, singledispatch
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..bayes.conjugate import ConjugatePosterior
from ..estimators._base import BaseMKL
from ..estimators._bayesian import BaseBayesianMKL
from ..estimators._posterior import Spread
from ..estimators._probabilistic import BaseProbabilisticMKL
from ..kernels import Kernels, KernelSet
from ..kernels.group import Kernel
from ..solvers import Solution
from ._forms import FORMS, Pairs, compact
from ._trusted import CODE

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial)
_ADVICE = {
    "FunctionKernel": "use a named family, or compute the kernel and fit with "
    "kernels='precomputed'",
    "WeightPenalty": "fit with a named regularizer, such as LpNorm or QNorm",
    "BlockPenalty": "fit with a named regularizer, such as LpNorm or BlockNorm",
}


def pack(model: Any) -> Any:
    """A copy of a fitted model without what prediction does not need; the model stays as it is.

    Training samples are those that predictions are computed with, kernels those with a weight.
    """
    return _Packer().pack(model, type(model).__name__)


def unpack(model: Any) -> Any:
    """Bring a packed model back into its usual forms, in place."""
    return _Unpacker().unpack(model)


@singledispatch
def lighten(part: Any) -> dict[str, Any]:
    """The attributes of a part that travel."""
    return dict(vars(part))


@lighten.register
def _(part: BaseMKL) -> dict[str, Any]:
    state = _settings_and_results(part)
    if "kernels_" in state:
        samples, kernels = part.kernels_.needed(*part._expansion())
        state["kernels_"] = part.kernels_.restrict(samples, kernels)
    return state


@lighten.register(BaseProbabilisticMKL)
@lighten.register(BaseBayesianMKL)
def _settings_and_results(part: BaseMKL) -> dict[str, Any]:
    """All but the training problem; uncertainties need all training samples."""
    state = {name: value for name, value in vars(part).items() if name != "problem_"}
    if isinstance(part.kernels, Kernels):
        state["kernels"] = clone(part.kernels)  # as a parameter it needs no training samples
    return state


@lighten.register
def _(part: KernelSet) -> dict[str, Any]:
    state = dict(vars(part))
    if "columns_" in state:
        used = part.sources_in_use()
        for name in ("columns_", "widths_"):
            state[name] = {key: value for key, value in state[name].items() if key in used}
    return state


@lighten.register
def _(part: Kernel) -> dict[str, Any]:
    family = copy(part.family)  # with the parameters of this kernel instead of those of all
    for name in family.swept:
        setattr(family, name, part.parameters[name])
    return vars(part) | {"family": family}


@lighten.register
def _(part: Solution) -> dict[str, Any]:
    return vars(part) | {"dual_point": np.zeros((0, part.dual_coef.shape[1]))}


@lighten.register
def _(part: Spread) -> dict[str, Any]:
    return vars(part) | {"factor": np.tril(part.factor)}  # zeros above the diagonal take no room


@lighten.register
def _(part: ConjugatePosterior) -> dict[str, Any]:
    q: Any = part.factors
    a = replace(q.a, var=None, log_det=None, trace_q=None, Ka=None, X=None)
    factors = replace(q, lam=None, gam=None, omega=None, a=a, G=None, f=None)
    triangles = [np.tril(L) for L in part.precision_factors]
    return vars(part) | {"factors": factors, "precision_factors": triangles}


def _has_parts(value: Any) -> bool:
    """Whether a value is an object to look into, one of ours or a scikit-learn estimator."""
    ours = type(value).__module__.startswith("multikernel.") and is_dataclass(value)
    return not isinstance(value, type) and (ours or isinstance(value, BaseEstimator))


class _Packer:
    """A walk through all parts of a model; what is shared stays shared."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, Any]] = {}  # originals are kept, so that ids stay theirs

    def pack(self, value: Any, path: str) -> Any:
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._pack(value, path)
        return self._seen[id(value)][1]

    def _pack(self, value: Any, path: str) -> Any:
        if isinstance(value, (*CODE, *_FUNCTIONS)):
            _refuse(value, path)
        short = compact(value)
        if short is not value:
            return short
        if type(value) in (list, tuple, set):
            return type(value)(self.pack(v, f"{path}[{i}]") for i, v in enumerate(value))
        if hasattr(value, "_fields"):  # a named tuple
            return type(value)(*(self.pack(getattr(value, f), path) for f in value._fields))
        if type(value) is dict:
            packed = [(k, self.pack(v, f"{path}[{k!r}]")) for k, v in value.items()]
            return dict(packed) if all(type(k) is str for k in value) else Pairs(packed)
        if _has_parts(value):
            state = lighten(value)
            return _make(value, {k: self.pack(v, f"{path}.{k}") for k, v in state.items()})
        if type(value).__module__.startswith("pandas") and getattr(value, "ndim", 0) == 1:
            return self.pack(value.to_numpy(), path)  # names of columns
        return value


def _make(like: Any, state: dict[str, Any]) -> Any:
    """An object of the same class with other attributes."""
    other = object.__new__(type(like))
    vars(other).update(state)
    return other


def _refuse(value: Any, path: str) -> NoReturn:
    advice = _ADVICE.get(
        type(value).__name__, "name columns and parts by text, numbers or objects of multikernel"
    )
    raise TypeError(
        f"{path} is {value!r}: functions of your own cannot travel in a model file, because "
        f"loading them would run their code; {advice}."
    )


class _Unpacker:
    """A walk through all parts of a loaded model that restores their usual forms."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, Any]] = {}

    def unpack(self, value: Any) -> Any:
        if id(value) not in self._seen:
            self._seen[id(value)] = value, value  # a value that holds itself is not entered again
            self._seen[id(value)] = value, self._unpack(value)
        return self._seen[id(value)][1]

    def _unpack(self, value: Any) -> Any:
        if isinstance(value, Pairs):
            self._each(vars(value))
        if isinstance(value, FORMS):
            return value.restore()
        if type(value) is dict:
            self._each(value)
        elif type(value) is list:
            value[:] = [self.unpack(part) for part in value]
        elif type(value) in (tuple, set):
            return type(value)(self.unpack(part) for part in value)
        elif hasattr(value, "_fields"):
            return type(value)(*(self.unpack(part) for part in value))
        elif _has_parts(value):
            self._each(vars(value))
        return value

    def _each(self, parts: dict[Any, Any]) -> None:
        for name, part in list(parts.items()):
            parts[name] = self.unpack(part)
