"""
Which kernels repeat each other?
================================

Where two kernels say the same, a sparse model takes one of them, and which one is chance. Look
before you read weights: the centred alignment of two kernels is the correlation of their entries,
1 for kernels that are the same up to scale and shift.
"""

# %%
# Twenty kernels on five sources
# ------------------------------
# The first row is the alignment with the labels. Then kernels are sorted so that those alike are
# next to each other.

import matplotlib.pyplot as plt

from multikernel import LpNorm, MKLClassifier, load_demo
from multikernel.displays import RedundancyDisplay

X, y = load_demo(return_X_y=True)
model = MKLClassifier(regularizer=LpNorm(p=1), C=0.1)
display = RedundancyDisplay.from_estimator(model, X, y)
plt.show()

# %%
# What follows for the weights
# ----------------------------
# Kernels of one source are alike, and so are ``rna`` and ``protein``, which measure the same
# thing. The block 1-norm picks single ones among them; their sum by source is what can be trusted.

table = model.fit(X, y).kernel_table_
print(table[table["weight"] > 0][["source", "family", "parameter", "weight"]].round(2))
