"""InputError, and the phrases that messages about files share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_REASON = 120  # characters of an error of another library


class InputError(ValueError):
    """A file, or what was said about it, cannot be used; the message is for its owner.

    Parameters
    ----------
    message : str
    key : str, optional
        Of what was said about a source in a TOML file, that which is to blame.
    """

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A suggestion to append to a message, empty where nothing is close.

    Examples
    --------
    >>> did_you_mean("kernel", ["file", "kernels"])
    "; did you mean 'kernels'?"
    """
    by_lower = {str(w).lower(): str(w) for w in words}
    close = get_close_matches(word.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listing(words: Iterable[object], limit: int = 6) -> str:
    """Words in a row, with the number of those left out.

    Examples
    --------
    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    texts = [str(word) for word in words]
    shown = ", ".join(texts[:limit])
    return shown if len(texts) <= limit else f"{shown} and {len(texts) - limit} more"


def reason(error: Exception) -> str:
    """What an error of another library says, in a line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST_REASON].rstrip(".")


def count(n: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
