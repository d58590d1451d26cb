"""The folder of results: whole files, one plan, no harm from others."""

import json
import os
import threading
import time

import pytest

from multikernel._store import Store

PLAN = {"data": "d1", "folds": "f1", "models": "m1"}
RESULT = {"score": 0.1 + 0.2, "test": [1, 2], "name": "ä\n'\"/", "nothing": None}


def test_what_is_saved_is_loaded_by_the_next(tmp_path):
    Store(tmp_path / "new" / "folder", PLAN).save("task", RESULT)
    store = Store(tmp_path / "new" / "folder", PLAN)
    assert store.load("task") == RESULT
    assert store.load("another") is None


def test_no_folder_keeps_nothing():
    store = Store(None, PLAN)
    store.save("task", RESULT)
    assert store.load("task") is None


def test_another_plan_is_refused_and_nothing_changes(tmp_path):
    Store(tmp_path, PLAN).save("task", RESULT)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="holds a run with other data, models; continue"):
        Store(tmp_path, PLAN | {"data": "d2", "models": "m2"})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_results_of_another_plan_are_never_met(tmp_path):
    """Even if two comparisons begin in an empty folder at the same moment."""
    Store(tmp_path, PLAN).save("task", RESULT)
    (tmp_path / "plan.json").unlink()
    assert Store(tmp_path, PLAN | {"data": "d2"}).load("task") is None


@pytest.mark.parametrize("content", ["", '{"task": "ta', "[1, 2]", "{}", '{"task": "x"}'])
def test_a_corrupted_result_is_named(tmp_path, content):
    store = Store(tmp_path, PLAN)
    store.save("task", RESULT)
    (path,) = (p for p in tmp_path.iterdir() if p.name != "plan.json")
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{path.name} is not a result of ours; delete it"):
        store.load("task")


def test_a_corrupted_plan_is_named(tmp_path):
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(ValueError, match=r"plan\.json is not a result.*choose another folder"):
        Store(tmp_path, PLAN)


def test_drafts_of_a_killed_run_are_ignored(tmp_path):
    store = Store(tmp_path, PLAN)
    store.save("task", RESULT)
    (path,) = (p for p in tmp_path.iterdir() if p.name != "plan.json")
    draft = tmp_path / f".{path.name}.1234abcd.part"
    path.rename(draft)
    draft.write_bytes(draft.read_bytes()[:10])
    assert Store(tmp_path, PLAN).load("task") is None


def test_drafts_are_removed_when_no_process_can_still_write_them(tmp_path):
    Store(tmp_path, PLAN).save("task", RESULT)
    old, young = tmp_path / ".a.json.1234abcd.part", tmp_path / ".b.json.1234abcd.part"
    others = [tmp_path / ".notes.part", tmp_path / "c.json.1234abcd.part"]
    for path in (old, young, *others):
        path.write_text("{")
    for path in (old, *others):
        os.utime(path, (time.time() - 4000,) * 2)
    with pytest.raises(ValueError, match="holds a run with other data"):
        Store(tmp_path, PLAN | {"data": "d2"})
    assert old.exists()  # a folder that is refused stays as it is
    assert Store(tmp_path, PLAN).load("task") == RESULT
    assert not old.exists()
    assert young.exists()
    assert all(path.exists() for path in others)


def test_many_writers_leave_whole_files(tmp_path):
    def work():
        store = Store(tmp_path, PLAN)
        for k in range(20):
            store.save(f"task {k}", RESULT | {"k": k})
            assert store.load(f"task {k}")["k"] == k

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    store = Store(tmp_path, PLAN)
    assert [store.load(f"task {k}")["k"] for k in range(20)] == list(range(20))
    assert all(json.loads(path.read_text()) for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == 21
