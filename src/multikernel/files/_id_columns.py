"""The column of sample ids of every table: found by its name and its values, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from ._encode import label_of, looks_like_dates, mostly_numbers
from ._errors import listing
from ._table import Table, need_pandas
from ._types import DataFrame, Series

ID_NAME = re.compile(
    r"|unnamed: 0|__index_level_0__|index|row|rownames?|ids?|uid|key|barcode|"
    r"(sample|subject|patient|participant|case|cell|tumou?r|specimen)s?"
    r"([ _.-]?(id|name|no|nr|number|code|barcode)s?)?|.*[ _.-]ids?",
    re.IGNORECASE,
)
_NAMELESS = ("", "unnamed: 0", "__index_level_0__")
_MOSTLY = 0.9  # share of different values from which a column of text is taken for ids
_MOST_NUMBERS = 20  # columns of different whole numbers beyond which none of them holds ids
_FEWEST = 10  # samples from which text without repetitions is no accident
_SHARED = 0.5  # share of values from which two columns are about the same samples


@dataclass(frozen=True)
class Candidate:
    """A column that may hold the ids of a table.

    Parameters
    ----------
    column : str
    labels : frozenset of str
        Its values, without outer spaces and in lower case.
    named, text, first : bool
        Whether it is called like ids, holds text, and is the first column.
    counts_rows : bool
        Whether it has no name and counts the rows, as programs write it unasked.
    unique : bool
        Whether no two rows share a value, or hardly any.
    """

    column: str
    labels: frozenset[str] = frozenset()
    named: bool = False
    text: bool = False
    first: bool = False
    counts_rows: bool = False
    unique: bool = False

    @property
    def name(self) -> str:
        """What tables must share to share a column."""
        return _name(self.column)

    def shares(self, labels: Collection[str]) -> bool:
        """Whether it is about the samples of these labels."""
        return len(self.labels & set(labels)) >= _SHARED * min(len(self.labels), len(labels) or 1)


@dataclass
class Choice:
    """The id column of every table by its position, and what may be one but is not certain."""

    columns: dict[int, Candidate] = field(default_factory=dict)
    doubts: dict[int, str] = field(default_factory=dict)


def choose_id_columns(
    tables: Sequence[Table], dropped: Mapping[Path, Sequence[str]] | None = None
) -> Choice:
    """The columns of ids: those that tables share by name or by values, or that look like it.

    Parameters
    ----------
    tables : sequence of Table
    dropped : mapping from Path to patterns of columns, optional
        What nobody wants, and so is no id.
    """
    pool = {
        k: _candidates(table, (dropped or {}).get(table.path, ()))
        for k, table in enumerate(tables)
        if table.ids is None and table.named_columns and table.frame.shape[1] > 1
    }
    known = {label.strip().lower() for table in tables for label in table.ids or ()}
    choice = Choice()
    while found := _by_values(pool, choice, known) or _by_name(pool, choice):
        choice.columns |= found
        known |= {label for candidate in found.values() for label in candidate.labels}
    for k in [k for k in pool if k not in choice.columns]:
        if likely := _best_alone(pool[k], single=len(tables) == 1):
            choice.columns[k] = likely
            known |= likely.labels
    choice.columns |= _by_values(pool, choice, known)
    for k in [k for k in pool if k not in choice.columns]:
        _judge(k, pool, choice, known, tables)
    return choice


def is_nameless(column: str) -> bool:
    """Whether a column has no name in its file."""
    return column.strip().lower() in _NAMELESS


def _is_named(column: str) -> bool:
    return ID_NAME.fullmatch(column.strip()) is not None


def _name(column: str) -> str:
    return "" if is_nameless(column) else column.strip().lower()


def _candidates(table: Table, dropped: Sequence[str]) -> list[Candidate]:
    frame = table.frame
    rows = frame.notna().any(axis=1).to_numpy()
    wanted = [c for c in frame.columns if not any(fnmatchcase(c, pattern) for pattern in dropped)]
    first = frame.columns[0]
    numeric = need_pandas().api.types.is_numeric_dtype
    plain = {c for c, dtype in frame.dtypes.items() if numeric(dtype) and c != first}
    plain -= {c for c in plain if _is_named(c)}
    counting = _whole_and_different(frame[[c for c in wanted if c in plain]][rows])
    made = [
        _candidate(frame[column], rows, first=column == first)
        for column in wanted
        if column not in plain or column in counting
    ]
    return [candidate for candidate in made if candidate is not None]


def _whole_and_different(numbers: DataFrame) -> set[str]:
    """The columns of whole numbers without repetitions; none where many are: these are no ids."""
    if not len(numbers):
        return set()
    numbers = numbers.loc[:, _is_whole(numbers.iloc[0])]
    numbers = numbers.loc[:, _is_whole(numbers).all(axis=0)]
    values = np.sort(numbers.to_numpy(dtype=float), axis=0)
    able = np.all(np.diff(values, axis=0) > 0, axis=0)
    found = {str(column) for column in numbers.columns[able]}
    return found if len(found) <= _MOST_NUMBERS else set()


def _candidate(values: Series, rows: np.ndarray, first: bool) -> Candidate | None:
    """A column as a candidate; None where it cannot hold ids."""
    types = need_pandas().api.types
    column = str(values.name)
    named = _is_named(column)
    if rows.any() and not rows.all():
        values = values[rows]
    text = not types.is_numeric_dtype(values)
    if types.is_datetime64_any_dtype(values) or values.dtype == bool or not len(values):
        return None
    if not text and not _whole(values) and not (named and first):
        return None
    different = values.nunique() / len(values)
    unique = bool(different >= _MOSTLY if text else different == 1) and not values.isna().any()
    if not named and not unique:
        return None
    if text and not named and not first and (mostly_numbers(values) or looks_like_dates(values)):
        return None
    labels = frozenset(label_of(value).strip().lower() for value in values)
    counts = is_nameless(column) and first and not text and _counts(values)
    return Candidate(column, labels, named, text, first, counts, unique or (named and first))


def _whole(values: Series) -> bool:
    known = values.dropna()
    return len(known) > 0 and bool(_is_whole(known).all())


def _is_whole(values: DataFrame | Series) -> np.ndarray:
    numbers = np.asarray(values, dtype=float)
    return np.asarray(np.isfinite(numbers) & (numbers == np.floor(numbers)))


def _counts(values: Series) -> bool:
    numbers = np.asarray(values, dtype=float)
    return bool(numbers[0] in (0, 1) and np.all(np.diff(numbers) == 1))


def _by_values(
    pool: Mapping[int, list[Candidate]], choice: Choice, known: set[str]
) -> dict[int, Candidate]:
    """Columns with the ids of other tables, or under the name that ids have there."""
    names = {candidate.name for candidate in choice.columns.values()}
    found = {}
    for k, candidates in pool.items():
        likely = [
            c
            for c in candidates
            if (c.name in names and not (c.counts_rows and not c.shares(known)))
            or (c.unique and (c.text or c.named) and not c.counts_rows and c.shares(known))
        ]
        if k not in choice.columns and likely:
            best = max(likely, key=lambda c: (c.shares(known), c.name in names, c.named, c.first))
            found[k] = best
    return found


def _by_name(pool: Mapping[int, list[Candidate]], choice: Choice) -> dict[int, Candidate]:
    """The name of ids that tables without any share, by the best of all names."""
    groups: dict[str, dict[int, Candidate]] = {}
    for k, candidates in pool.items():
        for candidate in candidates:
            if k not in choice.columns and candidate.unique and not candidate.counts_rows:
                groups.setdefault(candidate.name, {})[k] = candidate
    ranked = {name: _rank(list(group.values())) for name, group in groups.items()}
    best = max(ranked, key=lambda name: ranked[name] or (), default=None)
    return groups[best] if best is not None and ranked[best] else {}


def _rank(group: list[Candidate]) -> tuple[float, ...] | None:
    """How good a shared name is for ids; None where it is none."""
    if len(group) < 2:
        return None
    shared = all(any(c.shares(o.labels) for o in group if o is not c) for c in group)
    named, text, firsts = (
        all(getattr(c, what) for c in group) for what in ("named", "text", "first")
    )
    if not (named or text or firsts or shared):
        return None
    return shared, named, len(group), text, firsts


def _best_alone(candidates: list[Candidate], single: bool) -> Candidate | None:
    """A column that looks like ids though no other table has them."""
    able = [c for c in candidates if c.unique and (single or not c.counts_rows)]
    enough = [c for c in able if c.text and (single or len(c.labels) >= _FEWEST)]
    firsts = [c for c in able if c.first and (c.named or c in enough)]
    return next(iter(firsts or [c for c in able if c.named]), None)


def _judge(
    k: int,
    pool: Mapping[int, list[Candidate]],
    choice: Choice,
    known: set[str],
    tables: Sequence[Table],
) -> None:
    """A column under the name of other ids, or the only one of text, or a doubt."""
    names = {candidate.name for candidate in choice.columns.values()} - {""}
    same = [column for column in tables[k].frame.columns if _name(column) in names]
    able = [c for c in pool[k] if c.unique and not c.counts_rows]
    texts = [c for c in able if c.text]
    alike = [c for c in able if not c.named and not c.text and _overlaps(k, c, pool, known)]
    if same:  # with repetitions, which a check will find
        choice.columns[k] = Candidate(same[0])
    elif len(sure := [c for c in texts if len(tables) == 1 or _overlaps(k, c, pool, known)]) == 1:
        choice.columns[k] = sure[0]
    elif doubtful := texts or alike or [c for c in pool[k] if c.counts_rows and c.shares(known)]:
        choice.doubts[k] = _doubt(tables[k], doubtful, choice)


def _overlaps(
    k: int, candidate: Candidate, pool: Mapping[int, list[Candidate]], known: set[str]
) -> bool:
    """Whether whole numbers are those of ids elsewhere, or of other whole numbers."""
    if known and candidate.shares(known):
        return True
    others = [c for j, cs in pool.items() if j != k for c in cs if c.unique and not c.counts_rows]
    return any(candidate.shares(c.labels) for c in others)


def _doubt(table: Table, doubtful: list[Candidate], choice: Choice) -> str:
    shown = listing(
        (
            "its column without a name" if is_nameless(c.column) else repr(c.column)
            for c in doubtful
        ),
        3,
    )
    theirs = next((c.column for c in choice.columns.values() if not is_nameless(c.column)), "id")
    return (
        f"{table.name}: {shown} may hold sample ids, but that is not certain, and to join its rows "
        f"by position could mix up samples; rename the column of ids to {theirs!r}, or leave that "
        "column out if it holds none (ids = 'none' joins all files by position)."
    )
