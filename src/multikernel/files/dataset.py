"""Dataset: what was read from files, by sample id, and what was assumed on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..kernels import (
    KernelBundle,
    KernelFamily,
    PrecomputedKernels,
    ViewBundle,
    default_families,
)
from ._errors import InputError, listing
from ._join import common_ids
from ._types import DataFrame, Series

Kind = Literal["features", "kernel", "distance"]
Task = Literal["classification", "regression"]

_KERNELS_PER_DISTANCE = 3  # by default, see PrecomputedKernels


@dataclass(frozen=True)
class Dataset:
    """Sources, target and groups of one study, each with its own samples.

    Parameters
    ----------
    tables : dict from str to DataFrame
        One per source, of float64, with sample ids as text in the index. Square sources have the
        same ids in their columns.
    y : Series or None
        The target, with sample ids in the index; samples without a value are left out.
    groups : Series or None
        What must not be split between training and test, such as a site or a family.
    task : {"classification", "regression"} or None
    files, hashes : dict
        Path and SHA-256 of every file that was read, by its name.
    notes : list of str
        What was assumed, in sentences.
    warnings : list of str
        Those of the notes to be read before anything is fitted.
    kinds : dict from str to {"features", "kernel", "distance"}
    kernels : dict from str to list of KernelFamily
        For sources whose kernels were chosen.
    levels : dict from str to dict from str to list of str
        The levels of columns of text, by source and column; for ``levels`` of
        :func:`read_sources`.
    options : dict
        The table ``compare`` of a TOML file.

    See Also
    --------
    read_sources : Makes one from files.
    check_sources : Says what to know before a fit.
    """

    tables: dict[str, DataFrame]
    y: Series | None = None
    groups: Series | None = None
    task: Task | None = None
    files: dict[str, Path] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    kernels: Mapping[str, list[KernelFamily]] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        sources = ", ".join(f"{n}: {t.shape[0]} × {t.shape[1]}" for n, t in self.tables.items())
        target = "no target" if self.y is None else f"{self.task} of {self.y.name}"
        return f"Dataset({target}; {sources})"

    def mixed_kinds(self) -> str:
        """What to do about sources that no model can take together; empty where it can."""
        kinds = sorted({self.kind(name) for name in self.tables})
        if len(kinds) < 2:
            return ""
        return (
            f"The sources are of different kinds ({', '.join(kinds)}); expected features only, "
            "kernels only or distances only: choose among the sources."
        )

    def kind(self, name: str) -> Kind:
        """Whether a source holds features, kernels or distances."""
        return self.kinds.get(name, "features")

    def n_kernels(self, name: str) -> int:
        """How many kernels a source stands for."""
        families = self.kernels.get(name)
        if self.kind(name) == "kernel":
            return 1
        if not families and self.kind(name) == "distance":
            return _KERNELS_PER_DISTANCE
        return sum(len(family.parameters()) for family in families or default_families())

    def kernel_choice(self) -> Any:
        """What to give estimators as ``kernels``; None where nothing was chosen."""
        own = {name: self.kernels[name] for name in self.tables if self.kernels.get(name)}
        if not own:
            return None
        if {self.kind(name) for name in self.tables} == {"features"}:
            return {name: (None, own.get(name)) for name in self.tables}
        families = [repr(own.get(name)) for name in self.tables]
        if len(set(families)) > 1:
            raise InputError(
                "Distance matrices share one list of kernels: give the same kernels to each of "
                f"{listing(self.tables)}, or none."
            )
        return PrecomputedKernels(next(iter(own.values())))

    def align(
        self, how: Literal["outer", "inner"] = "outer"
    ) -> tuple[ViewBundle | KernelBundle, Series | None, Series | None]:
        """The samples with a target, in one order for all sources, target and groups.

        Parameters
        ----------
        how : {"outer", "inner"}, default="outer"
            Keep samples that lack some sources, which the bundle marks, or only those with all.
            Kernel and distance matrices need all.

        Returns
        -------
        X : ViewBundle, or KernelBundle of kernel or distance matrices
        y, groups : Series or None
        """
        tables = self.tables
        for role, labels in (("target", self.y), ("groups", self.groups)):
            if labels is not None and not labels.index.is_unique:
                twice = labels.index[labels.index.duplicated()][0]
                raise InputError(f"The {role} holds sample {twice!r} twice; keep one row of it.")
        if self.y is not None:
            tables = {name: table[table.index.isin(self.y.index)] for name, table in tables.items()}
        if mixed := self.mixed_kinds():
            raise InputError(mixed)
        kinds = {self.kind(name) for name in tables}
        X: ViewBundle | KernelBundle
        if kinds == {"features"}:
            X = ViewBundle.align(tables, how=how)
        else:
            ids = list(common_ids(tables))
            matrices = {name: table.loc[ids, ids] for name, table in tables.items()}
            X = KernelBundle(matrices, kind="gram" if kinds == {"kernel"} else "distance")
        y, groups = (None if v is None else v.reindex(X.ids) for v in (self.y, self.groups))
        return X, y, groups
