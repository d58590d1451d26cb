"""A fit that fails leaves the model as it was: nothing half-learned can predict."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])  # keeps Self, which a ParamSpec would turn into Any


def all_or_nothing(method: F) -> F:
    """A method after whose failure or interrupt the attributes are those from before it."""

    @wraps(method)
    def guarded(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            _restore(vars(self), before)
            raise

    return cast(F, guarded)


def _restore(attributes: dict[str, Any], before: dict[str, Any]) -> None:
    """Undo changes first and additions last: a second interrupt then loses no attribute."""
    attributes.update(before)
    for name in attributes.keys() - before.keys():
        del attributes[name]
