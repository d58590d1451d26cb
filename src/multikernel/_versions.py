"""Versions of Python and of the packages that results depend on."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib import metadata

PACKAGES = ("multikernel", "numpy", "scipy", "scikit-learn")


def installed_versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The version of every package, "unknown" where it is run from its source.

    Examples
    --------
    >>> list(installed_versions(["numpy"]))
    ['numpy']
    """
    return {name: _version(name) for name in packages}


def python_version() -> str:
    """The version of Python."""
    return platform.python_version()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
