"""check_sources: each thing worth knowing is found, and clean data have nothing to tell."""

import json
import time

import numpy as np
import pandas as pd
import pytest

from multikernel import RBF, ViewBundle, check_sources, read_sources
from multikernel.files import Dataset, InputError, _check_kernels

N = 60
IDS = [f"s{i:02}" for i in range(N)]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def table(rng, n_columns=5, ids=IDS, prefix="g"):
    columns = [f"{prefix}{j}" for j in range(n_columns)]
    return pd.DataFrame(rng.normal(size=(len(ids), n_columns)), index=ids, columns=columns)


def study(rng, **changes):
    """Clean data of two sources and two classes, with changes."""
    parts = {
        "tables": {"rna": table(rng), "pet": table(rng, prefix="v")},
        "y": pd.Series(["ill", "well"] * (N // 2), index=IDS, name="state"),
        "task": "classification",
    }
    return Dataset(**{**parts, **changes})


def found(dataset, severity, subject):
    return " ".join(
        f.sentence
        for f in check_sources(dataset).findings
        if (f.severity, f.subject) == (severity, subject)
    )


def test_clean_data_have_no_more_than_ok(rng):
    check = check_sources(study(rng))
    assert check.ok
    assert {f.severity for f in check.findings} == {"ok"}
    assert {f.subject for f in check.findings} == {
        "rna", "pet", "samples", "target", "values", "kernels", "memory",
    }  # fmt: skip


def test_the_worst_comes_first_in_text_table_and_json(rng):
    dataset = study(rng, notes=["rna.csv: something was assumed."])
    dataset.tables["rna"].iloc[3, 2] = np.inf
    check = check_sources(dataset)
    assert not check.ok
    order = ["problem", "warning", "note", "ok"]
    ranks = [order.index(f.severity) for f in check.findings]
    assert ranks == sorted(ranks)
    assert str(check).startswith("✗ problem  rna")
    assert "· note     reading  rna.csv: something was assumed." in str(check)
    assert max(map(len, str(check).splitlines())) <= 100
    assert list(check.frame()["sentence"]) == [f.sentence for f in check.findings]
    content = json.loads(check.to_json())
    assert content["ok"] is False
    assert content["findings"][0]["subject"] == "rna"


# ---- samples -----------------------------------------------------------------------------------


def test_overlap_is_counted(rng):
    tables = {"rna": table(rng, ids=IDS[:50]), "pet": table(rng, ids=IDS[10:])}
    sentence = found(study(rng, tables=tables), "note", "samples")
    assert (
        sentence
        == "40 of 60 samples are in every source and have a target; 10 lack rna; 10 lack pet."
    )
    tables = {"rna": table(rng, ids=IDS[:30]), "pet": table(rng, ids=IDS[20:])}
    assert "10 of 60 samples" in found(study(rng, tables=tables), "warning", "samples")


def test_a_source_of_strangers_and_one_on_its_side(rng):
    strange = table(rng, ids=[f"x{i}" for i in range(N)], prefix="q")
    dataset = study(rng, tables={"rna": table(rng), "odd": strange, "side": table(rng).T})
    assert "No sample is in every source" in found(dataset, "problem", "samples")
    assert "Shares no sample id with any other file (its ids: 'x0'" in found(
        dataset, "problem", "odd"
    )
    assert "Its columns, not its rows, are the samples of rna" in found(dataset, "problem", "side")


@pytest.mark.parametrize(
    ("write", "what"),
    [
        (lambda label: f"{label} ", "spaces ('s00 ' and 's00'"),
        (str.upper, "upper and lower case ('S00' and 's00'"),
        (lambda label: f"s{int(label[1:])}", "leading zeros ('s0' and 's00'"),
        (lambda label: f"s-{label[1:]}", "spaces, case, zeros or separators ('s-00' and 's00'"),
    ],
)
def test_near_misses_of_ids(rng, write, what):
    spoiled = [write(label) if i < 5 else label for i, label in enumerate(IDS)]
    dataset = study(rng, tables={"rna": table(rng), "pet": table(rng, ids=spoiled)})
    sentence = found(dataset, "warning", "pet")
    assert f"5 ids differ from those of the target only in {what}" in sentence


def test_separators_alone(rng):
    ids = [label.replace("s", "s_") for label in IDS]
    dashed = [label.replace("_", ".") for label in ids]
    dataset = Dataset({"rna": table(rng, ids=ids), "pet": table(rng, ids=dashed)})
    sentence = found(dataset, "warning", "pet")
    assert "60 ids differ from those of rna only in separators ('s.00' and 's_00'" in sentence


def test_duplicated_ids_and_another_order(rng):
    twice = table(rng, ids=[*IDS[:-2], "s03", "s03"])
    dataset = study(rng, tables={"rna": table(rng), "pet": twice, "mri": table(rng).iloc[::-1]})
    assert "1 id occurs more than once ('s03' 3 times)" in found(dataset, "problem", "pet")
    assert "in another order than in rna" in found(dataset, "note", "mri")
    assert found(dataset, "note", "pet") == ""


@pytest.mark.parametrize(
    ("y", "has", "sentence"),
    [
        (["ill", "well"] * 30, lambda k: k % 2 == 0, "Only samples of class 'ill' have it"),
        (["a", "b", "c"] * 20, lambda k: k % 3 < 2, "No sample of class 'c' has it"),
        ([0, 1, 2, 3] * 15, lambda k: k % 4 < 2, "No sample of class '2', '3' has it"),
        (
            ["ill", "well"] * 30,
            lambda k: k % 2 == 0 or k < 6,
            "100% of the samples of class 'ill' have it, but 10% of class 'well'",
        ),
    ],
)
def test_having_a_source_that_tells_the_class(rng, y, has, sentence):
    y = pd.Series(y, index=IDS, name="state")
    pet = table(rng, ids=[label for k, label in enumerate(IDS) if has(k)], prefix="v")
    dataset = study(rng, tables={"rna": table(rng), "pet": pet}, y=y)
    assert f"{sentence}: that a sample has the source" in found(dataset, "warning", "pet")
    assert found(dataset, "warning", "rna") == ""


def test_having_a_source_that_tells_no_class(rng):
    tables = {"rna": table(rng), "pet": table(rng, ids=IDS[:40], prefix="v")}
    assert found(study(rng, tables=tables), "warning", "pet") == ""
    numbers = pd.Series(np.arange(N) * 1.5, index=IDS, name="age")
    dataset = study(rng, tables=tables, y=numbers, task="regression")
    assert found(dataset, "warning", "pet") == ""


# ---- columns -----------------------------------------------------------------------------------


def test_missing_infinite_and_constant_values(rng):
    dataset = study(rng)
    rna, pet = dataset.tables.values()
    rna.iloc[:3, 0] = np.nan
    rna["g1"] = 4.0
    pet.iloc[:, 0] = -np.inf
    pet.iloc[:30, 1] = np.nan
    assert "3 of 300 values (1.0%) are missing, in 1 column and 3 samples" in found(
        dataset, "note", "rna"
    )
    assert "1 column without variation (g1)" in found(dataset, "note", "rna")
    assert "(10.0%)" in found(dataset, "warning", "pet")
    assert "1 column with infinite values (v0)" in found(dataset, "problem", "pet")
    rna[:] = 1.0
    assert "No column varies" in found(dataset, "problem", "rna")
    assert found(dataset, "ok", "values") == ""


def test_values_whose_products_overflow(rng):
    """A problem, and no warning of numpy from the checks that square them."""
    dataset = study(rng)
    dataset.tables["pet"].iloc[4, 2] = -1e200
    assert "1 column with values of up to 1e+200 (v2), whose products overflow" in found(
        dataset, "problem", "pet"
    )
    assert found(dataset, "problem", "rna") == found(dataset, "ok", "values") == ""


def test_columns_of_one_name(rng, tmp_path):
    for name, header in {"rna": "id,g0,g0,g2", "pet": "id,v0, v0,v0 ", "mri": "id,w0,,"}.items():
        rows = (f"{i}," + ",".join(map(str, rng.normal(size=3))) for i in IDS)
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *rows]))
    dataset = read_sources(tmp_path)
    sentences = found(dataset, "warning", "reading")
    assert "rna.csv: column names repeat: 'g0' (2 times); the later ones are taken as 'g0.1'" in (
        sentences
    )
    assert "pet.csv: column names repeat: 'v0' (3 times)" in sentences
    assert "mri.csv" not in sentences
    assert list(dataset.tables["rna"]) == ["g0", "g0.1", "g2"]
    assert list(dataset.tables["pet"]) == ["v0", "v0.1", "v0.2"]
    assert not dataset.tables["pet"].T.duplicated().any()


