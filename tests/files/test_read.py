"""read_sources: ids, target, task, columns, kinds and what is said about each."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBundle, PrecomputedKernels, ViewBundle, check_sources, read_sources
from multikernel.files import InputError

CLINICAL = "sample,age,site,target\nb,60,N,ill\na,51,S,well\nc,44,N,ill\nd,70,S,well\n"
RNA = "sample,g1,g2\na,0.1,2\nb,0.3,1\nc,0.2,5\nd,0.9,8\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "clinical.csv").write_text(CLINICAL)
    (tmp_path / "rna.csv").write_text(RNA)
    return tmp_path


def write(path, text):
    path.write_text(text)
    return path


def notes_of(data):
    return " ".join(data.notes)


def test_a_folder_with_a_column_called_target(folder):
    data = read_sources(folder, groups="site")
    assert list(data.tables) == ["clinical", "rna"]
    assert list(data.tables["clinical"].columns) == ["age"]
    assert data.y.to_dict() == {"b": "ill", "a": "well", "c": "ill", "d": "well"}
    assert data.y.name == "target"
    assert data.task == "classification"
    assert data.groups.to_dict() == {"b": "N", "a": "S", "c": "N", "d": "S"}
    assert data.tables["rna"].loc["c", "g2"] == 5
    assert data.hashes["rna.csv"] == hashlib.sha256(RNA.encode()).hexdigest()
    assert data.files["rna.csv"] == folder / "rna.csv"
    assert "holds 2 classes: classification" in notes_of(data)
    assert "sample ids in clinical.csv ('sample'), rna.csv ('sample')" in notes_of(data)


def test_aligned_samples_have_one_order_and_those_without_a_target_are_left_out(folder):
    (folder / "rna.csv").write_text(RNA + "e,1,1\n")
    (folder / "pet.csv").write_text("sample,v\nd,1\nc,2\n")
    X, y, groups = read_sources(folder, groups="clinical:site").align()
    assert isinstance(X, ViewBundle)
    assert sorted(X.ids) == ["a", "b", "c", "d"]
    assert list(y.index) == list(X.ids) == list(groups.index)
    assert y["a"] == "well"
    assert groups["a"] == "S"
    assert dict(zip(X.ids, X.has("pet"), strict=True)) == {
        "a": False, "b": False, "c": True, "d": True,
    }  # fmt: skip
    inner, y, _ = read_sources(folder).align(how="inner")
    assert sorted(inner.ids) == ["c", "d"]
    assert len(y) == 2


@pytest.mark.parametrize(
    ("target", "name"),
    [("labels", "grade"), ("labels.csv", "grade"), ("labels:grade", "grade"), ("grade", "grade")],
)
def test_ways_to_name_the_target(tmp_path, target, name):
    write(tmp_path / "rna.csv", RNA)
    write(tmp_path / "labels.csv", "sample,grade\na,x\nb,y\nc,x\nd,y\n")
    data = read_sources(tmp_path, target=target)
    assert list(data.tables) == ["rna"]
    assert data.y.name == name
    assert data.y["b"] == "y"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("clinical:tarpet", r"clinical.csv has no column 'tarpet'; .*did you mean 'target'\?"),
        ("clinic:target", r"There is no file 'clinic'.*did you mean 'clinical"),
        ("rna", r"rna.csv has 2 columns \(g1, g2\); say which one is meant: 'rna:g1'"),
        ("gg1", r"No file has a column 'gg1' \(looked in .*did you mean 'g1'\?"),
    ],
)
def test_a_target_that_is_not_there(folder, target, message):
    with pytest.raises(InputError, match=message):
        read_sources(folder, target=target)


def test_a_target_in_two_files(folder):
    (folder / "more.csv").write_text(CLINICAL)
    with pytest.raises(InputError, match=r"each have a column 'target'; .*clinical.csv:target"):
        read_sources(folder)
    with pytest.raises(InputError, match=r"Column 'age' is in clinical.csv, more.csv"):
        read_sources(folder, target="age")


@pytest.mark.parametrize(
    ("values", "task", "said"),
    [
        (["u", "v", "u", "v", "u", "v"], "classification", "2 classes"),
        ([0, 1, 0, 1, 0, 1], "classification", "2 values"),
        ([1, 2, 3, 1, 2, 3], "classification", "3 whole numbers"),
        ([1, 2, 3, 4, 5, 6], "regression", "6 different numbers"),
        ([1.5, 2, 3, 1.5, 2, 3], "regression", "3 different numbers"),
        ([True, False, True, True, False, True], "classification", "2 classes"),
    ],
)
def test_the_task_is_told_from_the_target(tmp_path, values, task, said):
    frame = pd.DataFrame({"id": list("abcdef"), "x": np.arange(6) / 7, "target": values})
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read_sources(tmp_path)
    assert data.task == task
    assert list(data.y) == values
    assert said in notes_of(data)


def test_a_task_that_does_not_fit_the_target(folder):
    with pytest.raises(InputError, match=r"'regression' needs numbers, .* holds text \('ill'\)"):
        read_sources(folder, task="regression")
    with pytest.raises(InputError, match="4 different values in 4 samples"):
        read_sources(folder, target="clinical:age", task="classification")
    with pytest.raises(InputError, match="task must be"):
        read_sources(folder, task="ranking")


def test_samples_without_a_target_are_left_out_of_it(folder):
    (folder / "clinical.csv").write_text(CLINICAL.replace("ill\na", "\na"))
    data = read_sources(folder)
    assert sorted(data.y.index) == ["a", "c", "d"]
    assert "1 sample without a target" in notes_of(data)


def test_a_target_twice_cannot_be_aligned(folder):
    (folder / "clinical.csv").write_text(CLINICAL + "a,51,S,well\n")
    with pytest.raises(InputError, match="The target holds sample 'a' twice"):
        read_sources(folder, sources=["rna"]).align()


# ---- ids ---------------------------------------------------------------------------------------


def test_whole_numbers_are_ids_where_files_share_the_name_of_their_first_column(tmp_path):
    write(tmp_path / "a.csv", "who,x\n7,1\n8,2\n9,4\n")
    write(tmp_path / "b.csv", "who,z\n9,1\n8,3\n7,2\n")
    data = read_sources(tmp_path)
    assert data.tables["b"].loc["9", "z"] == 1
    write(tmp_path / "b.csv", "other,z\n3.5,1.5\n8,3\n7,2\n")
    data = read_sources(tmp_path)
    assert list(data.tables["a"].columns) == ["who", "x"]
    assert data.warnings == [note for note in data.notes if "joined by position" in note] != []


def test_a_first_column_of_repeated_text_is_a_feature(tmp_path):
    write(tmp_path / "a.csv", "colour,x\nred,1\nblue,2\nred,4\nblue,5\n")
    data = read_sources(tmp_path)
    assert list(data.tables["a"].columns) == ["colour=red", "x"]
    assert "a.csv has no id column: rows are numbered from 1" in notes_of(data)
    assert data.warnings == []  # one file: there is nothing to join


def test_a_named_column_of_ids(tmp_path):
    path = write(tmp_path / "a.csv", "x,code\n1,k1\n2,k2\n")
    assert list(read_sources(path, ids="code").tables["a"].index) == ["k1", "k2"]
    with pytest.raises(InputError, match=r"a.csv has no column 'kode', .* did you mean 'code'\?"):
        read_sources(path, ids="kode")


def test_rows_without_ids_follow_the_files_that_have_as_many(folder):
    np.save(folder / "pet.npy", np.arange(8.0).reshape(4, 2))
    with pytest.raises(InputError, match=r"different orders \(row 1: 'b' and 'a'\)"):
        read_sources(folder)
    (folder / "clinical.csv").unlink()
    data = read_sources(folder)
    assert list(data.tables["pet"].index) == list("abcd")
    said = "pet.npy has no sample ids: its rows are joined by position, in the order of rna.csv."
    assert data.warnings == [said]
    assert said in notes_of(data)
    findings = [(f.severity, f.sentence) for f in check_sources(data).findings]
    assert findings.count(("warning", said)) == 1
    assert ("note", said) not in findings
    np.save(folder / "pet.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match=r"pet.npy has no sample ids and 3 rows.*rna.csv: 4"):
        read_sources(folder)


def test_rows_of_stacked_files_without_ids_are_said_by_all_of_their_names(tmp_path):
    for part, ids in {"train": "abc", "test": "de"}.items():
        rows = "".join(f"{label},{k}.5\n" for k, label in enumerate(ids))
        (tmp_path / f"{part}_rna.csv").write_text(f"sample,g\n{rows}")
        (tmp_path / f"{part}_kind.csv").write_text("kind\n" + "x\ny\nx\n"[: 2 * len(ids)])
    text = 'target = ["train_kind.csv:kind", "test_kind.csv:kind"]\n'
    text += '[sources.rna]\nfile = ["train_rna.csv", "test_rna.csv"]\n'
    data = read_sources(write(tmp_path / "study.toml", text))
    assert data.y.to_dict() == {"a": "x", "b": "y", "c": "x", "d": "x", "e": "y"}
    assert data.warnings == [
        "train_kind.csv + test_kind.csv has no sample ids: its rows are joined by position, in the "
        "order of train_rna.csv + test_rna.csv."
    ]


@pytest.mark.parametrize("n_test", [2, 3])
@pytest.mark.parametrize("with_ids", [True, False])
def test_stacked_files_in_different_orders_are_not_joined_by_position(tmp_path, n_test, with_ids):
    for part, ids in {"train": "abc", "test": "defg"[:n_test]}.items():
        first = "sample,g" if with_ids else "h,g"
        rows = "".join(f"{label if with_ids else 1.5},{k}.5\n" for k, label in enumerate(ids))
        (tmp_path / f"{part}_rna.csv").write_text(f"{first}\n{rows}")
        (tmp_path / f"{part}_kind.csv").write_text("kind\n" + "x\ny\nx\n"[: 2 * len(ids)])
    text = 'target = ["test_kind.csv:kind", "train_kind.csv:kind"]\n'
    text += '[sources.rna]\nfile = ["train_rna.csv", "test_rna.csv"]\n'
    sizes = rf"\({n_test} and 3 rows\)", rf"\(3 and {n_test} rows\)"
    said = (
        r"test_kind.csv \+ train_kind.csv {} would be joined .* to train_rna.csv \+ test_rna.csv {}"
    )
    if not with_ids:
        said = "but their parts differ or come in different orders; name the files of both"
    with pytest.raises(InputError, match=said.format(*sizes)):
        read_sources(write(tmp_path / "study.toml", text))


@pytest.mark.parametrize(
    ("train", "test"),
    [("train_rna", "test_rna"), ("rna-Training", "rna-testing")],
)
def test_training_and_test_files_of_a_folder_are_not_taken_for_sources_in_silence(
    folder, train, test
):
    (folder / "rna.csv").rename(folder / f"{train}.csv")
    (folder / f"{test}.csv").write_text("sample,g1,g2\ne,1,2\nf,3,4\n")
    data = read_sources(folder)
    (said,) = data.warnings
    assert said.startswith(f"{train}.csv and {test}.csv look like the training and test part of")
    assert f'write file = ["{train}.csv", "{test}.csv"] below [sources.rna] in a TOML' in said
    assert any(f.sentence == said for f in check_sources(data).findings if f.severity == "warning")
    assert not read_sources(folder, sources=["clinical", train]).warnings
    assert not read_sources(folder, sources={"rna": [f"{train}.csv", f"{test}.csv"]}).warnings
    (folder / f"{test}.csv").rename(folder / "test_mri.csv")
    assert not read_sources(folder).warnings


def test_files_without_any_ids_must_have_equal_rows(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    np.save(tmp_path / "b.npy", np.ones((4, 2)))
    with pytest.raises(InputError, match=r"numbers of rows differ \(a.npy: 3, b.npy: 4\)"):
        read_sources(tmp_path)


def test_empty_rows_at_the_end_of_a_sheet_are_left_out(tmp_path):
    path = write(tmp_path / "a.csv", "id,x,z\na,1,2\nb,2,\n,,\n,,\n")
    data = read_sources(path)
    assert list(data.tables["a"].index) == ["a", "b"]
    assert "2 empty rows left out" in notes_of(data)


# ---- columns -----------------------------------------------------------------------------------


def test_text_becomes_columns_and_truth_values_numbers(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "id,stage,smokes,alive,fixed\na,I,yes,True,3\nb,II,no,False,3\nc,III,,True,3\nd,I,no,True,3\n",
    )
    data = read_sources(path)
    table = data.tables["a"]
    assert list(table.columns) == [
        "stage=I", "stage=II", "stage=III", "smokes=yes", "alive", "fixed",
    ]  # fmt: skip
    assert table.loc["a"].tolist() == [1, 0, 0, 1, 1, 3]
    assert np.isnan(table.loc["c", "smokes=yes"])
    assert table.loc["b", "alive"] == 0
    assert "column 'stage': text with 3 levels became" in notes_of(data)
    assert "1 column without variation (fixed)" in notes_of(data)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([f"t{i % 25}" for i in range(50)], r"x.csv, column 'v' holds text with 25 different"),
        ([f"2001-02-{i % 28 + 1:02}" for i in range(50)], r"column 'v' holds dates.*2001-02-01"),
        ([f"{i % 28 + 1}/02/2001" for i in range(50)], "column 'v' holds dates"),
        ([*range(48), "<0.5", "n.d."], r"2 values of 50 cannot be read.*first '<0.5' in row 49"),
    ],
)
def test_columns_that_are_refused_by_name(tmp_path, values, message):
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(50)], "v": values, "w": np.arange(50)})
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(InputError, match=message):
        read_sources(tmp_path)


def test_dates_of_parquet_are_refused(tmp_path):
    import polars as pl

    when = pd.to_datetime(["2001-01-01", "2001-02-01"]).to_numpy()
    pl.DataFrame({"id": ["a", "b"], "born": when}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="column 'born' holds dates or times"):
        read_sources(tmp_path)


# ---- one table, arrays, kinds ------------------------------------------------------------------


def test_one_table_is_cut_by_the_prefixes_of_its_columns(tmp_path):
    path = write(tmp_path / "all.csv", "id,rna_1,rna_2,pet_1,pet_2,y\na,1,2,3,4,0\nb,5,6,7,8,1\n")
    data = read_sources(path, target="y")
    assert {n: list(t.columns) for n, t in data.tables.items()} == {
        "rna": ["rna_1", "rna_2"],
        "pet": ["pet_1", "pet_2"],
    }
    assert "2 sources by what stands before '_' (rna, pet)" in notes_of(data)
    data = read_sources(path, target="y", sources={"one": "*_1", "all": ["rna_*", "pet_2"]})
    assert list(data.tables["one"].columns) == ["rna_1", "pet_1"]
    assert list(data.tables["all"].columns) == ["rna_1", "rna_2", "pet_2"]
    with pytest.raises(InputError, match=r"Source 'o': no column of all.csv .* 'mri_\*'"):
        read_sources(path, sources={"o": "mri_*"})


@pytest.mark.parametrize("more", ["age", "when", "note"])
def test_new_columns_do_not_change_how_one_table_is_cut(tmp_path, more):
    names = ["rna_a", "rna_b", "mri_a", "mri_b"]
    values = {"age": [50, 60, 70], "when": ["2001-02-03"] * 3, "note": ["ok", "so so", "bad"]}
    table = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=names)
    table.insert(0, "sample", ["p", "q", "r"])
    table.assign(**{more: values[more]}).to_csv(tmp_path / "new.csv", index=False)
    known = {"rna": names[:2], "mri": names[2:]}
    data = read_sources(tmp_path / "new.csv", levels={"rna": {}, "mri": {}}, columns=known)
    assert {name: list(columns) for name, columns in data.tables.items()} == known
    assert f"new.csv: {more} not used." in data.warnings
    whole = read_sources(tmp_path / "new.csv", levels={"new": {}}, columns={"new": names})
    assert list(whole.tables) == ["new"]


def test_one_table_without_prefixes_is_one_source(tmp_path):
    path = write(tmp_path / "all.csv", "id,age,weight\na,1,2\nb,5,6\n")
    data = read_sources(path)
    assert list(data.tables) == ["all"]
    assert "all columns are one source" in notes_of(data)


def test_arrays_of_one_file_are_sources(tmp_path):
    np.savez(tmp_path / "d.npz", rna=np.eye(4, 3), pet=np.ones((4, 2)) * [[1], [2], [3], [4]],
             y=np.array([0, 1, 0, 1]), ids=np.array(list("abcd")))  # fmt: skip
    data = read_sources(tmp_path / "d.npz", target="y")
    assert list(data.tables) == ["rna", "pet"]
    assert data.y.to_dict() == {"a": 0, "b": 1, "c": 0, "d": 1}
    write(tmp_path / "clinic.csv", "id,age\na,3\nb,5\nc,8\nd,1\n")
    assert set(read_sources(tmp_path, target="d:y").tables) == {"clinic", "d.pet", "d.rna"}


def test_sources_of_a_folder_by_name_and_by_file(folder):
    assert list(read_sources(folder, sources=["rna"]).tables) == ["rna"]
    data = read_sources(folder, sources={"genes": "rna.csv"})
    assert list(data.tables) == ["genes"]
    assert data.task == "classification"
    with pytest.raises(InputError, match=r"There is no source 'rnaa'.* did you mean 'rna'\?"):
        read_sources(folder, sources=["rnaa"])
    with pytest.raises(InputError, match=r"There is no file .*rma.csv; did you mean 'rna.csv'\?"):
        read_sources(folder, sources={"x": "rma.csv"})


def test_two_files_of_one_name(folder):
    np.save(folder / "rna.npy", np.eye(4))
    with pytest.raises(InputError, match=r"rna.csv, rna.npy would both be the source 'rna'"):
        read_sources(folder)


def test_square_symmetric_tables_are_kernels_or_distances(tmp_path):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 8))
    K, ids = A @ A.T, list("vwxyz")
    shuffled = pd.DataFrame(K, index=ids, columns=ids)[["z", "v", "w", "x", "y"]]
    shuffled.to_csv(tmp_path / "k.csv")
    np.save(tmp_path / "d.npy", np.abs(A[:, :1] - A[:, 0]))
    data = read_sources(tmp_path)
    assert data.kinds == {"d": "distance", "k": "kernel"}
    assert list(data.tables["k"].columns) == list(data.tables["d"].columns) == ids
    np.testing.assert_allclose(data.tables["k"].to_numpy(), K)
    assert "taken as a kernel matrix" in notes_of(data)
    with pytest.raises(InputError, match=r"different kinds \(distance, kernel\)"):
        data.align()
    for name in ("k", "d"):
        X, _, _ = read_sources(tmp_path, sources=[name]).align()
        assert PrecomputedKernels(check_psd=False).fit(X).n_kernels_ == data.n_kernels(name)
    X, _, _ = read_sources(tmp_path, sources=["k"]).align()
    assert isinstance(X, KernelBundle)
    assert list(X.ids) == ids


@pytest.mark.parametrize("flaw", ["asymmetric", "constant", "zero", "numbered"])
def test_columns_named_by_samples_make_a_matrix_between_them(tmp_path, flaw):
    A = np.random.default_rng(0).normal(size=(12, 3))
    K = {"constant": np.ones((12, 12)), "zero": np.zeros((12, 12))}.get(flaw, A @ A.T)
    K[2, 4] += flaw in ("asymmetric", "numbered")
    ids = [f"{'' if flaw == 'numbered' else 'P'}{i}" for i in range(12)]
    pd.DataFrame(K, index=pd.Index(ids, name="sample"), columns=ids).to_csv(tmp_path / "k.csv")
    kind = read_sources(tmp_path).kind("k")
    assert kind == ("features" if flaw == "numbered" else "kernel")  # numbers name anything
    if flaw == "asymmetric":
        sentences = [f.sentence for f in check_sources(tmp_path).findings]
        assert any("must be symmetric" in sentence for sentence in sentences)


def test_a_path_that_is_not_there_and_a_folder_without_tables(tmp_path):
    with pytest.raises(InputError, match="There is no file or folder"):
        read_sources(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no file that can be read"):
        read_sources(tmp_path)
    write(tmp_path / "only.csv", "id,target\na,1\nb,2\n")
    with pytest.raises(InputError, match="No source is left beside the target"):
        read_sources(tmp_path)
    with pytest.raises(InputError, match=r"\.xyz is no format of tables here; expected one of"):
        read_sources(write(tmp_path / "a.xyz", "1"))


# ---- levels, targets and neighbours ------------------------------------------------------------


def test_new_files_are_read_into_the_columns_of_the_fit(tmp_path):
    (tmp_path / "old").mkdir()
    write(tmp_path / "old" / "c.csv", "id,sex,stage\na,f,I\nb,m,II\nc,f,III\nd,m,I\n")
    (tmp_path / "new").mkdir()
    write(tmp_path / "new" / "c.csv", "id,sex,stage\ne,f,II\ng,x,IV\nh,,\n")
    data = read_sources(tmp_path / "old")
    assert data.levels == {"c": {"sex": ["f", "m"], "stage": ["I", "II", "III"]}}
    new = read_sources(tmp_path / "new", levels=data.levels)
    table = new.tables["c"]
    assert list(table.columns) == list(data.tables["c"].columns)
    assert table.loc["e"].tolist() == [0, 0, 1, 0]
    assert np.isnan(table.loc["g", "sex=m"])  # not zero, which would be the level 'f'
    assert table.loc["g"].tolist()[1:] == [0, 0, 0]  # none of the known levels
    assert table.loc["h"].isna().all()
    assert new.warnings == [
        "Source 'c', column 'sex': 'x' (1 sample) was not there at the fit, which knew 'f', 'm': "
        "taken as missing.",
        "Source 'c', column 'stage': 'IV' (1 sample) was not there at the fit, which knew 'I', "
        "'II', 'III': taken as none of them.",
    ]


def test_levels_that_look_like_numbers_in_new_files(tmp_path):
    write(tmp_path / "c.csv", "id,v,w\na,1,0.5\nb,1,0.7\n")
    new = read_sources(tmp_path, levels={"c": {"v": ["1", "2", "other"]}})
    assert new.tables["c"].loc["a"].tolist() == [1, 0, 0, 0.5]
    assert new.warnings == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["01", "02", "A1"], ["01", "02"], [[1, 0, 0], [0, 1, 0]]),
        (["TRUE", "FALSE", "unclear"], ["TRUE", "FALSE"], [[0, 1, 0], [1, 0, 0]]),
        (["1.0", "2.0", "x"], ["1.0", "2.0"], [[1, 0, 0], [0, 1, 0]]),
        (["1", "2", "x"], ["1.0", ""], [[1, 0, 0], [np.nan] * 3]),  # as pandas writes it
        (["01", "02", "A1"], ["", ""], [[np.nan] * 3] * 2),
        (["f", "m", "f"], ["", ""], [[np.nan]] * 2),
    ],
)
def test_levels_are_compared_as_they_are_written(tmp_path, old, new, expected):
    for name, values in {"old": old, "new": new}.items():
        (tmp_path / name).mkdir()
        rows = [f"s{i},{value},{i}.5" for i, value in enumerate(values)]
        # a blank row, which is left out, must not shift what is written
        write(tmp_path / name / "c.csv", "\n".join(["id,v,w", ",,", *rows, ""]))
    levels = read_sources(tmp_path / "old").levels
    assert levels == {"c": {"v": sorted(set(old))}}
    data = read_sources(tmp_path / "new", levels=levels)
    np.testing.assert_array_equal(data.tables["c"].drop(columns="w"), expected)
    assert data.warnings == []


def test_files_of_a_source_may_be_a_pattern(tmp_path):
    for part, rows in {"train": "a,1\nb,2\n", "test": "c,3\n"}.items():
        write(tmp_path / f"{part}_rna.csv", f"id,v\n{rows}")
        write(tmp_path / f"{part}_mri.csv", f"id,w\n{rows}")
    data = read_sources(
        tmp_path, sources={"rna": "*_rna.csv", "mri": ["train_mri", "test_mri.csv"]}
    )
    assert data.tables["rna"]["v"].to_dict() == {"c": 3.0, "a": 1.0, "b": 2.0}
    assert list(data.tables["mri"].index) == ["a", "b", "c"]
    elsewhere = read_sources(tmp_path, sources={"rna": str(tmp_path / "*_rna.csv")})
    assert len(elsewhere.tables["rna"]) == 3
    with pytest.raises(InputError, match=r"There is no file .*\*_dna\.csv"):
        read_sources(tmp_path, sources={"dna": "*_dna.csv"})


def test_written_levels_of_stacked_files(tmp_path):
    write(tmp_path / "a.csv", "id,v\na,01\nb,02\n")
    write(tmp_path / "b.csv", "id,v\nc,A1\nd,3\n")
    write(tmp_path / "s.toml", "[sources.c]\nfile = ['a.csv', 'b.csv']\n")
    data = read_sources(tmp_path / "s.toml", levels={"c": {"v": ["01", "02", "A1"]}})
    assert data.tables["c"].to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert "'3' (1 sample) was not there at the fit" in data.warnings[0]


def test_columns_that_the_fit_did_not_have_are_said_and_not_read(tmp_path):
    n = 25
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(n)], "age": np.arange(n), "sex": "f"})
    frame["when"], frame["remark"] = "2001-02-03", [f"felt {i}" for i in range(n)]
    frame.to_csv(tmp_path / "c.csv", index=False)
    known = {"levels": {"c": {"sex": ["f", "m"]}}, "columns": {"c": ["age", "sex=m"]}}
    data = read_sources(tmp_path, **known)
    assert list(data.tables["c"].columns) == ["age", "sex=m"]
    assert data.warnings == ["Source 'c': when, remark not used."]
    assert data.warnings[0] in data.notes
    with pytest.raises(InputError, match="holds dates"):
        read_sources(tmp_path, levels=known["levels"])
    frame[["id", "remark"]].to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(InputError, match=r"none of the columns of the fit \(sex, age, sex=m\)"):
        read_sources(tmp_path, **known)


def test_a_target_may_have_many_labels(tmp_path):
    labels = [f"kind {i % 25}" for i in range(75)]
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(75)], "x": np.arange(75), "y": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = read_sources(tmp_path, target="y")
    assert (data.task, data.y.nunique()) == ("classification", 25)
    assert list(data.tables["t"].columns) == ["x"]
    data = read_sources(tmp_path, levels={"t": {}}, columns={"t": ["x"]})  # where nobody names it
    assert list(data.tables["t"].columns) == ["x"]


def test_new_files_need_no_target_and_may_hold_strange_tables(folder):
    (folder / "clinical.csv").write_text(CLINICAL.replace("ill", "").replace("well", ""))
    (folder / "visits.csv").write_text("sample,when\na,2001-02-03\nb,2001-02-04\n")
    data = read_sources(folder, levels={"clinical": {"site": ["N", "S"]}, "rna": {}})
    assert list(data.tables) == ["clinical", "rna"]
    assert list(data.tables["clinical"].columns) == ["age", "site=S"]
    assert data.y is None
    assert "visits was not there at the fit and not read: " in notes_of(data)


@pytest.mark.parametrize("task", [None, "regression"])
def test_a_slip_among_the_numbers_of_a_target_is_named(tmp_path, task):
    values = [f"{i}.5" for i in range(11)] + ["unknown"]
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(12)], "x": np.arange(12), "age": values})
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        InputError,
        match=r"target 'age' of t.csv: 1 value of 12 .* \(first 'unknown' of sample 's11'\); "
        "correct them, or leave them empty",
    ):
        read_sources(tmp_path, target="age", task=task)
    frame.assign(age=["0", "1"] * 5 + ["1", "unknown"]).to_csv(tmp_path / "t.csv", index=False)
    assert read_sources(tmp_path, target="age").task == "classification"


def test_text_that_never_repeats_is_no_class(tmp_path):
    frame = pd.DataFrame(
        {"id": list("abcdef"), "x": range(6), "y": [f"name {c}" for c in "abcdef"]}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="6 different values in 6 samples; name another column"):
        read_sources(tmp_path, target="y")


def test_one_table_is_not_joined_with_files_beside_it(tmp_path):
    path = write(tmp_path / "all.csv", "id,rna_1,rna_2,y\na,1,2,0\nb,5,6,1\nc,1,3,0\nd,4,6,1\n")
    write(tmp_path / "y.csv", "id,y\na,9\nb,8\nc,7\nd,6\n")
    data = read_sources(path, target="y")
    assert data.y.tolist() == [0, 1, 0, 1]
    assert list(data.files) == ["all.csv"]
    write(tmp_path / "labels.csv", "id,grade,age\na,u,1\nb,v,2\nc,u,3\nd,v,4\n")
    with pytest.raises(InputError, match=r"No file has a column 'labels' \(looked in all.csv\)"):
        read_sources(path, target="labels")
    data = read_sources(path, target="labels.csv:grade")
    assert data.y.tolist() == ["u", "v", "u", "v"]
    assert list(data.tables) == ["all"]  # and not labels


def test_a_column_with_a_colon_in_its_name(tmp_path):
    path = write(tmp_path / "a.csv", "id,x,a:b\nu,1,0\nv,2,1\nw,3,0\nz,5,1\n")
    assert read_sources(path, target="a:b").y.tolist() == [0, 1, 0, 1]


def test_predictions_beside_the_data_are_no_source(folder):
    (folder / "p.csv").write_text("sample,prediction,p(ill),p(well)\na,ill,0.6,0.4\n")
    (folder / "q.csv").write_text("sample,prediction\na,0.6\n")
    (folder / "r.csv").write_text("sample,prediction,height\na,0.6,1\nb,0.7,2\n")
    data = read_sources(folder)
    assert list(data.tables) == ["clinical", "r", "rna"]
    assert "p.csv holds predictions of multikernel and was not read." in data.notes
    assert "q.csv holds predictions of multikernel and was not read." in data.notes
