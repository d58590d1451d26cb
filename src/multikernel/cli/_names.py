"""Names of models, with a suggestion for those that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

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


def split_names(entries: Sequence[str] | None) -> list[str] | None:
    """Names of models, which may hold commas, separated by semicolons.

    Examples
    --------
    >>> split_names(["uniform sum; MKL, lp"])
    ['uniform sum', 'MKL, lp']
    """
    names = [name.strip() for entry in entries or () for name in entry.split(";")]
    return [name for name in names if name] or None
