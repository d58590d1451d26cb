"""
Are the weights the same in every fold?
=======================================

A weight that was learned once is one number from one sample of people. Learn it again on other
people, and it moves. How much it moves is what its reader should know first.
"""

# %%
# Learn in every fold
# -------------------
# The sparse model, on ten times four fifths of the people. (:func:`~multikernel.compare` keeps the
# weights of its folds, too: ``FoldWeightsDisplay.from_comparison(result)``.)

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold

from multikernel import LpNorm, MKLClassifier, load_demo
from multikernel.displays import FoldWeightsDisplay

X, y = load_demo(return_X_y=True)
model = MKLClassifier(regularizer=LpNorm(p=1), C=0.1)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
tables = [model.fit(X[train], y[train]).kernel_table_ for train, _ in folds.split(y, y)]
weights = pd.DataFrame({f"fold {i + 1}": table["weight"] for i, table in enumerate(tables)})
weights /= weights.sum()
sources = tables[0]["source"]

# %%
# By source
# ---------
# ``scanner`` has next to nothing in every fold. ``rna`` and ``protein`` repeat each other, and the
# sparse model divides the weight between them now in this way and now in that.

by_source = FoldWeightsDisplay.from_frame(weights.groupby(sources, sort=False).sum())
print(by_source.frame().iloc[:, -3:].round(2))

# %%
# By kernel
# ---------
# Single kernels are less certain still: the weight of ``clinical`` is on its linear kernel, or
# divided with a wide RBF kernel, as the fold has it. Read weights at the level at which they are
# stable.

names = (
    sources
    + " "
    + tables[0]["family"]
    + tables[0]["parameter"].map(lambda p: "" if pd.isna(p) else f" {p:g}")
)
FoldWeightsDisplay.from_frame(weights.set_axis(names))
plt.show()
