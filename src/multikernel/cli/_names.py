"""Names of models, with a suggestion for those that do not exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..files import Dataset

_NOT_SAVED = ("concatenated, linear",)  # holds a function, which no model file does


def check_model(name: str) -> str:
    """A model that can be fitted and saved, by its name in the table of a comparison."""
    from ..comparison import MODELS
    from ..files._errors import did_you_mean

    by_lower = {model.lower(): model for model in MODELS}
    found = by_lower.get(" ".join(name.lower().split()))
    if found in _NOT_SAVED:
        raise ValueError(
            f"The model {found!r} is a baseline of compare that no file can hold; choose one "
            "to fit by its name in the table of compare."
        )
    if found is not None:
        return found
    known = [model for model in MODELS if model not in _NOT_SAVED]
    if name.endswith(" alone"):
        source = name.removesuffix(" alone")
        raise ValueError(
            f"There is no model {name!r} to fit; it is the uniform sum of one source: add "
            f"--sources '{source}' --model 'uniform sum'."
        )
    hint = did_you_mean(name, known) or "."
    raise ValueError(f"There is no model {name!r} to fit{hint} There are: {'; '.join(known)}.")


def check_options(path: Path, dataset: Dataset, overridden: Collection[str] = ()) -> None:
    """Refuse models and scores of a TOML file that do not exist, by the line that names them.

    Parameters
    ----------
    path : Path
        Where the dataset was read from.
    dataset : Dataset
    overridden : collection of str
        Options that do not count, as others were given.
    """
    options = {key: value for key, value in dataset.options.items() if key not in overridden}
    if not {"models", "scoring"} & options.keys():
        return
    from ..comparison.planning import check_names
    from ..comparison.scoring import check_scoring

    sources = list(dataset.tables) if len(dataset.tables) > 1 else []
    for k, name in enumerate(options.get("models", [])):
        with _at(path, "models", k):
            check_names([name], sources)
    if "scoring" in options and dataset.task is not None:
        with _at(path, "scoring"):
            check_scoring(options["scoring"], dataset.task)


@contextmanager
def _at(path: Path, *key: str | int) -> Iterator[None]:
    """Let complaints begin with the line of a key of the table [compare]."""
    from ..files import InputError
    from ..files.config import place_of

    try:
        yield
    except ValueError as error:
        raise InputError(f"{place_of(path, ('compare', *key))}: {error}") from None


def split_names(entries: Sequence[str] | None) -> list[str] | None:
    """Names of models, which may hold commas, separated by semicolons.

    Examples
    --------
    >>> split_names(["uniform sum; MKL, lp"])
    ['uniform sum', 'MKL, lp']
    """
    if not entries:
        return None
    names = [name.strip() for entry in entries for name in entry.split(";")]
    if not any(names):
        raise ValueError(
            "--models names no model; leave the option out for those of the TOML file, or all."
        )
    return [name for name in names if name]
