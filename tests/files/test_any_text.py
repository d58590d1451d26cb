"""Whatever stands in a file, the answer is a data set or one sentence, and never another error."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from multikernel import check_sources, read_sources
from multikernel.files import InputError
from multikernel.files.formats import READERS

PLAIN = settings(
    deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FIELDS = st.sampled_from(
    ["", "1", "2.5", "-3", "a", "b", "id", "target", "NA", "inf", "nan", "1e400", "True", "é", " ",
     "2001-02-03", '"x,y"', '"', "0", "001", "1,5", "=2"]
)  # fmt: skip
ROWS = st.lists(st.lists(FIELDS, min_size=1, max_size=4), min_size=1, max_size=8)


def read_or_refuse(path):
    complaint = ""
    try:
        str(check_sources(read_sources(path)))
    except InputError as error:
        complaint = str(error)
    assert "\n" not in complaint
    assert len(complaint) < 400


@PLAIN
@given(rows=ROWS, separator=st.sampled_from([",", ";", "\t", " ", "|"]))
def test_rows_of_fields(tmp_path, rows, separator):
    path = tmp_path / "x.csv"
    path.write_text("\n".join(separator.join(row) for row in rows), encoding="utf-8")
    read_or_refuse(path)


@PLAIN
@given(
    columns=st.lists(st.lists(FIELDS, min_size=5, max_size=5), min_size=1, max_size=4),
    twice=st.booleans(),
)
def test_regular_tables(tmp_path, columns, twice):
    ids = ["p", "q", "r", "s", "s" if twice else "t"]
    rows = [["id", *(f"c{j}" for j in range(len(columns)))]]
    rows += [
        [i, *(c.replace('"', "") for c in row)]
        for i, row in zip(ids, zip(*columns, strict=True), strict=True)
    ]
    path = tmp_path / "x.csv"
    path.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8")
    read_or_refuse(path)


@pytest.mark.parametrize("suffix", READERS)
@settings(PLAIN, max_examples=15)
@given(data=st.binary(max_size=60))
def test_bytes(tmp_path, suffix, data):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(data)
    read_or_refuse(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@settings(PLAIN, max_examples=25)
@given(position=st.integers(0, 400), byte=st.integers(0, 255))
def test_one_wrong_byte(tmp_path, suffix, position, byte):
    path = tmp_path / f"x{suffix}"
    (np.save if suffix == ".npy" else np.savez)(path, np.arange(12.0).reshape(4, 3))
    content = bytearray(path.read_bytes())
    content[position % len(content)] = byte
    path.write_bytes(bytes(content))
    read_or_refuse(path)
