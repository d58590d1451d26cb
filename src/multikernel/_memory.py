"""Memory: what a computation will need, checked before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def format_bytes(n_bytes: float) -> str:
    """A size as people write it.

    Examples
    --------
    >>> format_bytes(4e11)
    '400 GB'
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n_bytes < 1000 or unit == "TB":
            break
        n_bytes /= 1000
    return f"{n_bytes:.3g} {unit}"


def available_memory() -> float:
    """Bytes this process may still use: physical memory or the container's limit, the smaller."""
    limits = [float("inf")]
    if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    for name in _CGROUP_LIMITS:
        path = Path(name)
        if path.is_file() and (text := path.read_text().strip()).isdigit():
            limits.append(float(text))
    return min(limits)


def check_memory(n_bytes: float, what: str) -> None:
    """Raise MemoryError, with the sum in the message, before an allocation that cannot succeed."""
    limit = available_memory()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} need {format_bytes(n_bytes)}, but this machine has {format_bytes(limit)}; "
            "use fewer kernels or samples, dtype=float32 (half of it), or low-rank kernels."
        )
