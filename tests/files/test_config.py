"""TOML files: what they can say, and complaints that name file, line and key."""

import numpy as np
import pytest

from multikernel import RBF, Linear, MKLClassifier, Polynomial, read_sources
from multikernel.files import InputError

GOOD = """\
target = "clinical:subtype"        # file:column
id = "sample"
groups = "clinical:site"

[sources.mrna]
file = "mrna.csv"
kernels = ["linear", {rbf = [0.25, 1, 4]}, {polynomial = {degree = 3}}]

[sources.clinical]
file = "clinical.csv"
drop = ["note", "visit_*"]

[compare]
cv = 3
repeats = 2
"""
CLINICAL = (
    "sample,age,site,subtype,note,visit_1\na,3,N,u,hello,1\nb,4,S,v,you,2\nc,5,N,u,there,3\n"
    "d,6,S,v,!,4\n"
)


@pytest.fixture
def toml(tmp_path):
    (tmp_path / "mrna.csv").write_text("sample,g1,g2\nd,1,2\nb,2,1\na,4,2\nc,5,3\n")
    (tmp_path / "clinical.csv").write_text(CLINICAL)

    def write(text):
        (tmp_path / "data.toml").write_text(text, encoding="utf-8")
        return tmp_path / "data.toml"

    return write


def test_a_toml_file_says_all(toml):
    path = toml(GOOD)
    data = read_sources(path)
    assert list(data.tables) == ["mrna", "clinical"]
    assert list(data.tables["clinical"].columns) == ["age"]
    assert data.y.to_dict() == {"a": "u", "b": "v", "c": "u", "d": "v"}
    assert data.groups["b"] == "S"
    linear, rbf, polynomial = data.kernels["mrna"]
    assert isinstance(linear, Linear)
    assert isinstance(rbf, RBF)
    assert rbf.width == [0.25, 1, 4]
    assert isinstance(polynomial, Polynomial)
    assert polynomial.degree == 3
    assert data.n_kernels("mrna") == 5
    X, y, _ = data.align()
    model = MKLClassifier(data.kernel_choice()).fit(X, y)
    assert len(model.weights_) == 5 + data.n_kernels("clinical") == 9
    assert data.options == {"cv": 3, "repeats": 2}
    assert set(data.files) == {"data.toml", "mrna.csv", "clinical.csv"}


def test_arguments_win_over_the_file(toml):
    data = read_sources(toml(GOOD), target="clinical:age", sources=["mrna"], task="regression")
    assert list(data.tables) == ["mrna"]
    assert data.y.name == "age"
    assert data.task == "regression"


def test_without_sources_every_file_beside_it_is_one(toml):
    data = read_sources(toml('target = "clinical:age"\n'), sources=["mrna"])
    assert list(data.tables) == ["mrna"]


def test_stacked_files_keys_kinds_and_columns(toml, tmp_path):
    np.savez(tmp_path / "part1.npz", K=np.eye(2), X=np.ones((2, 3)), ids=np.array(["a", "b"]))
    np.savez(tmp_path / "part2.npz", X=np.zeros((2, 3)), Z=np.eye(2), ids=np.array(["c", "d"]))
    np.save(tmp_path / "gram.npy", np.array([[2.0, 1], [1, 2]]))
    text = """
    target = ["part1:y", "part2:y"]
    [sources.x]
    file = ["part1.npz", "part2.npz"]
    key = "X"
    [sources.age]
    file = "clinical.csv"
    columns = "ag*"
    """
    with pytest.raises(InputError, match=r"data.toml, line 2, target: part1.npz has no column 'y'"):
        read_sources(toml(text))
    data = read_sources(toml(text.replace('["part1:y", "part2:y"]', '"age:subtype"')))
    assert list(data.tables["x"].index) == list("abcd")
    assert data.tables["x"].to_numpy().sum() == 6
    assert list(data.tables["age"].columns) == ["age"]
    gram = '[sources.k]\nfile = "gram.npy"\nkind = "kernel"\n'
    data = read_sources(toml(gram))
    assert data.kind("k") == "kernel"
    assert data.n_kernels("k") == 1
    wide = '[sources.k]\nfile = "mrna.csv"\nkind = "kernel"\n'
    with pytest.raises(
        InputError, match=r"line 3, sources.k.kind: mrna.csv is to hold a kernel .*4 row"
    ):
        read_sources(toml(wide))
    lost = '[sources.k]\nfile = "part1.npz"\n'
    with pytest.raises(InputError, match=r"sources.k: part1.npz holds the arrays K, X; .*its key"):
        read_sources(toml(lost))