# ---- target ------------------------------------------------------------------------------------


def labels(*counts):
    values = [f"class{k}" for k, c in enumerate(counts) for _ in range(c)]
    return pd.Series(values, index=IDS, name="state")


def test_class_balance(rng):
    assert (
        "2 classes, the smallest, class class1, of 3: fewer than the 5 folds; use cv = 3"
        in found(study(rng, y=labels(57, 3)), "warning", "target")
    )
    numbers = labels(40, 20).map({"class0": 7, "class1": 10})
    assert "the smallest, class 10, of 20, the largest of 40." in found(
        study(rng, y=numbers), "ok", "target"
    )
    assert "of 1: fewer than the 5 folds" in found(study(rng, y=labels(59, 1)), "problem", "target")
    assert "balanced accuracy" in found(study(rng, y=labels(55, 5)), "warning", "target")
    options = {"cv": 2}
    assert (
        found(study(rng, y=labels(57, 3), options=options), "warning", "target").count("folds") == 0
    )
    assert "All values are 'class0'" in found(study(rng, y=labels(60)), "problem", "target")


def test_no_target_and_numbers(rng):
    assert "There is no target" in found(study(rng, y=None, task=None), "warning", "target")
    y = pd.Series(np.linspace(2, 3, N), index=IDS, name="age")
    assert "60 numbers from 2 to 3" in found(study(rng, y=y, task="regression"), "ok", "target")


