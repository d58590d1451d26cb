"""
What if some samples lack a source?
===================================

Not every patient has every scan. One may drop whoever is incomplete, fill in the mean, or say
nothing where nothing is known: each kernel then learns from the samples that have its source, and
to the others the source adds zero.
"""

# %%
# A study with holes
# ------------------
# Three sources matter. A growing share of the people lacks one of the three, by chance. New people
# are complete.

import matplotlib.pyplot as plt
import numpy as np

from multikernel import MKLRegressor, ViewBundle, make_multiview_regression

n, n_new = 150, 400
sources = ["informative0", "informative1", "informative2"]
X_all, y_all = make_multiview_regression(
    n + n_new, n_informative=3, n_useless=0, target_noise=0.7, random_state=0
)
X_all, y, y_new = X_all.select(sources), y_all[:n], y_all[n:]
X, X_new = X_all[np.arange(n)], X_all[np.arange(n, n + n_new)]


def with_holes(share, seed):
    """Everybody of a random share lacks one source, chosen at random."""
    rng = np.random.default_rng(seed)
    lacks = np.where(rng.random(n) < share, rng.integers(3, size=n), -1)
    blocks = {name: X.block(name) for name in sources}
    return ViewBundle(blocks, present={name: lacks != s for s, name in enumerate(sources)})


print(with_holes(0.5, 0).summary())

# %%
# Keep them or drop them?
# -----------------------
# Both models are judged on the same complete new people, over five draws of who lacks what.

shares = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]
scores = {"all samples": [], "complete samples only": []}
for share in shares:
    rows = []
    for seed in range(5):
        holes = with_holes(share, seed)
        complete = holes.present.all(axis=1)
        keep = MKLRegressor(C=1.0).fit(holes, y).score(X_new, y_new)
        drop = MKLRegressor(C=1.0).fit(holes[complete], y[complete]).score(X_new, y_new)
        rows.append((keep, drop))
    for values, column in zip(scores.values(), np.transpose(rows), strict=True):
        values.append(column)

# %%
# The answer
# ----------
# It depends on how many are left. What a missing source would have explained becomes noise in the
# targets of those who lack it, so as long as many people are complete, these alone do slightly
# better. Where few are, dropping the others costs far more.

figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (name, values), marker in zip(scores.items(), "os", strict=True):
    values = np.array(values)
    ax.errorbar(
        shares, values.mean(axis=1), values.std(axis=1), marker=marker, capsize=3, label=name
    )
ax.set(xlabel="share of people who lack a source", ylabel="R² on new people")
ax.legend(frameon=False)
plt.show()
