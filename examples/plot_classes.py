"""
Many classes: shared or own weights?
====================================

With several classes, one set of kernel weights may serve all of them, or each class may have its
own. Shared weights have less to learn; own weights tell which class is recognised by what.
"""

# %%
# Digits by parts of the image
# ----------------------------
# The sources are the rows of an image of a handwritten digit, taken two and two: four stripes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from multikernel import RBF, LpNorm, MKLClassifier

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(
    X / 16, y, train_size=400, test_size=800, random_state=0, stratify=y
)
stripes = {f"rows {2 * s + 1}–{2 * s + 2}": (slice(16 * s, 16 * s + 16), RBF()) for s in range(4)}
common = {"loss": "squared_hinge", "regularizer": LpNorm(p=2), "C": 1.0, "tol": 1e-4}
shared = MKLClassifier(stripes, **common).fit(X, y)
own = MKLClassifier(stripes, weights="per_class", **common).fit(X, y)
for name, model in (("shared", shared), ("own", own)):
    print(
        f"{name} weights: accuracy {model.score(X_test, y_test):.3f}, {model.weights_.size} numbers"
    )

# %%
# Who is recognised by what
# -------------------------
# Rows are the digits; the last one is what all of them share.

d = np.vstack([own.weights_, shared.weights_])
d /= d.sum(axis=1, keepdims=True)
figure, ax = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
image = ax.pcolormesh(d, cmap="viridis", edgecolors="white", linewidth=1)
ax.set_xticks(np.arange(4) + 0.5, stripes)
ax.set_yticks(np.arange(11) + 0.5, [*map(str, own.classes_), "shared"])
ax.set_ylabel("digit")
ax.invert_yaxis()
figure.colorbar(image, label="share of the weight")
plt.show()
