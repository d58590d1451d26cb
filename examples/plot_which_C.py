"""
Which C?
========

C says how much the data count against the penalty. Small C: few kernels, smooth functions. Large
C: many kernels, functions that follow every sample.
"""

# %%
# What changes with C
# -------------------
# :func:`~multikernel.mkl_path` fits one model at many C, each started from the one before, on
# kernels that are computed once. Below a critical C nothing is selected.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from multikernel import LpNorm, MKLClassifierCV, load_demo, mkl_path
from multikernel.displays import PathDisplay, SelectionDisplay

X, y = load_demo(return_X_y=True)
model = MKLClassifierCV(regularizer=LpNorm(p=1), Cs=np.geomspace(0.03, 10, 9), cv=10)
path = mkl_path(model, X, y, Cs=20)
PathDisplay.from_path(path, by="source", quantity="share")

# %%
# What held-out samples say
# -------------------------
# :class:`~multikernel.MKLClassifierCV` follows such a path in every fold. ``selection="one_se"``
# takes the smallest C whose score is within one standard error of the best: a stronger penalty at a
# score that cannot be told from the best.

model.fit(X, y)
careful = clone(model).set_params(selection="one_se").fit(X, y)
for name, fitted in (("best", model), ("one standard error", careful)):
    print(f"{name}: C = {fitted.C_:.3g}, {np.count_nonzero(fitted.weights_)} kernels")
SelectionDisplay.from_cv(model)
plt.show()
