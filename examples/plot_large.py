"""
How many samples can it take?
=============================

M Gram matrices of n samples take M n (n + 1) / 2 numbers. That is the limit, and it grows with the
square of n. Kernels of low rank need no Gram matrix at all: linear kernels on few columns are kept
as their columns, and other kernels can be brought to that form by Nyström's method.
"""

# %%
# Memory, before anything is allocated
# ------------------------------------
# Five sources with four kernels each, against five sources with 100 columns each.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import Nystroem

from multikernel import FactoredBank, KernelSet, MKLRegressor, ViewBundle, make_multiview_regression

ns = np.geomspace(300, 300_000, 50)
lines = {
    "20 kernels, float64": 20 * ns * (ns + 1) / 2 * 8,
    "20 kernels, float32": 20 * ns * (ns + 1) / 2 * 4,
    "5 factors of 100 columns": 5 * ns * 100 * 8,
}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name, n_bytes in lines.items():
    left.loglog(ns, n_bytes / 1e9, label=name)
left.axhline(16, color="0.6", linestyle=":")
left.text(400, 19, "16 GB", color="0.4")
left.set(xlabel="samples", ylabel="GB")
left.legend(frameon=False)

# %%
# An RBF kernel as columns
# ------------------------
# ``Nystroem`` of scikit-learn makes columns whose products approximate the kernel. A linear kernel
# on such columns is factored: no square matrix is ever formed. The price is the approximation,
# which more columns buy back.

X, y = make_multiview_regression(3000, n_informative=2, n_useless=1, n_features=6, random_state=0)
train, test = np.arange(2000), np.arange(2000, 3000)


def columns(n_components):
    """Every view by the columns of its Nyström map, learned on training samples."""
    blocks = {}
    for name in X.names:
        Z = np.asarray(X.block(name))
        scale = np.mean(np.var(Z[train], axis=0)) * Z.shape[1] * 4
        mapping = Nystroem(gamma=1 / scale, n_components=n_components, random_state=0)
        blocks[name] = mapping.fit(Z[train]).transform(Z)
    return ViewBundle(blocks)


ranks, scores = [5, 10, 20, 40, 80], []
for rank in ranks:
    Z = columns(rank)
    model = MKLRegressor("linear", C=1.0, tol=1e-4).fit(Z[train], y[train])
    scores.append(model.score(Z[test], y[test]))
factors = KernelSet(families="linear").fit_factors(Z[train])
print(type(FactoredBank(factors)).__name__, [factor.shape for factor in factors])
few = np.arange(500)
exact = MKLRegressor("rbf", C=1.0).fit(X[few], y[few]).score(X[test], y[test])
right.plot(ranks, scores, marker="o", label="2,000 samples, Nyström columns")
right.axhline(exact, color="0.4", linestyle="--", label="500 samples, exact kernels")
right.set(xlabel="columns per source", ylabel="R² on new samples", xscale="log")
right.set_xticks(ranks, ranks)
right.minorticks_off()
right.legend(frameon=False)
plt.show()
