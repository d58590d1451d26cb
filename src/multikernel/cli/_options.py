"""Options that several commands share, and the data that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..files import Dataset

STUDY = "A folder of tables, one table, or a TOML file."


def study() -> Any:
    """Where the data are."""
    from typer import Argument

    return Argument(metavar="PATH", help=STUDY, show_default=False)


def target() -> Any:
    """What to predict."""
    return _option(
        "--target",
        "FILE:COLUMN",
        "What to predict: file:column, a file with one column, or a column that one file has. "
        "Repeat it for parts to be stacked. [default: the column 'target']",
    )


def sources() -> Any:
    """Which sources to use."""
    return _option(
        "--sources",
        "NAMES",
        "Sources to keep, separated by commas; or name=pattern, once per source, for the columns "
        "of one table ('rna=rna_*') or the files of a folder ('rna=*_rna.csv'), which are stacked.",
    )


def groups() -> Any:
    """What must not be split."""
    return _option(
        "--groups",
        "FILE:COLUMN",
        "What must not be split between training and test, such as a family or a site.",
    )


def ids() -> Any:
    """Which column identifies samples."""
    return _option(
        "--ids",
        "COLUMN",
        "The column of sample ids; none to join rows by position. [default: the one that files "
        "share, or that looks like ids]",
    )


def task() -> Any:
    """Whether labels or numbers are predicted."""
    return _option(
        "--task", "TASK", "classification or regression. [default: told from the target]"
    )


def scoring() -> Any:
    """What parameters are chosen by."""
    return _option("--scoring", "NAME", "A score of scikit-learn. [default: accuracy or r2]")


def as_json() -> Any:
    """Whether to print for programs."""
    from typer import Option

    return Option("--json", help="Print one JSON document on stdout, and nothing else there.")


def _option(name: str, metavar: str, text: str) -> Any:
    from typer import Option

    return Option(name, metavar=metavar, help=text, show_default=False)


def read_study(
    path: Path,
    target: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    ids: str | None = None,
    task: Any = None,
    *,
    needs_target: bool = False,
    levels: Any = None,
    columns: Any = None,
) -> Dataset:
    """The data that the options describe."""
    from ..files import read_sources

    dataset = read_sources(
        path,
        target=target or None,
        ids=ids,
        sources=parse_sources(sources),
        groups=groups or None,
        task=task,
        levels=levels,
        columns=columns,
    )
    if needs_target and dataset.y is None:
        raise ValueError(
            "There is nothing to predict: name the target, as in --target clinic:outcome."
        )
    return dataset


def keep_inputs(out: Path, read: Iterable[Path]) -> None:
    """Refuse to write over a file that was read."""
    if out.exists() and any(out.samefile(path) for path in read):
        raise FileExistsError(f"{out} is one of the files that were read; name another for --out.")


def parse_sources(entries: Sequence[str] | None) -> dict[str, list[str]] | list[str] | None:
    """Names of sources, or their patterns by name.

    Examples
    --------
    >>> parse_sources(["rna,mri"])
    ['rna', 'mri']
    >>> parse_sources(["rna=rna_*", "rest=age", "rest=sex"])
    {'rna': ['rna_*'], 'rest': ['age', 'sex']}
    """
    if not entries:
        return None
    if not any("=" in entry for entry in entries):
        return [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    pairs = [entry.partition("=") for entry in entries]
    if bare := [entry for entry in entries if "=" not in entry]:
        raise ValueError(
            f"--sources {bare[0]!r} names no pattern, but others do: write {bare[0]}=PATTERN."
        )
    found: dict[str, list[str]] = {}
    for name, _, patterns in pairs:
        found.setdefault(name.strip(), []).extend(p.strip() for p in patterns.split(","))
    return found
