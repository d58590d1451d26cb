"""Every format gives the same table; damaged and hostile files give one sentence."""

import pickle
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_matrix, random_array, save_npz

from multikernel import check_sources, read_sources
from multikernel.files import InputError, _table, formats

X = np.array([[0.5, 1.0], [2.0, -3.0], [0.0, 7.5], [1.0, 1.5]])
IDS = ["a", "b", "c", "d"]
TABLE = pd.DataFrame(X, columns=["g1", "g2"])
LABELLED = TABLE.assign(sample=IDS)[["sample", "g1", "g2"]]


def write_csv(path, sep=",", **options):
    LABELLED.to_csv(path, index=False, sep=sep, **options)


WRITERS = {
    "x.csv": write_csv,
    "x.tsv": lambda path: write_csv(path, "\t"),
    "x.parquet": lambda path: pl.DataFrame(LABELLED.to_dict("list")).write_parquet(path),
    "x.npz": lambda path: np.savez(path, ids=np.array(IDS), X=X),
    "x.mat": lambda path: savemat(path, {"X": X, "ids": np.array(IDS, dtype=object)}),
    "y.csv": lambda path: write_csv(path, ";", decimal=","),
    "bom.csv": lambda path: write_csv(path, encoding="utf-8-sig"),
    "utf16.csv": lambda path: write_csv(path, encoding="utf-16"),
    "bars.csv": lambda path: write_csv(path, "|"),
}
WITHOUT_IDS = {
    "x.npy": lambda path: np.save(path, X),
    "x.npz": lambda path: np.savez(path, X),
    "s.npz": lambda path: save_npz(path, csr_matrix(X)),
    "x.mtx": lambda path: mmwrite(path, csr_matrix(X)),
    "x.mat": lambda path: savemat(path, {"X": csr_matrix(X)}),
    "spaces.csv": lambda path: TABLE.to_csv(path, index=False, sep=" "),
    "headless.csv": lambda path: TABLE.to_csv(path, index=False, header=False),
}


def only_table(path):
    (table,) = read_sources(path).tables.values()
    return table


@pytest.mark.parametrize("name", WRITERS)
def test_formats_with_ids(tmp_path, name):
    WRITERS[name](tmp_path / name)
    table = only_table(tmp_path)
    assert list(table.index) == IDS
    np.testing.assert_array_equal(table.to_numpy(), X)


@pytest.mark.parametrize("name", WITHOUT_IDS)
def test_formats_without_ids_are_numbered_and_it_is_said(tmp_path, name):
    WITHOUT_IDS[name](tmp_path / name)
    data = read_sources(tmp_path / name)
    (table,) = data.tables.values()
    assert list(table.index) == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(table.to_numpy(), X)
    assert any("numbered from 1" in note for note in data.notes)


