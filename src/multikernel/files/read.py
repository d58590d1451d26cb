"""read_sources: from files on disk to tables by sample id."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._columns import as_written, choose_columns, known_columns, stack
from ._encode import Encoding
from ._errors import InputError, count, did_you_mean, listing
from ._ids import find_ids, match_by_position
from ._parts import parts_warnings
from ._prefixes import cut_as_known, cut_by_prefix
from ._square import as_square, guess_kind
from ._table import Table, need_pandas
from ._types import DataFrame
from .config import plan_of_toml
from .dataset import Dataset, Kind, Task
from .formats import read_file
from .levels import Levels
from .plan import Plan, Source, as_tuple, choose_files, find_file, plan_of_file, plan_of_folder
from .target import as_labels, as_target, default_target, file_of, take_columns


def read_sources(
    path: str | os.PathLike[str],
    *,
    target: str | Sequence[str] | None = None,
    ids: str | None = None,
    sources: Mapping[str, Any] | Sequence[str] | None = None,
    groups: str | Sequence[str] | None = None,
    task: Task | None = None,
    levels: Levels | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Dataset:
    """Read a folder of tables, one table, or what a TOML file describes.

    Parameters
    ----------
    path : str or path
        A folder, in which each file is a source named after it; one file, whose columns are
        named ``source_feature`` or whose arrays are sources; or a TOML file.
    target : str or list of str, optional
        ``"file:column"``, a file with one column, or a column that one file has. By default the
        column ``target``, if one file has it. Columns of a list are stacked.
    ids : str, optional
        The column of sample ids. By default the column that files share by its name or by its
        values, or that looks like ids; where that is not certain, it is refused. "none" joins the
        rows of all tables by position.
    sources : list of str, or mapping from str to str or list of str, optional
        The sources to keep; or the files of each source of a folder, or the columns of each source
        of one table, both by name or pattern (``"rna_*"``).
    groups : str or list of str, optional
        What must not be split between training and test, as for ``target``.
    task : {"classification", "regression"}, optional
        By default told from the target.
    levels : mapping from str to mapping from str to list of str, optional
        For new samples of a fitted model: the levels that columns of text had at the fit, by
        source and column, which is ``Dataset.levels``. The columns are then those of the fit, a
        level that it did not know is said, and a target is not needed and not read.
    columns : mapping from str to list of str, optional
        With ``levels``: the columns of ``Dataset.tables`` at the fit, by source. Others, whatever
        they hold, are said and not read.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        A ValueError in one sentence: what is wrong, where, what was expected and what to do.

    See Also
    --------
    check_sources : Says what to know before a fit.

    Notes
    -----
    CSV, TSV, Parquet, npy, npz, MATLAB (to version 7) and Matrix Market files are read. None of
    them can run code: pickled arrays are refused.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from multikernel.files import read_sources
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rna.csv").write_text("sample,g1,g2\\na,0.1,2\\nb,0.3,1\\nc,0.2,5\\n")
    >>> _ = (folder / "clinic.csv").write_text("sample,age,target\\nb,60,ill\\na,51,well\\n")
    >>> data = read_sources(folder)
    >>> data
    Dataset(classification of target; clinic: 2 × 1, rna: 3 × 2)
    >>> data.y.to_dict()
    {'b': 'ill', 'a': 'well'}
    """
    need_pandas()
    plan = _make_plan(Path(path), sources)
    plan = replace(
        plan,
        target=as_tuple(target) or plan.target,
        groups=as_tuple(groups) or plan.groups,
        ids=plan.ids if ids is None else ids,
        task=_check_task(task) or plan.task,
    )
    return _Reading(plan, levels, columns).dataset(Path(path))


def _make_plan(path: Path, sources: Mapping[str, Any] | Sequence[str] | None) -> Plan:
    cut = sources if isinstance(sources, Mapping) else None
    if path.is_dir():
        plan = plan_of_folder(path)
        plan = plan if cut is None else choose_files(plan, cut)
    elif not path.exists():
        raise InputError(f"There is no file or folder {path}.")
    elif path.suffix.lower() == ".toml":
        if cut is not None:
            raise InputError(f"{path.name} describes its sources itself; name those to keep.")
        plan = plan_of_toml(path)
    else:
        plan = plan_of_file(path, cut)
    if sources is None or cut is not None:
        return plan
    return replace(plan, only=as_tuple(sources))  # type: ignore[arg-type]


def _check_task(task: Task | None) -> Task | None:
    if task not in (None, "classification", "regression"):
        raise InputError(f"task must be 'classification' or 'regression', got {task!r}.")
    return task


class _Reading:
    """One reading: the tables of all files, and the notes that gather on the way."""

    def __init__(
        self,
        plan: Plan,
        levels: Levels | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.plan = plan
        self.known, self.known_columns = levels, columns or {}
        self.levels: dict[str, dict[str, list[str]]] = {}
        self.notes = list(plan.notes)
        self.warnings: list[str] = []
        self.aliases = {source.name: source.files for source in plan.sources or ()}
        self.aliases |= self._files_of_references()
        files = dict.fromkeys([*plan.files, *(f for fs in self.aliases.values() for f in fs)])
        self.tables = [table for file in files for table in read_file(file)]
        self.files = {_short_name(file, plan.folder): file for file in files}
        self._warn(*(sentence for table in self.tables for sentence in table.warnings))

    def dataset(self, path: Path) -> Dataset:
        """Everything in its place."""
        plan = self.plan
        with plan.at("id"):
            self.notes += find_ids(self.tables, plan.ids, self._dropped())
        target, groups = self._target_and_groups() if self.known is None else self._set_aside()
        sources = self._sources()
        blocks = {source.name: self._block(source) for source in sources}
        extra = [table for table in (target, groups) if table is not None]
        notes, joined = match_by_position([*blocks.values(), *extra])
        self.notes += notes
        self.warnings += notes if joined else []
        y, task = None, None
        if target is not None:
            with plan.at("target"):
                y, task, notes = as_target(target, plan.task)
            self.notes += notes
        labels = None
        if groups is not None:
            labels, notes = as_labels(groups, "group")
            labels, self.notes = labels.astype(str), self.notes + notes
        tables, kinds = {}, {}
        for source in sources:
            try:
                with plan.at("sources", source.name):
                    table, kinds[source.name] = self._encoded(blocks[source.name], source)
                    tables[source.name] = table
            except InputError as error:
                if self.known is None or source.name in self.known:
                    raise
                self.notes.append(f"{source.name} was not there at the fit and not read: {error}")
        files = dict(self.files)
        if path.suffix.lower() == ".toml":
            files = {path.name: path, **files}
        return Dataset(
            tables=tables,
            y=y,
            groups=labels,
            task=task,
            files=files,
            hashes={name: _sha256(file) for name, file in files.items()},
            notes=[*dict.fromkeys(note for t in self.tables for note in t.notes), *self.notes],
            warnings=self.warnings,
            kinds=kinds,
            kernels={s.name: list(s.kernels) for s in sources if s.kernels},
            levels=self.levels,
            options=dict(plan.options),
        )

    def _target_and_groups(self) -> tuple[Table | None, Table | None]:
        with self.plan.at("target"):
            target = self._take(self.plan.target or default_target(self.tables))
        with self.plan.at("groups"):
            return target, self._take(self.plan.groups)

    def _set_aside(self) -> tuple[None, None]:
        """Take target and groups out of the tables of new samples, which may have none."""
        references = [*self.plan.target, *self.plan.groups]
        with suppress(InputError):
            references += () if self.plan.target else default_target(self.tables)
        for reference in references:
            with suppress(InputError):
                take_columns(reference, self.tables, self.aliases)
        return None, None

    def _files_of_references(self) -> dict[str, tuple[Path, ...]]:
        """Files of the target and of groups that are not among those of the sources."""
        known = {name for f in self.plan.files for name in (f.name, f.stem)} | set(self.aliases)
        found: dict[str, tuple[Path, ...]] = {}
        for reference in (*self.plan.target, *self.plan.groups):
            name = file_of(reference)
            if name not in known and not (self.plan.alone and name == reference):
                try:
                    found[name] = (find_file(self.plan.folder, name),)
                except InputError:  # the name of a column, perhaps with a colon in it
                    continue
        return found

    def _dropped(self) -> dict[Path, tuple[str, ...]]:
        """Columns that hold no ids, by file: those left out, and text that a model knows."""
        sources = self.plan.sources or [Source(t.source_name, (t.path,)) for t in self.tables]
        texts = {
            name: tuple(map(_literal, columns)) for name, columns in (self.known or {}).items()
        }
        return {f: (*s.drop, *texts.get(s.name, ())) for s in sources for f in s.files}

    def _take(self, references: Sequence[str]) -> Table | None:
        """The columns that references name, one below the other."""
        parts = [t for r in references for t in take_columns(r, self.tables, self.aliases)]
        return stack(parts) if parts else None

    def _sources(self) -> list[Source]:
        """The sources of the plan, or one for every table with columns left."""
        plan = self.plan
        if plan.sources is not None:
            sources = list(plan.sources)
        else:
            left = [t for t in self.tables if t.frame.shape[1] and t.path in plan.files]
            one_file = len({table.path for table in left}) == 1
            sources = [
                Source((t.key if one_file else None) or t.source_name, (t.path,), key=t.key)
                for t in left
            ]
            if len(left) == 1:
                sources = self._split_by_prefix(left[0])
        names = [source.name for source in sources]
        for name in names:
            if names.count(name) > 1:
                both = listing(f.name for s in sources if s.name == name for f in s.files)
                raise InputError(
                    f"{both} would both be the source {name!r}; rename one of them, or name the "
                    "sources in a TOML file."
                )
        for name in plan.only:
            if name not in names:
                raise InputError(
                    f"There is no source {name!r}; there are: {listing(names)}"
                    f"{did_you_mean(name, names)}"
                )
        sources = [source for source in sources if not plan.only or source.name in plan.only]
        if not sources:
            raise InputError("No source is left beside the target; add a file with features.")
        if plan.sources is None:
            used = [file for source in sources for file in source.files]
            self._warn(*parts_warnings(plan.files, used))
        return sources

    def _warn(self, *sentences: str) -> None:
        self.notes += sentences
        self.warnings += sentences

    def _split_by_prefix(self, table: Table) -> list[Source]:
        """Sources from columns that are named ``source_feature``, or as they were at the fit."""
        columns = list(table.frame.columns)
        cut = cut_by_prefix(columns)
        if cut is None and table.source_name not in self.known_columns:
            cut = cut_as_known(columns, {name: self._known(name) for name in self.known_columns})
        if cut is None:
            self.notes.append(f"{table.name}: all columns are one source.")
            return [Source(table.source_name, (table.path,), key=table.key)]
        self.notes.append(
            f"{table.name}: the columns are {count(len(cut.sources), 'source')} by what stands "
            f"before {cut.separator!r} ({listing(cut.sources)})."
        )
        if cut.others:
            self._warn(f"{table.name}: {listing(cut.others, 3)} not used.")
        patterns = {name: f"{_literal(name + cut.separator)}*" for name in cut.sources}
        return [
            Source(name, (table.path,), key=table.key, columns=(pattern,))
            for name, pattern in patterns.items()
        ]

    def _known(self, source: str) -> dict[str, None]:
        """The columns that a model knows of a source, as files have them, in order."""
        texts = (self.known or {}).get(source, {})
        return dict.fromkeys([*texts, *self.known_columns.get(source, ())])

    def _block(self, source: Source) -> Table:
        """The columns of one source, of all of its files."""
        with self.plan.at("sources", source.name):
            return stack([self._part(source, file) for file in source.files])

    def _part(self, source: Source, file: Path) -> Table:
        tables = [table for table in self.tables if table.path == file]
        keys = [table.key for table in tables if table.key is not None]
        if source.key is not None and keys:
            tables = [table for table in tables if table.key == source.key]
        if len(tables) != 1:
            raise InputError(
                f"{file.name} holds the arrays {listing(keys)}; source {source.name!r} needs one "
                f"of them as its key{did_you_mean(source.key or '', keys) or '.'}"
            )
        table = tables[0]
        frame = self._as_at_the_fit(choose_columns(table, source), table, source)
        return Table(file, frame, table.key, table.ids, doubt=table.doubt)

    def _as_at_the_fit(self, frame: DataFrame, table: Table, source: Source) -> DataFrame:
        """Only columns that a model knows, and its columns of text as they are written."""
        if self.known is None:
            return frame
        texts = self.known.get(source.name, {})
        if source.name in self.known_columns:
            known = self._known(source.name)
            if others := [column for column in frame.columns if column not in known]:
                frame = known_columns(frame, known, table.name)
                self._warn(f"Source {source.name!r}: {listing(others, 3)} not used.")
        return as_written(frame, table, texts)

    def _encoded(self, table: Table, source: Source) -> tuple[DataFrame, Kind]:
        """The numbers of a source by sample id, and what they are."""
        pd = need_pandas()
        encoding = Encoding(table.name)
        if self.known is not None:
            own = self.known.get(source.name, {})
            encoding.where, encoding.levels = f"Source {source.name!r}", _as_lists(own)
        frame = encoding.encode(table.frame)
        self.notes += [*encoding.notes, *encoding.strange]
        self.warnings += encoding.strange
        self.levels[source.name] = encoding.levels
        frame.index = pd.Index(table.ids)
        kind: Kind = source.kind or ("features" if source.kernels else guess_kind(frame))
        if kind == "features":
            return frame, kind
        if source.kind is None:
            self.notes.append(
                f"{table.name} is a square matrix between samples: taken as a {kind} matrix. If it "
                "is not, say kind = 'features'."
            )
        return as_square(frame, table.name, kind), kind


def _as_lists(levels: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {column: list(known) for column, known in levels.items()}


def _literal(text: str) -> str:
    """Text as a pattern that matches only itself."""
    return "".join(f"[{c}]" if c in "[*?" else c for c in text)


def _short_name(file: Path, folder: Path) -> str:
    return os.fspath(file.relative_to(folder)) if file.is_relative_to(folder) else os.fspath(file)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
