"""
Why did the model decide so for this sample?
============================================

The decision of a kernel machine is a sum over kernels. So its explanation is no approximation made
afterwards: the shares of the sources are the terms of the sum.
"""

# %%
# Sources of one table
# --------------------
# Thirty measurements of cell nuclei from 569 tumours come in three kinds: the mean over the cells
# of a sample, its standard error, and the most extreme cells. Each kind is a source, chosen by the
# names of its columns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier
from multikernel.displays import ContributionsDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
sources = {"mean": "mean *", "error": "* error", "extreme": "worst *"}
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=150, random_state=0)
scaler = StandardScaler().set_output(transform="pandas").fit(X_train)
model = MKLClassifier(sources, C=0.1).fit(scaler.transform(X_train), y_train)
Z = scaler.transform(X_test)
print(f"accuracy on {len(y_test)} new tumours: {model.score(Z, y_test):.3f}")

# %%
# The terms of the sum
# --------------------
# They add up to the decision, to the last digit that is computed.

shares = model.decision_contributions(Z, by="source")
assert np.allclose(shares.sum(axis=1) + model.intercept_, model.decision_function(Z))

# %%
# Single tumours
# --------------
# Two that the model judges best, two that it judges worst, and two of which it is unsure. What
# speaks for a class stands on its side of zero, and the mark is the sum. Where the sources are near
# zero the constant decides, which stands for how frequent the classes are.

ContributionsDisplay.from_estimator(model, Z, y_test)
plt.show()