def test_groups(rng):
    sites = pd.Series([f"site{i % 3}" for i in range(N)], index=IDS)
    assert "3 groups for 5 folds" in found(study(rng, groups=sites), "warning", "groups")
    sites = pd.Series([f"site{i % 6}" for i in range(N)], index=IDS)
    dataset = study(rng, groups=sites)
    assert "6 groups, kept together" in found(dataset, "ok", "groups")
    assert "one class only" in found(dataset, "warning", "groups")  # six is even, as the classes


# ---- leaks -------------------------------------------------------------------------------------


def test_copies_of_a_class(rng):
    dataset = study(rng)
    ill = (dataset.y == "ill").to_numpy()
    dataset.tables["rna"]["code"] = np.where(ill, 3.0, 7.0)
    dataset.tables["rna"]["noisy"] = ill + 1e-3 * rng.normal(size=N)
    dataset.tables["pet"]["true_state"] = rng.normal(size=N)
    assert "Column 'code' tells the target 'state' exactly" in found(dataset, "problem", "rna")
    assert "Column 'noisy' correlates with the target" in found(dataset, "warning", "rna")
    assert "'true_state' has the name of the target" in found(dataset, "warning", "pet")


def test_three_classes_coded_in_one_column_or_three(rng):
    y = labels(20, 20, 20)
    dataset = study(rng, y=y)
    dataset.tables["rna"]["code"] = y.map({"class0": 5.0, "class1": 1.0, "class2": 9.0})
    dataset.tables["rna"]["merged"] = y.map({"class0": 5.0, "class1": 5.0, "class2": 9.0})
    sentence = found(dataset, "problem", "rna")
    assert "'code'" in sentence
    assert "'merged'" not in sentence
    assert "'merged' correlates" in found(dataset, "warning", "rna")  # it is class2 or not


def test_copies_of_a_number(rng):
    y = pd.Series(rng.normal(size=N), index=IDS, name="age")
    dataset = study(rng, y=y, task="regression")
    dataset.tables["rna"]["years"] = y[::-1]  # assigned by id
    dataset.tables["rna"]["months"] = -12 * y + 1e-3 * rng.normal(size=N)
    dataset.tables["pet"]["page"] = rng.normal(size=N)
    assert "Column 'years' equals the target 'age'" in found(dataset, "problem", "rna")
    assert "Column 'months' correlates" in found(dataset, "warning", "rna")
    assert found(dataset, "warning", "pet") == ""  # a part of a word is no smell


def test_a_source_with_the_name_of_the_target(rng):
    dataset = study(rng, tables={"rna": table(rng), "state_scores": table(rng)})
    assert "The source has the name of the target" in found(dataset, "warning", "state_scores")


