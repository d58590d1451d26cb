"""Versions: who wrote a model file, in which format, and what to say if that is not us."""

from __future__ import annotations

from typing import Any

from .._versions import installed_versions
from .._warnings import warn

FORMAT = 1  # of our files; to be raised when older libraries could not read them
_PACKAGES = ("multikernel", "scikit-learn", "numpy")


def stamp(model: Any) -> dict[str, Any]:
    """What a file says about itself: its format, its model and the versions that wrote it."""
    return {"format": FORMAT, "model": type(model).__name__, "versions": current_versions()}


def current_versions() -> dict[str, str]:
    """The versions of the libraries that predictions depend on."""
    return installed_versions(_PACKAGES)


def check_format(written: dict[str, Any], name: str) -> None:
    """Refuse a file of a format that this library does not know."""
    if written["format"] > FORMAT:
        theirs = written["versions"].get("multikernel")
        ours = current_versions()["multikernel"]
        raise ValueError(
            f"{name} has format {written['format']} of multikernel {theirs}, but "
            f"multikernel {ours} reads formats up to {FORMAT}: upgrade "
            "multikernel to load it."
        )


def warn_of_differences(written: dict[str, Any], name: str) -> None:
    """Warn where the versions that wrote a file differ from those at hand."""
    ours, theirs = current_versions(), written["versions"]
    differ = [package for package in _PACKAGES if theirs.get(package) != ours[package]]
    if differ:
        saved = ", ".join(f"{package} {theirs.get(package)}" for package in differ)
        here = ", ".join(f"{package} {ours[package]}" for package in differ)
        warn(
            f"{name} was saved with {saved} and is loaded with {here}: predictions may differ; "
            "check them, or fit and save the model again.",
            UserWarning,
        )
