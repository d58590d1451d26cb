"""
How do I use precomputed kernels?
=================================

Some similarities are made elsewhere: by another program, from graphs, or overnight. A
:class:`~multikernel.KernelBundle` holds such matrices together with the identities of their
samples, so that splits, searches and predictions take the right rows and columns.
"""

# %%
# Three matrices
# --------------
# 300 handwritten digits, seen in three ways: all pixels, how dark each row and column is, and the
# order of the pixels from dark to light. The third is given as distances.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split

from multikernel import KernelBundle, MKLClassifier

pixels, labels = load_digits(n_class=6, return_X_y=True)
pixels, labels = pixels[:300], labels[:300]
images = pixels.reshape(-1, 8, 8)
margins = np.hstack([images.sum(axis=1), images.sum(axis=2)])
D = euclidean_distances(rankdata(pixels, axis=1))
grams = {
    "pixels": rbf_kernel(pixels, gamma=1e-3),
    "margins": rbf_kernel(margins, gamma=1e-3),
    "ranks": np.exp(-(D**2) / np.median(D**2)),
}
ids = [f"digit-{i:03d}" for i in range(300)]
K = KernelBundle(grams, ids=ids)

# %%
# It is cut like any table
# ------------------------
# ``fit`` finds the kernels among the training samples, ``predict`` those between queries and
# training samples. Scikit-learn's tools need no special care.

K_train, K_test, y_train, y_test = train_test_split(
    K, labels, test_size=100, random_state=0, stratify=labels
)
search = GridSearchCV(MKLClassifier("precomputed"), {"C": [0.01, 0.1, 1]}, cv=3).fit(
    K_train, y_train
)
model = search.best_estimator_
print(K_test, f"accuracy {model.score(K_test, y_test):.2f} at C = {model.C}")

# %%
# What was learned
# ----------------
# Left, the kernel that was combined, samples sorted by class: six blocks. Right, the weights,
# which are nearly equal: each matrix has something to say.

order = np.argsort(y_train, kind="stable")
train = K.columns_of(K_train.ids)[order]
combined = sum(
    d * G[np.ix_(train, train)] for d, G in zip(model.weights_, grams.values(), strict=True)
)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
figure.colorbar(left.imshow(combined, cmap="viridis"), ax=left)
left.set_title("combined kernel, sorted by class", loc="left", fontsize=10)
right.barh(list(grams), model.weights_)
right.set_xlabel("weight")
right.invert_yaxis()
plt.show()