# ---- kernels -----------------------------------------------------------------------------------


def test_square_sources(rng):
    A = rng.normal(size=(N, 4))
    K = A @ A.T
    wrong, bent = K - 5 * np.eye(N), K + np.triu(np.ones((N, N)))
    squares = {"good": K, "wrong": wrong, "bent": bent, "far": -K}
    dataset = Dataset(
        {name: pd.DataFrame(M, index=IDS, columns=IDS) for name, M in squares.items()},
        kinds={"good": "kernel", "wrong": "kernel", "bent": "kernel", "far": "distance"},
    )
    assert "Symmetric and positive semi-definite" in found(dataset, "ok", "good")
    sentence = found(dataset, "problem", "wrong")
    assert "smallest eigenvalue is -5.0e+00" in sentence
    assert all(repair in sentence for repair in ("clip", "flip", "shift"))
    assert "must be symmetric" in found(dataset, "problem", "bent")
    assert "must not be negative" in found(dataset, "problem", "far")


def test_a_table_that_may_be_a_kernel_is_named(rng):
    A = rng.normal(size=(N, 4))
    K = A @ A.T
    odd = K.copy()
    odd[3, 5] += 0.05
    tables = {"odd": odd, "even": K, "noise": rng.normal(size=(N, N))}
    dataset = Dataset({name: pd.DataFrame(M, index=IDS) for name, M in tables.items()})
    said = f"all but 2 of {N * N:,} entries equal their mirror images: if it is a kernel matrix, it"
    assert said in found(dataset, "warning", "odd")
    assert not found(dataset, "warning", "even")
    assert not found(dataset, "warning", "noise")


def test_what_a_kernel_lacks_is_said_once(rng):
    A = rng.normal(size=(N, 4))
    for value in (np.nan, np.inf):
        K = pd.DataFrame(A @ A.T, index=IDS, columns=IDS)
        K.iloc[3, 7] = K.iloc[7, 3] = value
        findings = check_sources(Dataset({"K": K}, kinds={"K": "kernel"})).findings
        about = [f.sentence for f in findings if f.subject == "K" and f.severity != "ok"]
        assert len(about) == 1
        said = "'K' contains NaN or infinity, first at row 3, column 7 (from 0). "
        assert about[0].startswith(said)


def test_sources_of_different_kinds_are_a_problem(rng):
    A = pd.DataFrame(rng.normal(size=(N, 3)), index=IDS)
    K = pd.DataFrame(A.to_numpy() @ A.to_numpy().T, index=IDS, columns=IDS)
    dataset = Dataset({"rna": A, "K": K}, kinds={"K": "kernel"})
    sentence = found(dataset, "problem", "sources")
    assert sentence.startswith("The sources are of different kinds (features, kernel)")
    with pytest.raises(InputError, match="different kinds"):
        dataset.align()
    assert not found(Dataset({"rna": A}), "problem", "sources")


@pytest.mark.parametrize("level", [0.0, 1.0, 1e8])
def test_matrices_in_which_all_samples_are_alike(level):
    frame = pd.DataFrame(np.full((N, N), level), index=IDS, columns=IDS)
    other = frame + level * 1e-3 * np.eye(N)
    tables = {"flat": frame, "near": 0 * frame, "other": other}
    dataset = Dataset(tables, kinds={"flat": "kernel", "near": "distance", "other": "kernel"})
    for name in ("flat", "near"):
        assert "All samples are alike" in found(dataset, "problem", name)
    assert ("alike" in found(dataset, "problem", "other")) == (level == 0)


def test_near_duplicates_are_named_and_wide_noise_is_not(rng):
    rna = table(rng, 300)
    tables = {
        "rna": rna,
        "again": (3 * rna + 1 + 0.02 * table(rng, 300)).iloc[::-1],
        "noise": table(rng, 3000),
        "more": table(rng, 3000),
        "gram": pd.DataFrame(rna @ rna.T, index=IDS, columns=IDS),
    }
    check = check_sources(study(rng, tables=tables, kinds={"gram": "kernel"}))
    named = {f.subject for f in check.findings if "Nearly the same" in f.sentence}
    assert "rna, again" in named
    assert not any("noise" in pair or "more" in pair for pair in named)


