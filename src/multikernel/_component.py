"""Component: parameters, clone and repr for every part of the objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

Array: TypeAlias = NDArray[np.floating[Any]]
T = TypeVar("T", bound="Component")


class Component(BaseEstimator):
    """A part of the objective: scikit-learn parameters plus the settings worth testing.

    Subclasses are dataclasses written ``@dataclass(repr=False)``, so that ``clone``, ``repr`` and
    nested parameters such as ``regularizer__p`` work untaught.
    """

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({},)


def concrete_subclasses(base: type[T]) -> Iterator[type[T]]:
    """All public subclasses of a base class that are meant to be instantiated."""
    for cls in base.__subclasses__():
        if not cls.__name__.startswith("_") and not getattr(cls, "__abstractmethods__", None):
            yield cls
        yield from concrete_subclasses(cls)


def _with_defaults(cls: type[T], name: str, role: str) -> T:
    required = [
        parameter.name
        for parameter in signature(cls).parameters.values()
        if parameter.default is parameter.empty
    ]
    if required:
        given = ", ".join(f"{parameter}=..." for parameter in required)
        raise TypeError(f"{role}={name!r} needs parameters; pass {cls.__name__}({given}).")
    return cls()


def resolve(part: str | T | None, registry: Mapping[str, type[T]], default: str, role: str) -> T:
    """Turn a registered name, an instance or None into a part of the objective.

    Examples
    --------
    >>> from multikernel.losses import LOSSES
    >>> resolve("huber", LOSSES, default="hinge", role="loss")
    Huber()
    """
    if part is None:
        part = default
    if isinstance(part, str):
        if part not in registry:
            known = ", ".join(sorted(registry))
            raise ValueError(f"{role}={part!r} is not known; choose one of: {known}.")
        return _with_defaults(registry[part], part, role)
    base = next(cls for cls in next(iter(registry.values())).__mro__ if Component in cls.__bases__)
    if not isinstance(part, base):
        raise TypeError(
            f"{role} must be a name or a {base.__name__} instance, got {type(part).__name__}; "
            f"known names: {', '.join(sorted(registry))}."
        )
    return part
