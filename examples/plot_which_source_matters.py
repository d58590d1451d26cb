"""
Which of my sources matters?
============================

Two hundred people were examined in five ways. Which of the five tell patients from controls, and
on what does the model base its judgement of a single person?

The data are simulated, so the answer is known: ``protein`` repeats ``rna`` with more noise, ``mri``
acts through a radius that no linear kernel sees, and ``scanner`` has nothing to do with the labels.
"""

# %%
# One model of all sources
# ------------------------
# Every source gets a linear kernel and RBF kernels of three widths, twenty kernels in all. The
# elastic net gives exactly zero to kernels that do not help. The relative duality gap certifies
# that no other weights are noticeably better.

import matplotlib.pyplot as plt
import numpy as np

from multikernel import MKLClassifier, WeightsDisplay, load_demo

data = load_demo()
X, y = data.X, data.y
model = MKLClassifier(loss="logistic", regularizer="elasticnet", C=0.1).fit(X, y)
print(f"relative duality gap {model.gap_:.1e}, converged: {model.converged_}")

# %%
# The weights
# -----------
# ``mri`` is used through its RBF kernels, ``scanner`` not at all.

display = WeightsDisplay.from_estimator(model)
print({source: round(share, 2) for source, share in display.shares().items()})
assert display.shares()["scanner"] == 0

# %%
# One person
# ----------
# The decision function is a sum over sources, plus a constant. Its terms are exact, not an
# approximation made afterwards: here for the person of whom the model is least certain.

decision = model.decision_function(X)
person = int(np.argmin(np.abs(decision)))
shares = model.decision_contributions(X, by="source")[person]
np.testing.assert_allclose(shares.sum() + model.intercept_[0], decision[person], atol=1e-10)

figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(model.sources_, shares, color=np.where(shares > 0, "tab:red", "tab:blue"))
ax.axvline(0, color="black", linewidth=0.8)
ax.invert_yaxis()
ax.set_xlabel(f"share in the decision ({model.classes_[0]} < 0 < {model.classes_[1]})")
ax.set_title(f"Person {person}, decision {decision[person]:+.2f}, in truth a {y[person]}")
plt.show()
