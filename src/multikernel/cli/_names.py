"""Names of models and of scores, with a suggestion for those that do not exist."""

from __future__ import annotations

from collections.abc import Sequence

_NOT_SAVED = ("concatenated, linear",)  # holds a function, which no model file does


def check_model(name: str) -> str:
    """A model that can be fitted and saved, by its name in the table of a comparison."""
    from ..comparison import MODELS

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
    raise ValueError(
        f"There is no model {name!r} to fit{_suggest(name, known)} There are: {'; '.join(known)}."
    )


def check_scoring(name: str) -> str:
    """The name of a score of scikit-learn."""
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name in known:
        return name
    usual = ("accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "r2")
    others = f"Common ones are: {'; '.join(usual)}."
    raise ValueError(f"There is no scoring {name!r}{_suggest(name, known) or '.'} {others}")


def split_names(entries: Sequence[str] | None) -> list[str] | None:
    """Names of models, which may hold commas, separated by semicolons.

    Examples
    --------
    >>> split_names(["uniform sum; MKL, lp"])
    ['uniform sum', 'MKL, lp']
    """
    names = [name.strip() for entry in entries or () for name in entry.split(";")]
    return [name for name in names if name] or None


def _suggest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    by_lower = {word.lower(): word for word in known}
    close = get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(repr(by_lower[c]) for c in close)}?" if close else "."
