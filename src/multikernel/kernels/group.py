"""Kernel and Group: single kernels with their factors, and those that share a computation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._component import Array
from .family import KernelFamily
from .normalize import Unnormalized, make_normalizer

Index = NDArray[np.intp]


@dataclass
class Kernel:
    """One kernel of a set: its factors and what was learned on the training samples."""

    index: int
    source: str
    family: KernelFamily
    parameters: dict[str, Any]
    normalizer: Unnormalized
    scale: float = 1.0

    @property
    def label(self) -> str:
        """The parameters as text, empty for a kernel without any."""
        return ", ".join(f"{name}={value:.4g}" for name, value in self.parameters.items())

    @property
    def name(self) -> str:
        """Source, family and parameters in one name."""
        return self.family.kernel_name(self.source, self.label)

    def row(self) -> dict[str, Any]:
        """The factors of the kernel as a row of a table."""
        return {
            "source": self.source,
            "family": self.family.name,
            "parameter": self.label,
            "parameters": self.parameters,
        }

    def gram(self, base: Array) -> Array:
        """The raw kernel from the base of its group."""
        return self.family.gram(base, self.scale, **self.parameters)


@dataclass
class Group:
    """Kernels of one source that share one base computation."""

    source: str
    family: KernelFamily
    kernels: list[Kernel] = field(default_factory=list)

    def take(self, positions: Index) -> Group:
        """The same kernels for expansions in some of the training samples."""
        kernels = [replace(k, normalizer=k.normalizer.take(positions)) for k in self.kernels]
        return replace(self, kernels=kernels)


def make_groups(
    families: Mapping[str, Sequence[KernelFamily]], normalize: str | None
) -> list[Group]:
    """The cross product of sources, families and parameters, grouped by shared base."""
    groups: dict[tuple[str, Hashable], Group] = {}
    index = count()
    swept: dict[int, list[dict[str, Any]]] = {}  # families are mostly those of other sources too
    for source, members in families.items():
        for family in (part for member in members for part in member.split()):
            group = groups.setdefault((source, family.base_key), Group(source, family))
            if id(family) not in swept:
                swept[id(family)] = family.parameters()
            group.kernels += [
                Kernel(next(index), source, family, dict(parameters), make_normalizer(normalize))
                for parameters in swept[id(family)]
            ]
    return list(groups.values())


def unique_names(kernels: Sequence[Kernel]) -> list[str]:
    """The names of the kernels, numbered where they repeat."""
    seen: dict[str, int] = {}
    names = []
    for name in (kernel.name for kernel in kernels):
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names
