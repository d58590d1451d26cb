"""Kernel families that others compute: functions and scikit-learn kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import linear_kernel

from .._component import Array
from .family import KernelFamily


@dataclass(repr=False)
class FunctionKernel(KernelFamily):
    """A kernel function of your own.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns an array of shape (len(X), len(Z)).
    label : str, optional
        The name of the kernel in tables; the name of the function by default.
    raw : bool, default=False
        Hand over the rows as given (strings, objects, DataFrames) instead of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.kernels import FunctionKernel
    >>> def overlap(X, Z):
    ...     return np.minimum(X[:, None], Z).sum(axis=2)
    >>> FunctionKernel(overlap).name
    'overlap'
    """

    function: Callable[[Any, Any], Array]
    label: str | None = None
    raw: bool = False
    trusted: ClassVar[bool] = False
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"function": linear_kernel},)

    @property
    def name(self) -> str:
        """The label, or the name of the function."""
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Numbers, unless the function asked for raw rows."""
        return "raw" if self.raw else "numeric"

    def base(self, X: Any, Z: Any = None) -> Array:
        """The values of the function."""
        Z = X if Z is None else Z
        K = np.asarray(self.function(X, Z), dtype=np.float64)
        if K.shape != (len(X), len(Z)):
            raise ValueError(
                f"The kernel function {self.name!r} must return an array of shape "
                f"({len(X)}, {len(Z)}), got {K.shape}."
            )
        return K


@dataclass(repr=False)
class SklearnKernel(KernelFamily):
    """A kernel object of scikit-learn's Gaussian processes, with its parameters as they are.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Any kernel, sums and products included.
    label : str, optional
        The name of the kernel in tables; its ``repr`` by default.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import ConstantKernel, RationalQuadratic
    >>> from multikernel.kernels import SklearnKernel
    >>> SklearnKernel(2.0 * RationalQuadratic()).name
    '1.41**2 * RationalQuadratic(alpha=1, length_scale=1)'
    """

    kernel: Any
    label: str | None = None
    trusted: ClassVar[bool] = False
    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"kernel": gp.RBF(0.7)},)

    @property
    def name(self) -> str:
        """The label, or the kernel as scikit-learn prints it."""
        return self.label or repr(self.kernel)

    def base(self, X: Any, Z: Any = None) -> Array:
        """The values of the kernel."""
        return np.asarray(self.kernel(X, Z), dtype=np.float64)

    def base_diag(self, X: Any) -> Array:
        """The self-similarities of the kernel."""
        return np.asarray(self.kernel.diag(X), dtype=np.float64)
