"""
Does combining sources help?
============================

More data are not always better: a source may repeat another, or bring noise only. And where a
combination is better, learned weights need not be: the plain sum of all kernels is hard to beat.
:func:`~multikernel.compare` answers both questions at once, on the same folds.

The data are simulated, so the truth is known: ``rna``, ``mri`` and ``clinical`` matter,
``scanner`` does not.
"""

# %%
# One call
# --------
# Each source alone, the uniform sum of all kernels, and weights that are learned. All choose their
# parameters inside the training part of each fold.

import matplotlib.pyplot as plt

import multikernel as mk
from multikernel.displays import ComparisonDisplay

X, y = mk.load_demo(return_X_y=True)
X = X.select(["rna", "mri", "clinical", "scanner"])
result = mk.compare(
    X, y, models=["concatenated, linear"], kernels=["linear", "rbf"], importance=False
)
print(result)

# %%
# Fold by fold
# ------------
# A line joins the scores of one fold. Means that are apart say little if lines cross; a line that
# leans the same way in every fold says much. On the right are the differences to the uniform sum
# with their intervals, which allow for training samples that folds share.

ComparisonDisplay.from_comparison(result)
plt.show()
