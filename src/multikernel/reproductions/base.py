"""The contract of an experiment: its data, its tasks, and what their results say."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import joblib

from ..report import Section


@dataclass(frozen=True)
class DataFile:
    """A file or folder of the original data.

    Attributes
    ----------
    path : str
        Where it is, below the folder of all data sets.
    content : str
        What is in it, as one says it.
    origin : str
        Where it is described.
    """

    path: str
    content: str
    origin: str


@dataclass(frozen=True)
class Summary:
    """What the results of all tasks say.

    Attributes
    ----------
    findings : list of str
        The sentences to read first: what the paper states, and whether it holds here.
    sections : list of Section
        The paper's tables and figures, drawn from our results.
    """

    findings: list[str]
    sections: list[Section]


class Experiment(ABC):
    """One experiment of a paper, cut into tasks that can be done in any order.

    A task is a string. Everything random in it follows from that string, so that a run that was
    stopped, and goes on, ends with the same result.

    Parameters
    ----------
    quick : bool, default=False
        Look at every step in less than two minutes, at a fraction of the size.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        The question it answers.
    paper : str
        Where it was published.
    needs : tuple of DataFile
        The original data; none where they are embedded or drawn.
    stand_in_name : str
        What the data of :meth:`stand_in` are, for every figure made of them.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[tuple[DataFile, ...]] = ()
    stand_in_name: ClassVar[str] = ""

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What must be the same in a run and in the run that goes on with it, as JSON has it."""

    @abstractmethod
    def load(self, folder: Path) -> Any:
        """The original data, from the folder of all data sets."""

    def fingerprint(self, data: Any) -> str:
        """What tells these data from others, so that no run goes on with the results of others.

        Parameters
        ----------
        data : object
            From :meth:`load` or :meth:`stand_in`. Where it names files instead of holding their
            content, an experiment overrides this method by a hash of its files.
        """
        return str(joblib.hash(data))

    def stand_in(self) -> Any:
        """Synthetic data of the same form, for those who lack the original; none are needed."""
        return self.load(Path())

    @abstractmethod
    def tasks(self, data: Any) -> list[str]:
        """All tasks, in the order in which they are best done."""

    @abstractmethod
    def run(self, task: str, data: Any) -> dict[str, Any]:
        """The result of one task, as JSON has it."""

    @abstractmethod
    def summarize(self, results: Mapping[str, dict[str, Any]], data: Any) -> Summary:
        """Tables, figures and findings from the results by task."""


def hash_files(paths: Iterable[Path]) -> str:
    """A fingerprint of the content of files, in their order, wherever they lie."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