def test_row_names_as_r_writes_them(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text('"g1","g2"\n"007",1,2\n"010",3,4\n')
    table = only_table(path)
    assert list(table.index) == ["007", "010"]
    assert list(table.columns) == ["g1", "g2"]


@pytest.mark.parametrize(
    ("first", "n_samples"),
    [
        ("P1,0.1,0.2", 3),  # a sample
        ("P1,7,3", 3),
        (",0.1,0.2", 2),  # widths, say, under a nameless column of ids
        ("id,7,3", 2),
        ("who,1990,1991", 2),  # years
        ("who,P2,P3", 2),
        ("1,2,3", 2),
        ("0,1,2", 2),
        ("5,2,3", 3),
        ("0.1,0.2,0.3", 3),
    ],
)
def test_a_first_row_of_values_is_a_sample(tmp_path, first, n_samples):
    (tmp_path / "x.csv").write_text(f"{first}\nP2,0.5,1\nP3,3,0.1\n")
    assert len(only_table(tmp_path / "x.csv")) == n_samples


def test_decimal_commas_in_a_first_row_of_values(tmp_path):
    (tmp_path / "x.csv").write_text("1,5;2,5\n0,5;1\n")
    np.testing.assert_array_equal(only_table(tmp_path / "x.csv"), [[1.5, 2.5], [0.5, 1.0]])


def test_line_ends_and_marks_inside_of_fields(tmp_path):
    text = 'id,"a, b",c\r\np,1,"x\u2028;y"\r\nq,2,"z\nz"\r\n'
    (tmp_path / "x.csv").write_bytes(text.encode())
    table = only_table(tmp_path / "x.csv")
    assert table.columns[0] == "a, b"
    assert list(table.index) == ["p", "q"]


def test_ids_keep_zeros_spaces_and_words_that_mean_missing(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("sample,g\n001,1\n01 ,2\nNA,3\n")
    assert list(only_table(path).index) == ["001", "01 ", "NA"]


def test_a_wide_sparse_file_stays_sparse(tmp_path, monkeypatch):
    monkeypatch.setattr(_table, "WIDEST_DENSE", 1000)
    wide = random_array((30, 200), density=0.05, rng=np.random.default_rng(0), format="csr")
    save_npz(tmp_path / "wide.npz", wide)
    data = read_sources(tmp_path)
    np.testing.assert_allclose(data.tables["wide"].sparse.to_coo().toarray(), wide.toarray())
    n_empty = int((wide.toarray() == 0).all(axis=0).sum())
    assert f"{n_empty} columns without variation" in " ".join(data.notes)
    assert check_sources(data).ok


def test_columns_of_a_pandas_index_in_parquet_are_ids(tmp_path):
    columns = {"g1": X[:, 0], "__index_level_0__": IDS, "g2": X[:, 1]}
    pl.DataFrame(columns)[["__index_level_0__", "g1", "g2"]].write_parquet(tmp_path / "x.parquet")
    assert list(only_table(tmp_path).index) == IDS


class Hidden:
    """Makes packages look absent to find_spec of the formats."""

    def __init__(self, monkeypatch, *names):
        find = formats.find_spec
        monkeypatch.setattr(formats, "find_spec", lambda n: None if n in names else find(n))


def test_parquet_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    WRITERS["x.parquet"](tmp_path / "x.parquet")
    Hidden(monkeypatch, "polars", "pyarrow")
    with pytest.raises(ImportError, match=r"x\.parquet: reading Parquet needs polars or pyarrow"):
        read_sources(tmp_path)


@pytest.mark.parametrize(("version", "safe"), [("13.0.0", False), ("16.1.0", True)])
def test_parquet_by_pyarrow_only_where_it_is_safe(tmp_path, monkeypatch, version, safe):
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "polars" else name)
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(__version__=version))
    monkeypatch.setattr(pd, "read_parquet", lambda path, engine: LABELLED.set_index("sample"))
    if safe:
        np.testing.assert_array_equal(only_table(tmp_path).to_numpy(), X)
    else:
        with pytest.raises(ImportError, match=r"install pyarrow>=14\.0\.1 or polars"):
            read_sources(tmp_path)


# ---- hostile and damaged files -----------------------------------------------------------------


