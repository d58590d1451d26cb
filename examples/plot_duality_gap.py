"""
What does the duality gap mean?
===============================

Solvers stop. Have they arrived? A convex problem has a second one, its dual, every point of which
is a lower bound of the minimum. What lies between the objective reached and such a bound is the
gap: the objective cannot be lowered by more. No test set and no second solver is needed to know
it.
"""

# %%
# A fit and its bounds
# --------------------
# The minimum is found first, to ten digits, to have a truth to compare with.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel import Alternating, ConvergenceDisplay, LpNorm, MKLClassifier, load_demo

X, y = load_demo(return_X_y=True)
exact = MKLClassifier(regularizer=LpNorm(p=1), C=0.1, tol=1e-10).fit(X, y)
slow = MKLClassifier(regularizer=LpNorm(p=1), C=0.1, solver=Alternating(tol=1e-6, max_iter=60))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # which states the gap that was reached
    slow.fit(X, y)
J = slow.solution_.history["objective"]
gap = slow.solution_.history["gap"]
error = J / exact.objective_ - 1
assert np.all(error <= gap + 1e-9)
print(
    f"after {slow.n_iter_} iterations: error {error[-1]:.1e}, guaranteed to be below {gap[-1]:.1e}"
)

# %%
# The certificate is never too good
# ---------------------------------
# The true error lies below the gap in every iteration. The gap can be computed without knowing the
# minimum; the error cannot.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
steps = np.arange(1, len(gap) + 1)
left.semilogy(steps, gap, label="relative duality gap")
left.semilogy(steps, error, linestyle="--", label="true relative error")
left.set(xlabel="iteration of the alternating solver")
left.legend(frameon=False)

# %%
# Gaps compare solvers
# --------------------
# ``solver="auto"`` picks another method for this problem. One bank pass is one look at all
# kernels.

ConvergenceDisplay.from_estimator(slow, ax=right, name="alternating")
ConvergenceDisplay.from_estimator(exact, ax=right, name="chosen by default", color="C2")
plt.show()
