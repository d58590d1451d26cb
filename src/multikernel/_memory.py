"""Memory: what a computation will need, checked before it is allocated."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_CGROUPS = (
    (_CGROUP / "memory.max", _CGROUP / "memory.current"),
    (_CGROUP / "memory/memory.limit_in_bytes", _CGROUP / "memory/memory.usage_in_bytes"),
)


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
    """Bytes this process may still use: free memory or what the container allows, the smaller.

    Infinite where the system does not tell.
    """
    limits = [float("inf")]
    if _MEMINFO.is_file():
        rows = dict(line.split(":") for line in _MEMINFO.read_text().splitlines())
        limits.append(1024.0 * float(rows["MemAvailable"].split()[0]))
    for limit, usage in _CGROUPS:
        if limit.is_file() and usage.is_file() and (text := limit.read_text().strip()).isdigit():
            limits.append(float(text) - float(usage.read_text()))
    return min(limits)


LOW_RANK = 0.05  # columns per sample up to which linear kernels are kept as columns
_FEWER, _HALF = "use fewer kernels or samples", ", or dtype='float32', which takes half of it"
_COLUMNS = 100  # with which a kernel is approximated in an advice


def check_memory(n_bytes: float, what: str, advice: str = _FEWER + _HALF) -> None:
    """Raise MemoryError, with the sum in the message, before an allocation that cannot succeed."""
    limit = available_memory()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} need {format_bytes(n_bytes)}, but {format_bytes(limit)} are free; {advice}."
        )


def advise_on_grams(n_samples: int, n_kernels: int, itemsize: int = 8) -> str:
    """What to do where Gram matrices of so many bytes per number do not fit."""
    advice = _FEWER + _HALF * (itemsize == 8)
    if LOW_RANK * n_samples < _COLUMNS:  # so many columns would become Gram matrices again
        return advice
    columns = format_bytes(8.0 * n_kernels * n_samples * _COLUMNS)
    return (
        f"{advice}, or linear kernels on the columns of a Nystroem map in a SourcePreparation "
        f"({_COLUMNS} for each kernel take {columns})"
    )
