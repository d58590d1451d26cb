"""Packages that commands need beyond the core: named before any work is done."""

from __future__ import annotations

from importlib.util import find_spec


def missing_packages(*names: str) -> list[str]:
    """Those of the packages that are not installed."""
    return [name for name in names if find_spec(name) is None]


def need(command: str, *names: str) -> None:
    """Raise ImportError, with what to type, where a command lacks packages."""
    if absent := missing_packages(*names):
        needs = f"multikernel {command} needs {', '.join(absent)}"
        raise ImportError(f"{needs}: pip install 'multikernel[cli]'")
