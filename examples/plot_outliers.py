"""
What do a few wild measurements do to a forecast?
=================================================

A Gaussian likelihood takes every measurement at its word: one far off must either bend the function
or widen the noise for all. :class:`~multikernel.ProbabilisticMKLRegressor` also takes likelihoods
with heavier tails, ``"laplace"`` and ``"student"``, under which a wild measurement is an error that
happens. Kernel weights and noise are learned in all three cases, by the evidence or its variational
bound.
"""

# %%
# Data with outliers
# ------------------
# A smooth curve, small noise, and one measurement in ten that went wrong.

import matplotlib.pyplot as plt
import numpy as np

from multikernel import RBF, ProbabilisticMKLRegressor

rng = np.random.default_rng(0)
n, n_wild = 120, 12
x = np.sort(rng.uniform(-3, 3, size=n))


def curve(x):
    """What the measurements are about."""
    return np.sin(2 * x) + 0.3 * x


y = curve(x) + 0.1 * rng.normal(size=n)
wild = rng.choice(n, n_wild, replace=False)
y[wild] += rng.choice([-1, 1], n_wild) * rng.uniform(2, 6, size=n_wild)

# %%
# Three likelihoods
# -----------------
# All of them weigh the same kernels of four widths. The models are judged on new measurements
# without outliers: by the error of the mean, by the log-density that they gave to what happened,
# and by the share of measurements inside their intervals of 90 %, which are meant for measurements
# like those of training and so hold more than 90 % of these.

grid = np.linspace(-3, 3, 300)
fresh = curve(grid) + 0.1 * rng.normal(size=grid.size)
models = {}
for name in ("gaussian", "laplace", "student"):
    model = ProbabilisticMKLRegressor(RBF([0.1, 0.3, 1, 3]), likelihood=name, objective="vb")
    models[name] = model.fit(x[:, np.newaxis], y)
    error = np.sqrt(np.mean((model.predict(grid[:, np.newaxis]) - curve(grid)) ** 2))
    density = model.log_predictive_density(grid[:, np.newaxis], fresh).mean()
    lower, upper = model.predict_interval(grid[:, np.newaxis], coverage=0.9).T
    inside = np.mean((lower < fresh) & (fresh < upper))
    print(
        f"{name:9s} error {error:.3f}, log-density {density:5.2f}, {100 * inside:.0f} % inside "
        f"intervals of mean width {np.mean(upper - lower):.2f}"
    )

# %%
# What they learned
# -----------------
# The Gaussian model explains the wild measurements by noise, so its band is far too wide where all
# is well, and its mean still follows them. The others keep a narrow band. Their evidences can be
# compared, too: the bound of a heavy-tailed model that lies above the exact evidence of the
# Gaussian one proves that its evidence is larger.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    mean = model.predict_latent(grid[:, np.newaxis])
    lower, upper = model.predict_interval(grid[:, np.newaxis], coverage=0.9).T
    ax.fill_between(grid, lower, upper, color="C0", alpha=0.2, label="90 % interval")
    ax.plot(grid, curve(grid), color="0.4", linestyle="--", label="truth")
    ax.plot(grid, mean, color="C0", label="mean")
    ax.plot(x, y, ".", color="0.2", markersize=3, label="measurements")
    ax.set_title(f"{name}: log evidence {model.log_evidence_:.0f}", fontsize=10)
    ax.set_xlabel("x")
axes[0].set_ylabel("y")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()
