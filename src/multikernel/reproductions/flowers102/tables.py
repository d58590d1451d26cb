"""The table of the 102 flowers, in the layout of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from ...displays._style import INK, PALETTE, quiet_axes
from ...report import Section
from ..base import Summary
from .models import MULTIPLE, SINGLE

# Table 2 of the paper: AUC, EER, accuracy; the first is the Gaussian process of its reference 11
PEER = "Gaussian process, as quoted"
PAPER = {
    PEER: ("0.952", "0.107", "40.0"),
    SINGLE: ("0.977", "0.060", "68.8"),
    MULTIPLE: ("0.977", "0.062", "69.3"),
}
Results = Mapping[str, Sequence[dict[str, Any]]]


def summarize(groups: Results, y: Any, names: Sequence[str]) -> Summary:
    """Three measures beside those of the paper, and the weights."""
    found = {method: measures(scores_of(results), y) for method, results in groups.items()}
    rows = [{"method": PEER} | _paper(PEER)]
    for method, results in groups.items():
        seconds = sum(r["seconds"] for r in results)
        notes = [r["note"] for r in results]
        rows.append(
            {
                "method": method,
                "AUC": f"{found[method]['auc'].mean():.3f}",
                "EER": f"{found[method]['eer'].mean():.3f}",
                "accuracy": f"{100 * found[method]['accuracy']:.1f}",
                **_paper(method),
                "C": "" if results[0]["C"] is None else f"{results[0]['C']:g}",
                "fit, s": f"{seconds:.3g}",
                "certificate": ", ".join(
                    f"{notes.count(note)} {note}" if len(notes) > 1 else note
                    for note in dict.fromkeys(notes)
                ),
            }
        )
    table = Section(
        "Table 2",
        (f"{len(y)} test images of {len(np.unique(y))} classes.",),
        {key: [row.get(key, "") for row in rows] for key in rows[1]},
        "Area under the ROC curve and equal error rate, means over classes; accuracy in percent.",
        _draw(found),
        "Area under the curve of every class, sorted, for all methods",
    )
    return Summary(_findings(found), [table, _weights(groups, names)])


def scores_of(results: Sequence[dict[str, Any]]) -> Any:
    """Scores of shape (n_images, n_classes), from one model of all or from one of each."""
    if len(results) == 1:
        return np.array(results[0]["scores"])
    return np.stack([result["scores"] for result in results], axis=1)


def measures(scores: Any, y: Any) -> dict[str, Any]:
    """Accuracy of the largest score; area and equal error rate of every class."""
    classes = range(scores.shape[1])
    return {
        "accuracy": float(np.mean(scores.argmax(axis=1) == y)),
        "auc": np.array([roc_auc_score(y == c, scores[:, c]) for c in classes]),
        "eer": np.array([equal_error_rate(y == c, scores[:, c]) for c in classes]),
    }


def equal_error_rate(positive: Any, scores: Any) -> float:
    """Where as large a share of positives is missed as of negatives is taken in.

    Examples
    --------
    >>> import numpy as np
    >>> equal_error_rate(np.array([True, True, False, False]), np.array([3.0, 1.0, 2.0, 0.0]))
    0.5
    """
    taken_in, found, _ = roc_curve(positive, scores, drop_intermediate=False)
    missed = 1 - found
    k = int(np.argmax(taken_in >= missed))  # the first point beyond the crossing
    if k == 0:
        return float(taken_in[0])
    before, after = missed[k - 1] - taken_in[k - 1], taken_in[k] - missed[k]
    share = before / (before + after)
    return float(taken_in[k - 1] + share * (taken_in[k] - taken_in[k - 1]))


def _paper(method: str) -> dict[str, str]:
    values = PAPER.get(method, ("", "", ""))
    return dict(zip(("paper: AUC", "paper: EER", "paper: accuracy"), values, strict=True))


def _weights(groups: Results, names: Sequence[str]) -> Section:
    table: dict[str, list[Any]] = {"method": list(groups)}
    for m, name in enumerate(names):
        shares = [np.mean([r["weights"][m] for r in results]) for results in groups.values()]
        table[name] = [f"{100 * share:.0f}" for share in shares]
    caption = "Shares of the weights in percent, averaged over classes."
    return Section("Weights of the kernels", table=table, caption=caption)


def _findings(found: Mapping[str, dict[str, Any]]) -> list[str]:
    accuracy = {method: 100 * values["accuracy"] for method, values in found.items()}
    return [
        f"One Bayesian model per class is right in {accuracy[SINGLE]:.1f} %, one whose classes "
        f"share their kernel weights in {accuracy[MULTIPLE]:.1f} % (the paper, on the authors' "
        "distances: 68.8 and 69.3).",
        f"MKL with equal weights is right in {accuracy['MKL, equal weights']:.1f} %, with learned "
        f"ones in {accuracy['MKL, p = 1']:.1f} % (1-norm).",
    ]


def _draw(found: Mapping[str, dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    ax = figure.add_subplot()
    for k, (method, values) in enumerate(found.items()):
        area = np.sort(values["auc"])
        ax.plot(np.arange(1, len(area) + 1), area, color=PALETTE[k], label=method, linewidth=1.6)
    ax.set(xlabel="classes, the hardest first", ylabel="area under the ROC curve")
    quiet_axes(ax, grid="y")
    ax.legend(frameon=False, fontsize=8, labelcolor=INK, loc="lower right")
    return figure
