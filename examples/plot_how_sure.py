"""
How sure is the model?
======================

A number without its uncertainty is half an answer. :class:`~multikernel.ProbabilisticMKLRegressor`
learns kernel weights and noise by the evidence and gives every prediction a standard deviation.
"""

# %%
# Bands
# -----
# The target is measured where there are points. Between the two groups nothing is known, and the
# band says so.

import matplotlib.pyplot as plt
import numpy as np

from multikernel import RBF, PredictiveDisplay, ProbabilisticMKLRegressor

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(-4, -1, 40), rng.uniform(1, 4, 40)]))


def draw(x):
    """Measurements at x."""
    return np.sin(2 * x) + 0.2 * x + 0.15 * rng.normal(size=x.shape)


y = draw(x)
model = ProbabilisticMKLRegressor(RBF([0.03, 0.1, 0.3, 1])).fit(x[:, None], y)
print(f"noise: {np.sqrt(model.noise_var_):.3f} learned, 0.150 in truth")

# %%
# Do they hold what they promise?
# -------------------------------
# Of new measurements from the same places, 90 % should lie in the intervals of 90 %, and likewise
# for every other number. Fifteen studies show how far a single one may be off.

levels = np.linspace(0.1, 0.95, 12)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.8), width_ratios=(1.7, 1), layout="constrained"
)
PredictiveDisplay.from_estimator(model, x[:, None], y, ax=left)
for study in range(15):
    fresh = np.sort(np.concatenate([rng.uniform(-4, -1, 200), rng.uniform(1, 4, 200)]))
    fitted = ProbabilisticMKLRegressor(RBF([0.03, 0.1, 0.3, 1])).fit(x[:, None], draw(x))
    truth = draw(fresh)
    ends = [fitted.predict_interval(fresh[:, None], coverage=level).T for level in levels]
    inside = [np.mean((low < truth) & (truth < high)) for low, high in ends]
    right.plot(levels, inside, color="C0", alpha=0.35, label=None if study else "15 studies")
right.plot([0, 1], [0, 1], color="0.4", linestyle="--", label="as promised")
right.set(xlabel="promised share inside", ylabel="share inside", xlim=(0, 1), ylim=(0, 1))
right.legend(frameon=False)
plt.show()