def test_stacked_tables_are_matched_by_their_columns(toml, tmp_path):
    (tmp_path / "more.csv").write_text("sample,g2,g1\ne,20,10\n")
    stacked = '[sources.mrna]\nfile = ["mrna.csv", "more.csv"]\n'
    table = read_sources(toml(stacked)).tables["mrna"]
    assert table.loc["e"].to_dict() == {"g1": 10, "g2": 20}
    (tmp_path / "more.csv").write_text("sample,g2,g3\ne,20,10\n")
    with pytest.raises(InputError, match=r"sources.mrna: mrna.csv and more.csv .* 'g1', 'g3'"):
        read_sources(toml(stacked))


COMPLAINTS = {
    "unknown key of a source": (
        GOOD.replace("kernels =", "kernel ="),
        "data.toml, line 7, sources.mrna.kernel: unknown key; did you mean 'kernels'?",
    ),
    "unknown key at the top": (
        "colour = 3\n" + GOOD,
        "data.toml, line 1, colour: unknown key; known here: target, id, task, groups, sources, "
        "compare.",
    ),
    "unknown key of compare": (
        GOOD.replace("repeats", "repeat"),
        "data.toml, line 15, compare.repeat: unknown key; did you mean 'repeats'?",
    ),
    "wrong type": (
        GOOD.replace("cv = 3", 'cv = "3"'),
        "data.toml, line 14, compare.cv: expected a whole number of folds, at least 2, got '3'.",
    ),
    "truth is no number": (
        GOOD.replace("repeats = 2", "repeats = true"),
        "data.toml, line 15, compare.repeats: expected a whole number, at least 1, got True.",
    ),
    "an endless budget": (
        GOOD + "time_budget = inf\n",
        "data.toml, line 16, compare.time_budget: expected a number of seconds, at least 0, "
        "got inf.",
    ),
    "wrong task": (
        'task = "ranking"\n' + GOOD,
        "data.toml, line 1, task: expected 'classification' or 'regression', got 'ranking'.",
    ),
    "wrong kind": (
        GOOD.replace('file = "mrna.csv"', 'file = "mrna.csv"\nkind = "gram"'),
        "data.toml, line 7, sources.mrna.kind: expected 'features', 'kernel' or 'distance', got "
        "'gram'.",
    ),
    "unknown kernel": (
        GOOD.replace('"linear", {', '"linear",\n  {').replace("{rbf", "{rfb"),
        "data.toml, line 8, sources.mrna.kernels[1]: unknown kernel 'rfb'; did you mean 'rbf'?",
    ),
    "a kernel that needs code": (
        GOOD.replace('"linear"', '"function"'),
        "data.toml, line 7, sources.mrna.kernels[0]: unknown kernel 'function'",
    ),
    "a bad width": (
        GOOD.replace("0.25", "-1"),
        "data.toml, line 7, sources.mrna.kernels[1]: RBF: width must be a positive number",
    ),
    "a parameter it has not": (
        GOOD.replace("degree", "order"),
        "data.toml, line 7, sources.mrna.kernels[2]: polynomial has no parameter 'order'",
    ),
    "no parameter at all": (
        GOOD.replace('"linear"', "{linear = 3}"),
        "data.toml, line 7, sources.mrna.kernels[0]: linear has no parameter; write just 'linear'.",
    ),
    "neither name nor table": (
        GOOD.replace('"linear"', "7"),
        "data.toml, line 7, sources.mrna.kernels[0]: expected a name or a table",
    ),
    "no file": (
        GOOD.replace('file = "mrna.csv"\n', ""),
        'data.toml, line 5, sources.mrna: has no file; add file = "mrna.csv".',
    ),
    "absent file": (
        GOOD.replace('"mrna.csv"', '"mrnas.csv"'),
        "data.toml, line 6, sources.mrna.file: There is no file ",
    ),
    "a source that is no table": (
        "[sources]\nmrna = 'mrna.csv'\n",
        'data.toml, line 2, sources.mrna: expected a table with file = "...", got \'mrna.csv\'.',
    ),
    "a key where there are none": (
        GOOD.replace('file = "mrna.csv"', 'file = "mrna.csv"\nkey = "X"'),
        "data.toml, line 7, sources.mrna.key: mrna.csv holds one table; only .npz and .mat files",
    ),
    "a pattern of columns": (
        GOOD.replace('file = "mrna.csv"', 'file = "mrna.csv"\ncolumns = "h*"'),
        "data.toml, line 7, sources.mrna.columns: Source 'mrna': no column of mrna.csv is called",
    ),
    "a pattern of what to drop": (
        GOOD.replace("visit_*", "vist_*"),
        "data.toml, line 11, sources.clinical.drop: Source 'clinical': no column of clinical.csv",
    ),
    "no sources": ("[sources]\n", "data.toml, line 1, sources: names no source"),
    "kernels of a kernel": (
        GOOD.replace('file = "mrna.csv"', 'file = "mrna.csv"\nkind = "kernel"'),
        "data.toml, line 8, sources.mrna.kernels: they are for features, not for a kernel matrix.",
    ),
    "not TOML": (
        GOOD.replace('"mrna.csv"', '"mrna.csv'),
        "data.toml, line 6: not valid TOML: ",
    ),
    "cut off": ("cv = ", "data.toml, last line: not valid TOML: "),
    "absent target": (
        GOOD.replace("clinical:subtype", "clinical:subtypes"),
        "data.toml, line 1, target: clinical.csv has no column 'subtypes'",
    ),
    "absent groups": (
        GOOD.replace("clinical:site", "clinic:site"),
        "data.toml, line 3, groups: There is no file 'clinic'",
    ),
    "absent id": (
        GOOD.replace('id = "sample"', 'id = "simple"'),
        "data.toml, line 2, id: mrna.csv has no column 'simple', named as the sample id",
    ),
    "no column left": (
        GOOD.replace('"visit_*"', '"visit_*", "age"'),
        "data.toml, line 9, sources.clinical: Source 'clinical' has no columns left",
    ),
    "a name with a dot": (
        GOOD.replace("[sources.clinical]", '[sources."mrna.columns"]\nfile = "clinical.csv"\n\n'
        "[sources.clinical]").replace("kernels = [", 'columns = ["g9"]\nkernels = ['),
        "data.toml, line 7, sources.mrna.columns: ",
    ),
    "text of many words": (
        GOOD.replace('"note", ', ""),
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLAINTS)
def test_complaints_name_file_line_and_key(toml, name):
    text, message = COMPLAINTS[name]
    if message is None:
        assert "note=you" in read_sources(toml(text)).tables["clinical"]
        return
    with pytest.raises(InputError) as caught:
        read_sources(toml(text))
    assert str(caught.value).startswith(message)


def test_line_ends_of_windows_and_a_mark_at_the_beginning(toml):
    path = toml("")
    path.write_bytes(
        b"\xef\xbb\xbf" + GOOD.replace("kernels =", "kernel =").replace("\n", "\r\n").encode()
    )
    with pytest.raises(InputError, match=r"^data.toml, line 7, sources.mrna.kernel: unknown key"):
        read_sources(path)


def test_toml_that_is_not_utf8(toml):
    path = toml("")
    path.write_bytes(b'target = "\xe9"')
    with pytest.raises(InputError, match=r"data.toml is not UTF-8 text"):
        read_sources(path)


def test_sources_of_a_toml_file_cannot_be_described_again(toml):
    with pytest.raises(InputError, match="describes its sources itself"):
        read_sources(toml(GOOD), sources={"x": "mrna.csv"})
