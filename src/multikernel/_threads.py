"""Threads of BLAS: one for small matrices, whose parts are too short to be worth sharing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

_LARGE = 1000  # samples from which on threads pay, where the cores are free

P = ParamSpec("P")
R = TypeVar("R")


def blas_threads(n_samples: int) -> AbstractContextManager[Any]:
    """One thread for few samples, else as many as BLAS was told.

    Threads that wait for each other on cores that others use cost many times what they gain.
    """
    limit = 1 if n_samples < _LARGE else None
    threads: AbstractContextManager[Any] = _controller().limit(limits=limit, user_api="blas")
    return threads


def with_blas_threads(
    method: Callable[Concatenate[Any, Any, P], R],
) -> Callable[Concatenate[Any, Any, P], R]:
    """A method of samples X under :func:`blas_threads`."""

    @wraps(method)
    def limited(self: Any, X: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with blas_threads(X.shape[0]):
            return method(self, X, *args, **kwargs)

    return limited


@cache
def _controller() -> ThreadpoolController:
    """The libraries that are loaded, looked up once, for that takes milliseconds."""
    return ThreadpoolController()