def test_more_kernels_than_samples_and_than_memory(rng, monkeypatch):
    kernels = {"rna": [RBF(width=list(np.linspace(0.1, 9, 70)))]}
    dataset = study(rng, kernels=kernels)
    sentence = found(dataset, "warning", "kernels")
    assert sentence.startswith("60 samples, 74 kernels: single weights are not identifiable")
    need = 74 * 60 * 61 / 2 * 8
    assert "74 kernels of 60 samples need 1.08 MB" in found(dataset, "ok", "memory")
    monkeypatch.setattr(_check_kernels, "available_memory", lambda: 1.5 * need)
    assert "need 1.08 MB" in found(dataset, "warning", "memory")
    monkeypatch.setattr(_check_kernels, "available_memory", lambda: 0.5 * need)
    problem = found(dataset, "problem", "memory")
    assert "but 542 kB are free; use fewer kernels" in problem
    assert "Nystroem" not in problem  # so few samples would not be kept as its columns


def test_a_thousand_samples_and_ten_thousand_columns_take_seconds(rng):
    """Measured in processor time of this process, which other processes do not lengthen."""
    ids = [f"s{i}" for i in range(1000)]
    tables = {f"source{k}": table(rng, 2000, ids) for k in range(5)}
    y = pd.Series(np.arange(1000) % 3, index=ids, name="state")
    start = time.process_time()
    assert check_sources(Dataset(tables, y=y, task="classification")).ok
    assert time.process_time() - start < 5


# ---- what can be checked -----------------------------------------------------------------------


def test_classes_that_differ_in_case_or_spaces(rng):
    y = pd.Series(["LumA", "LumB"] * (N // 2), index=IDS, name="state")
    y.iloc[0], y.iloc[1], y.iloc[3] = "lumA", "Lum B", "Lum B"
    sentence = found(study(rng, y=y), "warning", "target")
    assert "The classes 'LumA' (29 samples), 'lumA' (1 sample) differ only in case" in sentence
    assert "'LumB' (28 samples), 'Lum B' (2 samples)" in sentence


def test_a_path_is_read_and_checked(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("multikernel.files._check_kernels.available_memory", lambda: 1e10)
    tables = {"rna": table(rng), "pet": table(rng, prefix="v")}
    for name, frame in tables.items():
        frame.to_csv(tmp_path / f"{name}.csv", index_label="id")
    pd.DataFrame({"id": IDS, "y": ["a", "b"] * (N // 2)}).to_csv(tmp_path / "y.csv", index=False)
    check = check_sources(tmp_path, target="y:y")
    assert check.ok
    assert check.frame().equals(check_sources(read_sources(tmp_path, target="y:y")).frame())
    assert check_sources(str(tmp_path), target="y:y").ok


def test_blocks_by_name_are_checked(rng):
    y = ["a", "b"] * (N // 2)
    blocks = {"rna": table(rng), "pet": table(rng, prefix="v").sample(frac=1, random_state=0)}
    leaky = blocks | {"leak": table(rng).assign(copy=[c == "a" for c in y])}
    labels = pd.Series(y, index=IDS)
    check = check_sources(leaky, labels)
    assert not check.ok
    assert "Column 'copy' tells the target" in check.findings[0].sentence
    arrays = {"rna": rng.normal(size=(N, 3)), "pet": rng.normal(size=(N, 2))}
    assert check_sources(arrays, y).ok
    numbered = pd.Series(y)
    assert check_sources(arrays, numbered).ok
    assert numbered.index.equals(pd.RangeIndex(N))  # left as it was
    with pytest.raises(InputError, match="fit no order of samples that all sources share"):
        check_sources(blocks, y)
    with pytest.raises(InputError, match="Source 'dna' is no table"):
        check_sources({"dna": ["GAT", "TAC"]})


def test_a_bundle_with_absent_samples_is_checked(rng):
    tables = {"rna": table(rng), "pet": table(rng, ids=IDS[10:], prefix="v")}
    sentences = check_sources(ViewBundle.align(tables)).frame()["sentence"].tolist()
    assert any("50 of 60 samples are in every source; 10 lack pet." in s for s in sentences)


def test_what_cannot_be_checked_is_said(rng):
    with pytest.raises(InputError, match=r"got DataFrame; for one table write \{'name': table\}"):
        check_sources(table(rng))
    with pytest.raises(InputError, match="A Dataset has its own target"):
        check_sources(study(rng), target="y")
