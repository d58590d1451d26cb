"""Real data sets are read from their original files, as the page on files says."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from multikernel import check_sources, read_sources

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data sets at {DATA}"),
]


def beside(folder, tmp_path, heading):
    """The TOML text of the page under a heading, in a file beside links to the data."""
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    block = re.search(rf"{heading}.*?```toml\n(.*?)```", page, flags=re.DOTALL)
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "study.toml").write_text(block.group(1), encoding="utf-8")
    return tmp_path / "study.toml"


def sentences(check):
    return " ".join(finding.sentence for finding in check.findings)


def test_tumours_of_which_some_lack_proteins(tmp_path):
    folder = DATA / "breast_tcga"
    data = read_sources(beside(folder, tmp_path, "Training and test part"))
    assert {name: t.shape for name, t in data.tables.items()} == {
        "mrna": (220, 200),
        "mirna": (220, 184),
        "protein": (150, 142),
    }
    assert data.y.value_counts().to_dict() == {"LumA": 110, "Basal": 66, "Her2": 44}
    theirs = pd.read_csv(folder / "test_mrna.csv", index_col=0)
    pd.testing.assert_frame_equal(data.tables["mrna"].loc[theirs.index], theirs)
    labels = pd.read_csv(folder / "test_subtype.csv")["subtype"].to_numpy()
    assert np.array_equal(data.y.loc[theirs.index], labels)
    check = check_sources(data)
    assert check.ok
    assert "150 of 220 samples are in every source and have a target; 70 lack protein." in (
        sentences(check)
    )
    X, y, _ = data.align()
    assert X.has("protein").sum() == 150
    assert len(X) == len(y) == 220


def test_tumours_from_the_folder_itself():
    sources = ["train_mrna", "train_mirna", "train_protein"]
    data = read_sources(DATA / "breast_tcga", target="train_subtype", sources=sources)
    assert data.y.value_counts().to_dict() == {"LumA": 75, "Basal": 45, "Her2": 30}
    assert check_sources(data).ok
    assert "train_subtype.csv has no sample ids" in " ".join(data.notes)


def test_digits_of_one_matlab_file(tmp_path):
    data = read_sources(DATA / "mfeat" / "HW.mat", target="Y")
    assert {name: t.shape[1] for name, t in data.tables.items()} == {
        "X1": 216, "X2": 76, "X3": 64, "X4": 6, "X5": 240, "X6": 47,
    }  # fmt: skip
    assert data.y.value_counts().to_dict() == dict.fromkeys(range(1, 11), 200)
    assert data.task == "classification"
    check = check_sources(data)
    assert check.ok
    named = read_sources(beside(DATA / "mfeat", tmp_path, "Arrays of one file"))
    assert list(named.tables) == ["fac", "fou", "kar", "mor", "pix", "zer"]
    for ours, theirs in zip(named.tables.values(), data.tables.values(), strict=True):
        np.testing.assert_array_equal(ours.to_numpy(), theirs.to_numpy())
