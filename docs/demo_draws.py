"""How typical is the demo? Its models on 20 other draws: python docs/demo_draws.py"""

import numpy as np

from multikernel.datasets.demo import draw_demo
from multikernel.report.demo import ELASTIC, SPARSE, UNIFORM, demo_models, score_model

SEEDS = range(100, 120)  # fixed before they were looked at


def main() -> None:
    """Print the accuracy on every draw and the lead over the uniform sum."""
    rows = []
    for seed in SEEDS:
        data = draw_demo(seed)
        models = demo_models(data.X.names)
        together = (UNIFORM, ELASTIC, SPARSE)
        rows.append([score_model(name, *models[name], data.X, data.y).mean for name in together])
        print(seed, np.round(rows[-1], 3), flush=True)
    uniform, *learned = np.array(rows).T
    for name, scores in zip((ELASTIC, SPARSE), learned, strict=True):
        lead = np.round(scores - uniform, 9)
        error = lead.std(ddof=1) / np.sqrt(len(lead))
        counts = f"{np.sum(lead > 0)} better, {np.sum(lead == 0)} equal, {np.sum(lead < 0)} worse"
        print(
            f"{name} minus {UNIFORM}: {lead.mean():+.4f} ± {error:.4f} (standard error), {counts}"
        )


if __name__ == "__main__":
    main()
