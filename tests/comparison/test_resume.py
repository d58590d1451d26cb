"""A comparison killed at any moment goes on where it was, and ends with the same result."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from comparison.resume_problem import content, finished, run

import multikernel
from multikernel.comparison import Comparison, tasks
from multikernel.comparison.whole import WholeFit

SCRIPT = Path(__file__).with_name("resume_problem.py")


def start(store, output):
    package = str(Path(multikernel.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": package, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-W", "error", SCRIPT, store, output], env=env)


@pytest.fixture(scope="module")
def whole():
    """The result of a run that nothing interrupts."""
    return run(None)


def test_all_but_seconds_is_compared(whole):
    slow = [result | {"seconds": 1e6} for result in whole.results]
    course = {"history": whole.whole["history"] | {"seconds": [1e6]}, "seconds": 1e6}
    slower = replace(whole, results=slow, whole=whole.whole | course)
    assert content(slower) == content(whole)
    failure = {"model": whole.models[0], "fold": 0, "error": "no reason"}
    for other in ({"whole": None}, {"failures": [failure]}, {"overlap": []}, {"ids": []}):
        assert content(replace(whole, **other)) != content(whole)


def test_a_killed_run_resumes_to_the_same_result(tmp_path, whole):
    """SIGKILL, at a random moment after a random number of fits, three times."""
    store, output = tmp_path / "store", tmp_path / "result.json"
    store.mkdir()
    draw = random.Random(0)
    for _ in range(3):
        before = len(finished(store))
        wanted = min(before + draw.randint(1, 12), len(whole.results) - 1)
        process = start(store, output)
        while len(finished(store)) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.1))
        process.kill()
        process.wait()
        assert all("task" in json.loads(path.read_text()) for path in finished(store))
    assert 0 < len(finished(store)) < len(whole.results)
    assert start(store, output).wait() == 0
    assert content(Comparison.load(output)) == content(whole)
    assert len(finished(store)) == len(whole.results) + 1  # and the fit to all samples


def test_only_what_is_missing_is_done_again(tmp_path, whole, monkeypatch):
    store = tmp_path / "store"
    assert content(run(store)) == content(whole)
    lost = sorted(finished(store))[::7]
    for path in lost:
        path.rename(path.with_name(f".{path.name}.0123abcd.part"))  # as a killed run leaves it
    done = []
    for kind in (tasks.Task, WholeFit):
        monkeypatch.setattr(
            kind, "run", lambda t, d, original=kind.run: done.append(t.key) or original(t, d)
        )
    assert content(run(store)) == content(whole)
    assert len(done) == len(lost)


def test_two_runs_in_one_folder_do_no_harm(tmp_path, whole):
    processes = [start(tmp_path / "store", tmp_path / f"{k}.json") for k in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    for k in range(2):
        assert content(Comparison.load(tmp_path / f"{k}.json")) == content(whole)


def test_other_data_in_the_same_folder_are_refused(tmp_path, whole):
    store = tmp_path / "store"
    store.mkdir()
    (store / "plan.json").write_text(json.dumps(whole.plan | {"data": "of others"}))
    with pytest.raises(ValueError, match="holds a run with other data; continue with"):
        run(store)
    (store / "plan.json").write_text(json.dumps(whole.plan | {"settings": "of others"}))
    with pytest.raises(ValueError, match="holds a run with other settings; continue with"):
        run(store)
    (store / "plan.json").write_text(json.dumps(whole.plan | {"format": 1}))
    with pytest.raises(ValueError, match="holds a run with other format; continue with"):
        run(store)
