"""Other libraries, each in an environment of its own that is made when it is first needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from certificate import bounds
from measure import available_bytes
from workloads import Workload

_HERE = Path(__file__).parent
_ENVIRONMENTS = _HERE / ".envs"


@dataclass(frozen=True)
class Peer:
    """A model of another library.

    Attributes
    ----------
    name : str
        Its key in ``peer_fits.FITS``.
    environment : str
        Folder of its environment.
    packages : tuple of str
        What pip installs there.
    model : str
        What the table says it solves.
    memory : float
        Peak memory in units of the square bank, as seen before; a peer that would not fit is left
        out.
    C : float
        Inverse regularization, where the model has one.
    labels_only : bool
        Whether it is a classifier.
    objective : tuple of str, optional
        Loss and regularizer, where the model minimises our objective, without intercept.
    """

    name: str
    environment: str
    packages: tuple[str, ...]
    model: str
    memory: float
    C: float = 1.0
    labels_only: bool = True
    objective: tuple[str, str] | None = None


PEERS = [
    Peer(
        "himalaya",
        "himalaya",
        ("himalaya", "packaging"),
        "ridge, 20 random mixtures × 10 penalties × 5 folds",
        memory=3.2,
        labels_only=False,
    ),
    Peer(
        "scikit-multimodallearn",
        "multimodal",
        ("scikit-multimodallearn",),
        "squared, l2 ball, C = 1, no intercept",
        memory=6.2,
        objective=("squared", "l2 ball"),
    ),
    *(
        Peer(
            f"MKLpy {method}",
            "mklpy",
            ("MKLpy", "torch==2.13.0"),
            f"{rule} weights, then SVC, C = 10",
            memory=1.2,
            C=10.0,
        )
        for method, rule in (("EasyMKL", "margin"), ("AverageMKL", "uniform"))
    ),
]


@contextmanager
def stored(w: Workload) -> Iterator[Path]:
    """The arrays of a workload in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="multikernel-benchmark-") as name:
        folder = Path(name)
        for field in ("K", "K_test", "y", "y_test"):
            np.save(folder / f"{field}.npy", getattr(w, field))
        yield folder


def run_peer(peer: Peer, w: Workload, folder: Path, threads: int, limit: float) -> dict[str, Any]:
    """The row of one peer: its times, memory and score, or why there are none."""
    row = {"workload": w.name, "peer": peer.name, "model": peer.model}
    needed = peer.memory * w.K.nbytes + w.K_test.nbytes
    if needed > available_bytes():
        return row | {"error": f"needs about {needed / 1e9:.0f} GB of memory"}
    try:
        python = _environment(peer)
        command = [str(python), str(_HERE / "peer_fits.py"), peer.name, str(folder), str(peer.C)]
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=limit,
            env=_with_threads(threads),
        )
    except subprocess.TimeoutExpired:
        return row | {"error": f"stopped after {limit:.0f} s"}
    except subprocess.CalledProcessError as failure:
        lines = (failure.stderr or failure.stdout or "no output").strip().splitlines()
        return row | {"error": lines[-1][:200]}
    row |= json.loads(done.stdout.splitlines()[-1])
    machine = folder / "machine.npz"
    if peer.objective and machine.exists():
        with np.load(machine) as found:
            triple = (found["weights"], found["alpha"], 0.0)
        row["objective"], _ = bounds(w, *peer.objective, peer.C, triple, intercept=False)
    return row


def _environment(peer: Peer) -> Path:
    """The interpreter of the peer's environment, made on first use."""
    root = _ENVIRONMENTS / peer.environment
    python = root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = root / "installed.txt"
    wanted = "\n".join(peer.packages)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"  installing {' '.join(peer.packages)} into {root}", flush=True)
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(root)],
            [str(python), "-m", "pip", "install", "--quiet", *peer.packages],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True)
        stamp.write_text(wanted)
    return python


def _with_threads(threads: int) -> dict[str, str]:
    """The variables of this process with the number of threads set."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return clean | dict.fromkeys(names, str(threads))
