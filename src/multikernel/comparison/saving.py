"""A comparison in a file: written as JSON, and looked through when it is read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_atomically

RESULTS_FORMAT = 6  # of what is kept of a fit
FILE_NAME = "comparison.json"  # in a folder
_NUMBER = (int, float)
_NOTHING = type(None)

# What a comparison holds, by name.
_FIELDS: dict[str, Any] = {
    "task": str,
    "scoring": str,
    "sources": list,
    "samples": dict,
    "n_samples": int,
    "n_complete": int,
    "n_folds": int,
    "results": list,
    "rope": _NUMBER,
    "headline": str,
    "complete": bool,
    "failures": list,
    "plan": dict,
    "ids": list,
    "targets": list,
    "whole": (dict, _NOTHING),
    "overlap": list,
    "constant": list,
}

# What every result holds, by name.
_ENTRIES: dict[str, Any] = {
    "model": str,
    "role": str,
    "source": (str, _NOTHING),
    "fold": int,
    "seed": (int, _NOTHING),
    "score": (*_NUMBER, _NOTHING),
    "scores_having": dict,
    "seconds": _NUMBER,
    "n_train": int,
    "n_test": int,
    "test": list,
    "predictions": list,
    "confidence": (list, _NOTHING),
    "permuted": (dict, _NOTHING),
    "contributions": (dict, _NOTHING),
    "warnings": list,
    "weights": (list, _NOTHING),
    "class_weights": (list, _NOTHING),
    "kernels": (list, _NOTHING),
    "shares": (dict, _NOTHING),
    "trace": (dict, _NOTHING),
    "n_active": (int, _NOTHING),
    "chosen": dict,
    "reason": str,
    "solver": (str, _NOTHING),
    "gap": (*_NUMBER, _NOTHING),
    "converged": (bool, _NOTHING),
    "n_iter": (int, _NOTHING),
}


def as_json(value: Any) -> Any:
    """A parameter or an id as JSON has it, or as it prints."""
    value = value.item() if isinstance(value, np.generic) else value
    plain = isinstance(value, str | int | None) or (isinstance(value, float) and isfinite(value))
    return value if plain else repr(value)


def without_infinities(value: Any) -> Any:
    """Lists, dicts and plain values in which None stands for numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: without_infinities(part) for key, part in value.items()}
    if isinstance(value, list):
        return [without_infinities(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def with_infinities(whole: dict[str, Any] | None) -> dict[str, Any] | None:
    """The fit to all samples as it was: the gap is infinite before there is a certificate."""
    if whole is None or "history" not in whole:
        return whole
    history = {
        name: [(inf if name == "gap" else nan) if value is None else value for value in values]
        for name, values in whole["history"].items()
    }
    return whole | {"history": history}


def write_content(path: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the fields of a comparison, whole or not at all."""
    content = without_infinities({"format": RESULTS_FORMAT, **content})
    write_atomically(Path(path), json.dumps(content, allow_nan=False).encode("utf-8"))
    return Path(path)


def read_content(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of a comparison, from its file or the folder that it is in."""
    path = _find(Path(path))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _refusal(path, "it cannot be read as JSON") from error
    if not isinstance(content, dict):
        raise _refusal(path, "it holds no fields")
    if "task" in content and content.get("format") != RESULTS_FORMAT:
        raise ValueError(f"{path} was saved by another version of multikernel; compare again.")
    content.pop("format", None)
    if fault := _fault(content, _FIELDS):
        raise _refusal(path, fault)
    constant = [isinstance(score, float) for score in content["constant"]]
    if constant and not (len(constant) == content["n_folds"] and all(constant)):
        raise _refusal(path, "'constant' has not a score for every fold")
    for k, result in enumerate(content["results"]):
        if fault := _result_fault(result, content):
            raise _refusal(path, f"in result {k} {fault}")
    return content | {"whole": with_infinities(content["whole"])}


def _find(path: Path) -> Path:
    found = path / FILE_NAME if path.is_dir() else path
    if not found.is_file():
        where = f"{path} holds no {FILE_NAME}" if path.is_dir() else f"There is no file {path}"
        raise FileNotFoundError(f"{where}; Comparison.save writes one.")
    return found


def _result_fault(result: Any, content: Mapping[str, Any]) -> str | None:
    """What is wrong with a result, None if nothing is."""
    if not isinstance(result, dict):
        return "there are no fields"
    if fault := _fault(result, _ENTRIES):
        return fault
    if not 0 <= result["fold"] < content["n_folds"]:
        return f"'fold' is {result['fold']} of {content['n_folds']}"
    if len(result["test"]) != len(result["predictions"]):
        return "there are not as many predictions as test samples"
    n_samples = content["n_samples"]
    if not all(isinstance(i, int) and 0 <= i < n_samples for i in result["test"]):
        return "'test' names samples that are not there"
    kernels = result["kernels"]
    if kernels is not None and len(result["weights"] or []) != len(kernels):
        return "there are not as many weights as kernels"
    return None


def _fault(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first field that is not there, or not what it should be."""
    for name, kinds in wanted.items():
        if name not in given:
            return f"{name!r} is not there"
        if not isinstance(given[name], kinds) or (isinstance(given[name], bool) and kinds is int):
            return f"{name!r} is not what it should be"
    if unknown := [name for name in given if name not in wanted]:
        return f"{unknown[0]!r} is not known"
    return None


def _refusal(path: Path, fault: str) -> ValueError:
    return ValueError(f"{path} is not a comparison that was saved here, or was damaged: {fault}.")
