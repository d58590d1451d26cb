"""How typical is the demo? Its models on 20 other draws: python docs/demo_draws.py"""

import numpy as np

from multikernel import compare
from multikernel.datasets.demo import draw_demo

SEEDS = range(100, 120)  # fixed before they were looked at
UNIFORM, LEARNED = "uniform sum", ("MKL, elastic net", "MKL, block 1-norm")


def main() -> None:
    """Print the accuracy on every draw and the lead over the uniform sum."""
    rows = []
    for seed in SEEDS:
        data = draw_demo(seed)
        result = compare(data.X, data.y, models=list(LEARNED), importance=False)
        rows.append([result.scores(name).mean() for name in (UNIFORM, *LEARNED)])
        print(seed, np.round(rows[-1], 3), flush=True)
    uniform, *learned = np.array(rows).T
    for name, scores in zip(LEARNED, learned, strict=True):
        lead = np.round(scores - uniform, 9)
        error = lead.std(ddof=1) / np.sqrt(len(lead))
        counts = f"{np.sum(lead > 0)} better, {np.sum(lead == 0)} equal, {np.sum(lead < 0)} worse"
        print(
            f"{name} minus {UNIFORM}: {lead.mean():+.4f} ± {error:.4f} (standard error), {counts}"
        )


if __name__ == "__main__":
    main()
