"""check_sources: what to know about data before any fit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

from ..kernels import ViewBundle
from ._as_dataset import dataset_of
from ._check_columns import column_findings
from ._check_kernels import kernel_findings
from ._check_leaks import leak_findings
from ._check_presence import presence_findings
from ._check_samples import sample_findings
from ._check_target import target_findings
from ._errors import InputError
from ._finding import SEVERITIES, Finding
from ._types import DataFrame
from .dataset import Dataset
from .read import read_sources

_CHECKS: tuple[Callable[[Dataset], Iterable[Finding]], ...] = (
    sample_findings,
    target_findings,
    presence_findings,
    leak_findings,
    column_findings,
    kernel_findings,
)
_MARKS = {"problem": "✗ problem", "warning": "! warning", "note": "· note", "ok": "✓ ok"}
_WIDTH = 100


@dataclass(frozen=True)
class Check:
    """What was found, the worst first.

    Examples
    --------
    >>> from multikernel.files import Check, Finding
    >>> check = Check([Finding("ok", "rna", "12 samples, 3 columns.")])
    >>> print(check)
    ✓ ok       rna  12 samples, 3 columns.
    >>> check.ok
    True
    """

    findings: list[Finding]

    @property
    def ok(self) -> bool:
        """Whether there is no problem; there may be warnings."""
        return all(finding.severity != "problem" for finding in self.findings)

    def frame(self) -> DataFrame:
        """The findings as a table."""
        import pandas as pd

        columns = ["severity", "subject", "sentence"]
        return pd.DataFrame([asdict(finding) for finding in self.findings], columns=columns)

    def to_json(self) -> str:
        """The findings for other programs."""
        content = {"ok": self.ok, "findings": [asdict(finding) for finding in self.findings]}
        return json.dumps(content, indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        width = max((len(finding.subject) for finding in self.findings), default=0)
        return "\n".join(_line(finding, width) for finding in self.findings)


def check_sources(data: Any, target: Any = None) -> Check:
    """Look at data before any fit: samples, ids, target, leaks, columns, kernels and memory.

    Parameters
    ----------
    data : Dataset, path, or mapping from str to block
        What :func:`read_sources` returned or would read; or tables by the names of their sources,
        with sample ids in the index or in the same order.
    target : str, list of str or array, optional
        For a path the target as in :func:`read_sources`; for a mapping one value per sample.

    Returns
    -------
    Check
        Findings of severity "problem" (a fit would fail or mislead), "warning", "note" and "ok".

    See Also
    --------
    read_sources : Reads the data from files.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from multikernel.files import Dataset, check_sources
    >>> rng = np.random.default_rng(0)
    >>> ids = [f"s{i}" for i in range(40)]
    >>> y = pd.Series(rng.normal(size=40), index=ids, name="age")
    >>> rna = pd.DataFrame(rng.normal(size=(40, 3)), index=ids, columns=["g1", "g2", "g3"])
    >>> check = check_sources(Dataset({"rna": rna.assign(years=y)}, y=y, task="regression"))
    >>> check.ok
    False
    >>> print(check.findings[0].sentence)
    Column 'years' equals the target 'age': drop it (in a TOML file), or the model just copies it.
    """
    dataset = _as_dataset(data, target)
    found = [finding for check in _CHECKS for finding in check(dataset)]
    found += [
        Finding("warning" if note in dataset.warnings else "note", "reading", note)
        for note in dict.fromkeys([*dataset.warnings, *dataset.notes])
    ]
    return Check(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


def _as_dataset(data: Any, target: Any) -> Dataset:
    if isinstance(data, Dataset):
        if target is not None:
            raise InputError("A Dataset has its own target; read it with another one.")
        return data
    if isinstance(data, str | os.PathLike):
        return read_sources(data, target=target)
    if isinstance(data, Mapping | ViewBundle):
        return dataset_of(data, target)
    raise InputError(
        f"check_sources takes a Dataset, a path or a mapping from names to tables, got "
        f"{type(data).__name__}; for one table write {{'name': table}}."
    )


def _line(finding: Finding, width: int) -> str:
    start = f"{_MARKS[finding.severity]:<11}{finding.subject:<{width}}  "
    return fill(
        finding.sentence,
        max(_WIDTH, len(start) + 40),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
