"""
Evidence or cross-validation?
=============================

Two ways lead to the strength of regularization and to the noise. Cross-validation tries values on
samples held out; the evidence asks how probable the data are under the model, and uses all of them
at once. Which predicts better when samples are few?
"""

# %%
# Ten measurements of 442 patients
# --------------------------------
# Age, sex, body and blood values predict how far diabetes has gone a year later. Three sources,
# two kernels each; growing training sets, six draws of each size, the rest to judge.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from multikernel import RBF, Linear, MKLRegressorCV, ProbabilisticMKLRegressor

X, y = load_diabetes(return_X_y=True)
y = (y - y.mean()) / y.std()
families = [Linear(), RBF()]
sources = {
    "person": ([0, 1], families),
    "body": ([2, 3], families),
    "blood": (slice(4, 10), families),
}
models = {
    "evidence": ProbabilisticMKLRegressor(sources),
    "cross-validation": MKLRegressorCV(sources, Cs=5, cv=5, tol=1e-4),
}
sizes, n_draws = [25, 50, 100, 200], 6
scores = {name: np.zeros((len(sizes), n_draws)) for name in models}
for i, n in enumerate(sizes):
    for draw in range(n_draws):
        order = np.random.default_rng(draw).permutation(len(y))
        train, test = order[:n], order[n:]
        for name, model in models.items():
            scores[name][i, draw] = model.fit(X[train], y[train]).score(X[test], y[test])

# %%
# The answer
# ----------
# They agree from 100 samples on. Below, differences are within the bars, which are standard errors
# over draws: with 25 samples cross-validation is ahead, with 50 the evidence. What the evidence
# has in any case is a predictive distribution, and no folds to wait for.

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (name, values), marker in zip(scores.items(), "os", strict=True):
    print(name, values.mean(axis=1).round(2))
    error = values.std(axis=1, ddof=1) / np.sqrt(n_draws)
    ax.errorbar(sizes, values.mean(axis=1), error, marker=marker, capsize=3, label=name)
ax.set(
    xscale="log",
    xticks=sizes,
    xticklabels=sizes,
    xlabel="training samples",
    ylabel="R² on other patients",
)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