class Bomb:
    """Pickled, it would leave a file behind when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def damaged_npz(path):
    np.savez(path, X=np.ones((50, 3)))
    path.write_bytes(path.read_bytes()[:300])


def giant_npy(path):
    with path.open("wb") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(b"\0" * 64)


def giant_member(path):
    giant_npy(path.with_suffix(".tmp"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(path.with_suffix(".tmp"), "X.npy")
    path.with_suffix(".tmp").unlink()


def wild_indices(path):
    np.savez(
        path, format=b"csr", shape=(3, 3), data=np.ones(3), indices=np.array([0, -(10**6), 2]),
        indptr=np.array([0, 1, 2, 3]),
    )  # fmt: skip


def matlab_73(path):
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n")


def object_npz(path):
    np.savez(path, X=np.array([{"a": 1}, None], dtype=object))


def text_of(text, encoding="utf-8"):
    return lambda path: path.write_bytes(text.encode(encoding))


HOSTILE = {
    "empty.csv": (text_of(""), "empty.csv is empty"),
    "blank.csv": (text_of("\n\n  \n"), "blank.csv is empty"),
    "header.csv": (text_of("a,b\n"), "header.csv has a header but no rows"),
    "ragged.csv": (text_of("a,b\n1,2\n1,2,3,4\n"), r"ragged.csv is not a regular table \(.*line 3"),
    "wider.csv": (text_of("a,b\n1,2,3,4\n5,6,7,8\n"), "wider.csv is not a regular table"),
    "latin.csv": (
        text_of("id,é\na,1\n", "latin-1"),
        "latin.csv, line 1: byte 0xe9 is not UTF-8 text; save the file again",
    ),
    "binary.csv": (lambda path: path.write_bytes(b"a,b\n\0\0,1"), "binary.csv holds binary data"),
    "sheet.csv": (text_of("id,g\n,\n,\n"), "sheet.csv holds empty rows only"),
    "noid.csv": (text_of("id,g\na,1\n,2\nc,3\n"), "noid.csv: row 2 has no sample id"),
    "objects.npy": (
        lambda path: np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True),
        "objects.npy holds Python objects, which could run code and are never opened",
    ),
    "objects.npz": (object_npz, r"objects.npz:X.npy holds Python objects"),
    "text.npy": (text_of("not an array"), "text.npy is not an array of numpy"),
    "giant.npy": (giant_npy, "giant.npy claims shape .* but holds .* damaged"),
    "giant.npz": (giant_member, "giant.npz:X.npy claims shape"),
    "cut.npz": (damaged_npz, "cut.npz cannot be read as .npz"),
    "wild.npz": (wild_indices, "wild.npz cannot be read as .npz"),
    "cube.npy": (lambda path: np.save(path, np.ones((3, 3, 2))), r"cube.npy has shape \(3, 3, 2\)"),
    "complex.npy": (lambda path: np.save(path, np.ones((3, 2)) * 1j), "complex.npy holds values"),
    "none.npy": (lambda path: np.save(path, np.ones((0, 2))), "none.npy is empty"),
    "new.mat": (matlab_73, "new.mat is a MATLAB file of version 7.3.*save.*'-v7'"),
    "cut.mat": (text_of("MATLAB 5.0 MAT-file and nothing"), "cut.mat cannot be read as .mat"),
    "cell.mat": (
        lambda path: savemat(path, {"c": np.array([[1], "x"], dtype=object)}),
        "cell.mat holds no table of numbers",
    ),
    "cut.mtx": (text_of("%%MatrixMarket matrix coordinate real"), "cut.mtx cannot be read"),
    "cut.parquet": (text_of("PAR1"), "cut.parquet cannot be read as Parquet"),
    "ids.npz": (lambda path: np.savez(path, ids=np.array(IDS), X=X[:3]), "3 rows, .* 4 ids"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_damaged_files_give_one_sentence(tmp_path, name):
    write, message = HOSTILE[name]
    write(tmp_path / name)
    with pytest.raises(InputError, match=message) as caught:
        read_sources(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mat", "x.csv", "x.parquet", "x.mtx"])
def test_no_file_runs_code(tmp_path, name):
    trace = tmp_path / "trace"
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(InputError):
        read_sources(tmp_path / name)
    np.save(tmp_path / "y.npy", np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="Python objects"):
        read_sources(tmp_path / "y.npy")
    assert not trace.exists()


def test_pickles_and_other_files_of_a_folder_are_left_alone_and_named(tmp_path):
    write_csv(tmp_path / "x.csv")
    for name in ("m.pkl", "book.xlsx", ".hidden.csv", "README.md", "study.toml"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    (tmp_path / "old").mkdir()
    data = read_sources(tmp_path)
    notes = " ".join(data.notes)
    assert list(data.tables) == ["x"]
    assert "m.pkl was not read: pickles can run code" in notes
    assert "book.xlsx was not read" in notes
    assert "CSV UTF-8" in notes
    assert "old/ is a folder" in notes
    assert "study.toml was not read" in notes
    assert "hidden" not in notes
    assert not (tmp_path / "trace").exists()
