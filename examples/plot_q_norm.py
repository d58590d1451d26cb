"""
Is a penalty on pairs of kernels worth it?
==========================================

Most penalties look at one kernel at a time. ``QNorm(Q)`` looks at pairs: a positive entry of Q
makes two kernels rivals, a negative one ties them. Near copies can so be told not to count twice,
or to be averaged.
"""

# %%
# One thing measured five times
# -----------------------------
# Five noisy copies of one organ, and one table of genes. What should be done with the copies?

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import RepeatedKFold, cross_val_score

from multikernel import DualCovariance, GraphLaplacian, KernelSet, Linear, MKLRegressorCV, QNorm

rng = np.random.default_rng(0)
n, n_copies = 100, 5
organ, genes = rng.normal(size=(n, 1)), rng.normal(size=(n, 3))
copies = organ + 0.8 * rng.normal(size=(n, n_copies))
X = np.hstack([copies, genes])
y = organ[:, 0] + genes @ [0.5, -0.5, 0.3] + 0.5 * rng.normal(size=n)
names = [f"scan {i + 1}" for i in range(n_copies)]
kernels = KernelSet(
    {name: [i] for i, name in enumerate(names)} | {"genes": slice(n_copies, None)}, Linear()
)

# %%
# Rivals, strangers or friends
# ----------------------------
# The covariance of what machines on single kernels learn tells which are alike. Taken as it is, it
# makes them rivals; its Laplacian ties them; the identity, which is the 2-norm, knows of no pairs.
# The weights differ as they should. The predictions do not: the scores are within a hundredth, far
# less than their spread over folds. Take such a penalty for the weights that you want to see, and
# compare before you claim more.

choices = {
    "rivals: covariance": DualCovariance(),
    "strangers: identity": np.eye(n_copies + 1),
    "friends: Laplacian": GraphLaplacian(DualCovariance(), ridge=0.1),
}
folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, (name, Q) in zip(axes, choices.items(), strict=True):
    model = MKLRegressorCV(kernels, regularizer=QNorm(Q), Cs=4, cv=3, tol=1e-4)
    score = cross_val_score(model, X, y, cv=folds)
    d = model.fit(X, y).weights_
    ax.barh([*names, "genes"], d / d.sum())
    ax.set(title=f"{name}\nR² {score.mean():.3f}", xlabel="share of the weight")
    print(f"{name:20s} R² {score.mean():.3f} ± {score.std():.3f}")
axes[0].invert_yaxis()
plt.show()
