"""
How flat is the optimum?
========================

A fit returns one point: the weights at the minimum. Whether its neighbours are nearly as good is
another question, and decides how much the exact numbers mean. For three sources all mixtures fit
into a triangle.
"""

# %%
# The objective over all mixtures
# -------------------------------
# A corner is one source alone, the middle the equal sum. At every point of the grid the functions
# are fitted anew for these weights, and the colour is the objective that is reached.

import matplotlib.pyplot as plt

from multikernel import LpNorm, MKLClassifier, load_demo
from multikernel.displays import SimplexDisplay

X, y = load_demo(return_X_y=True)
three = X.select(["rna", "mri", "scanner"])
model = MKLClassifier("rbf", regularizer=LpNorm(p=1), C=0.3).fit(three, y)
SimplexDisplay.from_estimator(model, three, y)
print(dict(zip(model.sources_, model.weights_.round(2).tolist(), strict=True)))
plt.show()

# %%
# The valley
# ----------
# What goes to ``scanner`` is lost, so the best point lies low. Along the floor, between ``rna``
# and ``mri``, the ground is nearly level: their proportion is known less well than that both are
# needed.
