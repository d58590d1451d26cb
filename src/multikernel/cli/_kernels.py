"""The kernels that a study asks for, as estimators take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..files import Dataset


def kernels_of(dataset: Dataset) -> Any:
    """What to compute on the sources; None where the study leaves the choice to the library."""
    from ..kernels import KernelSet, PrecomputedKernels

    own = {name: dataset.kernels[name] for name in dataset.tables if dataset.kernels.get(name)}
    if not own:
        return None
    if {dataset.kind(name) for name in dataset.tables} == {"features"}:
        return KernelSet({name: (None, own.get(name)) for name in dataset.tables})
    families = list(own.values())
    if any(repr(other) != repr(families[0]) for other in families) or len(own) < len(
        dataset.tables
    ):
        raise ValueError(
            "Distance matrices share one list of kernels: write the same kernels for each of "
            f"{', '.join(dataset.tables)}, or none."
        )
    return PrecomputedKernels(families[0])
