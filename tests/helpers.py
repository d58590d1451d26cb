"""What the tests share: instances of every registered part, targets, slopes, snippets of pages."""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def instances(registry: Mapping[str, type], *needs: str) -> list[Any]:
    """Every registered part at every setting worth testing that has the methods needed."""
    parts = [cls(**kw) for cls in dict.fromkeys(registry.values()) for kw in cls.examples]
    return [part for part in parts if all(hasattr(part, name) for name in needs)]


def draw_targets(y_domain: str, rng: np.random.Generator, n: int, n_outputs: int = 1) -> np.ndarray:
    """Random targets of shape (n, n_outputs) in the domain of a loss."""
    if y_domain == "sign":
        return np.where(rng.random((n, n_outputs)) < 0.5, -1.0, 1.0)
    if y_domain == "onehot":
        return np.eye(n_outputs)[rng.integers(n_outputs, size=n)]
    return rng.normal(size=(n, n_outputs))


def central_difference(
    function: Callable[[np.ndarray], Any], x: np.ndarray, eps: float = 1e-6
) -> np.ndarray:
    """Elementwise slope of an elementwise function."""
    return (function(x + eps) - function(x - eps)) / (2 * eps)


def numeric_gradient(
    function: Callable[[np.ndarray], float], x: np.ndarray, eps: float = 1e-6
) -> np.ndarray:
    """Gradient of a scalar function by central differences."""
    steps = eps * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(function(x + s) - function(x - s)) / (2 * eps) for s in steps]).reshape(
        x.shape
    )


def name_of(part: Any) -> str:
    """A test id that is the same in every process: a repr without memory addresses."""
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", repr(part))


def python_blocks(text: str) -> list[str]:
    """The blocks of Python in a page of Markdown."""
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def run_blocks(blocks: Sequence[str], page: str) -> str:
    """Run blocks, with prompts or without, in one namespace and return what went wrong."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return "".join(_run_block(block, names, page) for block in blocks)


def _run_block(source: str, names: dict[str, Any], page: str) -> str:
    if ">>> " not in source:
        exec(compile(source, page, "exec", dont_inherit=True), names)
        return ""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(source, names, page, page, 0)
    complaints: list[str] = []
    doctest.DocTestRunner(optionflags=flags).run(test, out=complaints.append, clear_globs=False)
    names.update(test.globs)
    return "".join(complaints)
