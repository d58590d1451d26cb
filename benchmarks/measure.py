"""Time, memory and machine: what is measured and where (numpy and the standard library only)."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Run:
    """What one call returned and cost; memory is None where the system does not tell the peak."""

    result: Any
    cpu: float
    wall: float
    extra_bytes: int | None


def run_once(call: Callable[[], Any], cpu_limit: float | None = None) -> Run:
    """Call once, with its time and with the peak of memory above what was in use before."""
    before = _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    with _time_limit(cpu_limit):
        result = call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = _resident("VmHWM")
    extra = None if before is None or peak is None else peak - before
    return Run(result, cpu, wall, extra)


def best_of(
    call: Callable[[], Any], repeats: int, cpu_limit: float | None = None, slow: float | None = None
) -> Run:
    """The least times over repeats and the largest memory; a slow call is not repeated."""
    best = run_once(call, cpu_limit)
    for _ in range(repeats - 1):
        if slow is not None and best.cpu > slow:
            break
        run = run_once(call, cpu_limit)
        best.cpu, best.wall = min(best.cpu, run.cpu), min(best.wall, run.wall)
        if run.extra_bytes is not None:
            best.extra_bytes = max(best.extra_bytes or 0, run.extra_bytes)
    return best


@contextmanager
def _time_limit(cpu_seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError after so much processor time, where the system has such an alarm."""
    if cpu_seconds is None or not hasattr(signal, "ITIMER_PROF"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"stopped after {cpu_seconds:.1f} s")

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _reset_peak() -> int | None:
    """Give free memory back, reset the peak of the resident set and return its size (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)  # else a fit could hide in memory freed before it
    try:
        _CLEAR.write_text("5")
    except OSError:
        return None
    return _resident("VmRSS")


def _resident(field: str) -> int | None:
    if not _STATUS.exists():
        return None
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text())
    return int(found[1]) * 1024 if found else None


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system and Python."""
    return {
        "processor": _first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)")
        or platform.processor(),
        "cores": os.cpu_count(),
        "memory_GiB": round(
            int(_first_match("/proc/meminfo", r"MemTotal:\s+(\d+)") or 0) / 2**20, 1
        ),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def available_bytes() -> float:
    """Memory that can still be had; infinite where the system does not tell."""
    kilobytes = _first_match("/proc/meminfo", r"MemAvailable:\s+(\d+)")
    return int(kilobytes) * 1024 if kilobytes else float("inf")


def _first_match(path: str, pattern: str) -> str | None:
    with suppress(OSError):
        found = re.search(pattern, Path(path).read_text())
        return found[1] if found else None
    return None
