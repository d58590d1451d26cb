"""TextLevels: what the text columns of files meant at the fit, kept with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin

Levels = Mapping[str, Mapping[str, Sequence[str]]]


class TextLevels(TransformerMixin, BaseEstimator):
    """A step of a pipeline that changes nothing and keeps the levels of text columns.

    Give its ``levels_`` to :func:`multikernel.read_sources` to read new files into the columns of
    the fit, whatever levels these files hold.

    Parameters
    ----------
    levels : mapping from source to mapping from column to list of str, optional
        As in ``Dataset.levels``.

    Attributes
    ----------
    levels_ : dict

    Examples
    --------
    >>> from multikernel.files import TextLevels
    >>> step = TextLevels({"clinic": {"sex": ["f", "m"]}}).fit(None)
    >>> step.levels_["clinic"]["sex"]
    ['f', 'm']
    >>> step.transform([1, 2])
    [1, 2]
    """

    def __init__(self, levels: Levels | None = None) -> None:
        self.levels = levels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the levels.

        Parameters
        ----------
        X : ignored
        y : ignored
        """
        self.levels_ = {
            str(source): {str(column): list(known) for column, known in columns.items()}
            for source, columns in (self.levels or {}).items()
        }
        return self

    def transform(self, X: Any) -> Any:
        """The sources as they are.

        Parameters
        ----------
        X : anything
        """
        return X
