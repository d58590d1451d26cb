"""
How sparse should the weights be?
=================================

``LpNorm(p)`` leads from a choice of few kernels (p = 1) to nearly equal weights (large p). Neither
end is best as such: it depends on how many kernels carry something of their own.
"""

# %%
# Two studies
# -----------
# In both there are six sources with a linear kernel each. In the first, one source explains the
# target; in the second, all six do.

import matplotlib.pyplot as plt
import numpy as np

from multikernel import LpNorm, MKLRegressor, MKLRegressorCV

rng = np.random.default_rng(0)
n, n_sources, n_columns = 90, 6, 12
X = rng.normal(size=(n, n_sources * n_columns))
columns = [slice(s * n_columns, (s + 1) * n_columns) for s in range(n_sources)]
parts = np.stack([X[:, c] @ rng.normal(size=n_columns) for c in columns])
noise = 2.0 * rng.normal(size=n)
studies = {
    "one source matters": np.sqrt(n_sources) * parts[0] + noise,
    "all six matter": parts.sum(axis=0) + noise,
}
kernels = {f"source {s + 1}": (c, "linear") for s, c in enumerate(columns)}

# %%
# Weights and scores along p
# --------------------------
# :class:`~multikernel.MKLRegressorCV` tries every C and p on the same folds. The lower pictures
# show the score of each p at its best C. The first study is predicted best at p = 1, the second at
# the largest p. Mind the scales: even the wrong end costs only two or three hundredths here.

orders = [1, 1.25, 1.5, 2, 4, 8]
figure, axes = plt.subplots(2, 2, figsize=(9, 5.6), sharex=True, layout="constrained")
for (upper, lower), (name, y) in zip(axes.T, studies.items(), strict=True):
    search = MKLRegressorCV(
        kernels, regularizer="lp", regularizer_grid={"p": orders}, Cs=7, cv=10, tol=1e-4
    ).fit(X, y / y.std())
    tried = search.cv_results_
    best = tried.loc[tried.groupby("param_regularizer__p")["mean_test_score"].idxmax()]
    models = [
        MKLRegressor(kernels, regularizer=LpNorm(p=p), C=C).fit(X, y / y.std())
        for p, C in zip(best["param_regularizer__p"], best["param_C"], strict=True)
    ]
    shares = [model.weights_ / model.weights_.sum() for model in models]
    upper.plot(orders, shares, marker="o", markersize=3)
    lower.plot(orders, best["mean_test_score"], marker="o", color="0.2")
    upper.set_title(name, loc="left")
    print(f"{name}: best p = {search.best_params_['regularizer__p']}")
axes[0, 0].set_ylabel("share of the weight")
axes[1, 0].set_ylabel("R², held out")
for ax in axes[1]:
    ax.set_xscale("log")
    ax.set_xticks(orders, orders)
    ax.minorticks_off()
    ax.set_xlabel("p")
plt.show()
