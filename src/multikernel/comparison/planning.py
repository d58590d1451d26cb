"""The tasks of a comparison, and the fingerprint that tells it from others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

from joblib import hash as digest
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import make_pipeline

from ..estimators import SourcePreparation
from ..estimators.preparation import reads_targets
from ..files._errors import did_you_mean
from ..kernels import ViewBundle
from ..persistence._versions import current_versions
from .inputs import select_kernels
from .models import CONCATENATED, HEADLINE, MODELS, UNIFORM, Setting, has_kernels, on_columns
from .nested import nest_preparation
from .saving import RESULTS_FORMAT
from .scoring import check_scorable
from .tasks import Data, Task

ALONE, WITHOUT = "{source} alone", "{model} without {source}"
_FIRST = (UNIFORM, HEADLINE)  # on every fold: a verdict needs them, however short the time
_FEW_KERNELS = 20  # of a KernelBundle, up to which each counts as a source


@dataclass(frozen=True)
class Menu:
    """What is to be fitted on every fold.

    Attributes
    ----------
    models : list of str or mapping from str to estimator, or None
    pipelines : mapping from str to transformer
    importance : bool
        Also the headline model without each source.
    n_permutations : int
    """

    models: Any
    pipelines: Mapping[str, Any]
    importance: bool
    n_permutations: int

    def tasks(self, data: Data, settings: list[Setting]) -> list[Task]:
        """All models on the first fold, then all on the second: what is done can be compared."""
        every = [task for k, s in enumerate(settings) for task in self._of_fold(data.X, s, k)]
        names = [task.model for task in every if task.fold == 0]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"Two models are called {twice[0]!r}; give yours another name.")
        return [*every, *self._permutations(data.X, settings)]

    def headline(self, X: Any, setting: Setting) -> Any:
        """The headline model after the preparation of all sources."""
        return self._prepared(X, MODELS[HEADLINE](setting))

    def _of_fold(self, X: Any, setting: Setting, fold: int) -> Iterator[Task]:
        sources = X.names if _has_sources(X) else []
        models = [
            Task(name, self._prepared(X, model), fold, explained=name == HEADLINE and bool(sources))
            for name, model in _choose_models(setting, self.models, X).items()
        ]
        yield from [task for task in models if task.model in _FIRST]
        for source in _sources_alone(X):
            name = ALONE.format(source=source)
            yield self._partial(X, setting, fold, UNIFORM, name, "alone", source, (source,))
        yield from [task for task in models if task.model not in _FIRST]
        for source in sources if self.importance and len(sources) > 2 else []:
            name = WITHOUT.format(model=HEADLINE, source=source)
            others = tuple(other for other in sources if other != source)
            yield self._partial(X, setting, fold, HEADLINE, name, "without", source, others)

    def _partial(
        self,
        X: Any,
        setting: Setting,
        fold: int,
        model: str,
        name: str,
        role: str,
        source: str,
        sources: tuple[str, ...],
    ) -> Task:
        """A model that sees some of the sources."""
        own = replace(setting, kernels=select_kernels(setting.kernels, sources))
        estimator = self._prepared(X, MODELS[model](own), sources)
        return Task(name, estimator, fold, role, source, sources)

    def _permutations(self, X: Any, settings: list[Setting]) -> Iterator[Task]:
        for seed in range(self.n_permutations):
            for fold, setting in enumerate(settings):
                estimator = self._prepared(X, MODELS[HEADLINE](setting))
                yield Task(HEADLINE, estimator, fold, "permutation", seed=seed)

    def _prepared(self, X: Any, estimator: Any, sources: tuple[str, ...] | None = None) -> Any:
        """The estimator after the preparation of its sources, which no inner test part enters.

        Preparation that no target enters is fitted once, to the training part of the outer fold.
        """
        if not isinstance(X, ViewBundle):
            return estimator
        own = {k: v for k, v in self.pipelines.items() if sources is None or k in sources}
        preparation = SourcePreparation(own)
        if any(map(reads_targets, own.values())):
            return nest_preparation(preparation, estimator)
        return make_pipeline(preparation, estimator)


def _has_sources(X: Any) -> bool:
    return isinstance(X, ViewBundle) or len(X.names) <= _FEW_KERNELS


def _sources_alone(X: Any) -> list[str]:
    """The sources that are also tried alone."""
    return list(X.names) if _has_sources(X) and len(X.names) > 1 else []


def _choose_models(setting: Setting, models: Any, X: Any) -> dict[str, Any]:
    """Estimators by name; the uniform sum and the headline model are always among them."""
    always = {name: MODELS[name](setting) for name in _FIRST}
    if isinstance(models, Mapping):
        if taken := [name for name in models if name in always]:
            raise ValueError(f"Two models are called {taken[0]!r}; give yours another name.")
        return always | {str(n): _check_estimator(n, m, setting, X) for n, m in models.items()}
    names = list(MODELS) if models is None else [models] if isinstance(models, str) else models
    check_names(names, _sources_alone(X))
    return {
        name: make(setting)
        for name, make in MODELS.items()
        if name in {*always, *names} and (setting.has_columns or name != CONCATENATED)
    }


def check_names(names: Iterable[Any], sources: Sequence[str]) -> None:
    """Refuse names of models that do not exist; each of the sources alone is always there."""
    known = [*MODELS, *(ALONE.format(source=source) for source in sources)]
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known) or "."
            raise ValueError(f"There is no model {name!r}{hint} There are: {'; '.join(known)}.")


def _check_estimator(name: str, estimator: Any, setting: Setting, X: Any) -> Any:
    """An estimator of the user's; one without kernels gets the columns of all sources."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise TypeError(f"Model {name!r} is not an estimator: {estimator!r}.")
    right = is_classifier if setting.task == "classification" else is_regressor
    if not right(estimator):
        raise TypeError(f"Model {name!r} is not for {setting.task}: {type(estimator).__name__}.")
    check_scorable(name, estimator, setting.scoring)
    if has_kernels(estimator):
        return estimator
    if not setting.has_columns:
        raise TypeError(f"Model {name!r} needs columns of numbers, which these sources lack.")
    return on_columns(estimator)


def make_plan(data: Data, tasks: list[Task]) -> dict[str, Any]:
    """What a folder of results belongs to."""
    return {
        "format": RESULTS_FORMAT,
        "data": digest([data.X, data.y, data.groups]),
        "folds": digest(data.folds),
        "models": sorted({task.label for task in tasks}),
        "scoring": data.scoring,
        "settings": digest(sorted((task.key, _fingerprint(task.estimator)) for task in tasks)),
        "versions": current_versions(),
    }


def _fingerprint(value: Any) -> str:
    """A hash of an estimator, a function or plain values, parts and parameters included.

    The same in every process; another one where a class, a parameter or the code of a function
    differs.
    """
    return str(digest(_described(value)))


def _described(value: Any) -> Any:
    """Plain values that say all about an object."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        kind = type(value)
        return kind.__module__, kind.__qualname__, _described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return sorted((str(key), _described(part)) for key, part in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return type(value).__name__, [_described(part) for part in value]
    if hasattr(value, "__code__"):  # a function may keep its name and change
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        more = [value.__defaults__, value.__kwdefaults__, cells]
        return value.__qualname__, _described_code(value.__code__), _described(more)
    try:
        return str(digest(value))
    except Exception:  # some objects cannot be pickled
        return type(value).__qualname__, _without_addresses(value)


def _described_code(code: CodeType) -> Any:
    """What a function does: its instructions, names and constants, functions inside included."""
    constants = [_described_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, constants


def _without_addresses(value: Any) -> str:
    """What it prints as, the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
