"""Sample ids: found wherever they stand; rows are never joined by position without a word."""

import numpy as np
import pandas as pd
import pytest

from multikernel import check_sources, read_sources
from multikernel.files import InputError

N = 30
IDS = [f"P{i:02}" for i in range(N)]
ORDER = np.random.default_rng(1).permutation(N)


@pytest.fixture
def tables():
    """Two tables whose ids stand last, in different orders; v1 is g1 of the same sample."""
    values = np.random.default_rng(0).normal(size=N)
    a = pd.DataFrame({"g1": values, "g2": values**2, "sample": IDS})
    b = pd.DataFrame({"v1": values[ORDER], "v2": 0.5, "sample": [IDS[i] for i in ORDER]})
    return a, b


def read(folder, a, b, **options):
    index = options.pop("index", False)
    a.to_csv(folder / "a.csv", index=index)
    b.to_csv(folder / "b.csv", index=index)
    return read_sources(folder, **options)


def assert_joined(data):
    """Every sample has its own values in both sources."""
    a, b = data.tables["a"], data.tables["b"]
    np.testing.assert_allclose(b.loc[a.index, "v1"], a["g1"])
    assert data.warnings == []


def numbered(table, name="sample"):
    """The same ids as whole numbers."""
    return table.assign(sample=table["sample"].str[1:].astype(int) + 100).rename(
        columns={"sample": name}
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda a, b: (a, b),
        lambda a, b: (a[["sample", "g1", "g2"]], b),
        lambda a, b: (a.rename(columns={"sample": "Sample "}), b),
        lambda a, b: (a.rename(columns={"sample": "kode"}), b.rename(columns={"sample": "wer"})),
        lambda a, b: (a.rename(columns={"sample": "kode"}), b),
        lambda a, b: (numbered(a), numbered(b)),
        lambda a, b: (numbered(a, "who"), numbered(b, "who")),
        lambda a, b: (numbered(a, "patient"), numbered(b, "subject")),
    ],
    ids=["last", "first", "spelling", "texts", "one text", "numbers", "who", "names"],
)
def test_ids_are_found_wherever_they_stand(tmp_path, tables, change):
    data = read(tmp_path, *change(*tables))
    assert_joined(data)
    assert "sample ids in a.csv" in data.notes[0]


def test_row_numbers_that_a_program_wrote_are_no_ids(tmp_path, tables):
    data = read(tmp_path, *tables, index=True)
    assert_joined(data)
    assert list(data.tables["a"].columns) == ["g1", "g2"]
    assert "a.csv: the first column has no name and numbers rows; not used." in data.notes


def test_row_numbers_alone_are_a_join_by_position_that_is_said(tmp_path, tables):
    a, b = (table.drop(columns="sample") for table in tables)
    (warning,) = read(tmp_path, a, b, index=True).warnings
    assert "No id column in a.csv, b.csv: rows are joined by position" in warning
    with pytest.raises(InputError, match=r"numbers of rows differ \(a.csv: 30, b.csv: 20\)"):
        read(tmp_path, a, b[:20], index=True)


def test_row_names_that_do_not_count_are_ids(tmp_path, tables):
    a, b = (table.drop(columns="sample") for table in tables)
    assert_joined(read(tmp_path, a, b.set_axis(ORDER), index=True))


def test_of_two_columns_of_ids_the_same_is_taken_in_all_files(tmp_path, tables):
    a, b = tables
    a, b = (t.assign(barcode=t["sample"].str[1:].astype(int) + 7) for t in (a, b))
    data = read(tmp_path, a[["sample", "barcode", "g1"]], b[["barcode", "v1", "sample"]])
    assert_joined(data)


def test_ids_with_repetitions_are_ids_for_the_check_to_find(tmp_path, tables):
    a, b = tables
    data = read(tmp_path, a, pd.concat([b, b]))
    assert data.tables["b"].index.duplicated().sum() == N
    assert not check_sources(data).ok


@pytest.mark.parametrize(
    ("change", "column"),
    [
        (lambda a, b: (numbered(a, "who"), numbered(b, "wer")), "'who'"),
        (
            lambda a, b: (
                a,
                b.assign(sample=[f"c{i}" for i in range(N)]).rename(columns={"sample": "comment"}),
            ),
            "'comment'",
        ),
        (
            lambda a, b: (
                a,
                b.assign(
                    sample=[f"c{i}" for i in range(N)], more=[f"d{i}" for i in range(N)]
                ).rename(columns={"sample": "text"}),
            ),
            "'text', 'more'",
        ),
        (lambda a, b: (numbered(a), numbered(b, "wer")), "'wer'"),
    ],
)
def test_what_may_be_ids_is_not_joined_by_position(tmp_path, tables, change, column):
    with pytest.raises(InputError, match=f"{column} may hold sample ids, but that is not certain"):
        read(tmp_path, *change(*tables))


def test_no_ids_can_be_said_and_is_a_warning(tmp_path, tables):
    a, b = tables
    data = read(tmp_path, numbered(a, "who"), numbered(b, "wer"), ids="none")
    assert "who" in data.tables["a"]
    assert "rows are joined by position" in data.warnings[0]
    found = check_sources(data).findings
    assert ("warning", data.warnings[0]) in [(f.severity, f.sentence) for f in found]


def test_a_column_that_is_left_out_is_no_doubt(tmp_path, tables):
    a, b = tables
    b = b.assign(sample=[f"c{i}" for i in range(N)]).rename(columns={"sample": "comment"})
    text = "[sources.a]\nfile = 'a.csv'\n[sources.b]\nfile = 'b.csv'\ndrop = ['comment']\n"
    (tmp_path / "study.toml").write_text(text)
    a.to_csv(tmp_path / "a.csv", index=False)
    b.to_csv(tmp_path / "b.csv", index=False)
    data = read_sources(tmp_path / "study.toml")
    assert "b.csv has no sample ids: its rows are joined by position" in data.warnings[0]


def test_numbers_and_dates_as_text_are_no_ids(tmp_path, tables):
    a, b = tables
    slips = [str(i) for i in range(N - 1)] + ["<5"]
    with pytest.raises(InputError, match="cannot be read as numbers"):
        read(tmp_path, a, b.assign(slip=slips)[["v1", "slip", "sample"]])
    days = [f"2001-02-{i % 28 + 1:02}" for i in range(N)]
    with pytest.raises(InputError, match="column 'day' holds dates"):
        read(tmp_path, a, b.assign(day=days)[["v1", "day", "sample"]])


def test_numbers_of_rows_that_were_left_out_are_no_feature(tmp_path, tables):
    a, b = tables
    data = read(tmp_path, a[a["g1"] > -9].iloc[[0, 2, 3, 7, 9, 11]], b, index=True)
    assert list(data.tables["a"].columns) == ["g1", "g2"]


def test_text_of_few_samples_is_not_taken_for_ids(tmp_path):
    a = pd.DataFrame({"sample": ["P1", "P2"], "g": [0.1, 0.2]})
    b = pd.DataFrame({"sex": ["f", "m"], "age": [50.5, 60.5]})
    with pytest.raises(InputError, match=r"b.csv: 'sex' may hold sample ids"):
        read(tmp_path, a, b)
    data = read(tmp_path, a, b, levels={"a": {}, "b": {"sex": ["f", "m"]}})  # a feature at the fit
    assert data.tables["b"].loc["P2"].tolist() == [1, 60.5]
    assert "b.csv has no sample ids: its rows are joined by position" in data.warnings[0]
