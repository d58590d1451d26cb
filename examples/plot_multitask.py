"""
Do my tasks share their kernels?
================================

Three hospitals measure the same things. One model for all of them ignores how they differ, one
model for each wastes what they have in common. A multi-task model has kernels for each task and
kernels shared by all, and learns the weights of both.
"""

# %%
# Three hospitals
# ---------------
# The first source acts alike everywhere; the second acts in the third hospital only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from multikernel import MultiTaskMKLRegressor

rng = np.random.default_rng(0)
n = 90
hospital = np.repeat([0, 1, 2], n // 3)
A, B = rng.normal(size=(2, n, 4))
y = (
    A @ [1.0, -1.0, 0.5, 0.5]
    + np.where(hospital == 2, B @ [1.0, 1.0, -1.0, 0.0], 0)
    + 0.5 * rng.normal(size=n)
)
X = np.column_stack([A, B, hospital])
sources = {"everywhere": (slice(0, 4), "linear"), "third only": (slice(4, 8), "linear")}
model = MultiTaskMKLRegressor(sources, task=8, C=10.0).fit(X, y)

# %%
# Does it predict better?
# -----------------------
# Against one model for all (``sharing=1``) and separate models (``sharing=0``).

folds = StratifiedKFold(5, shuffle=True, random_state=0)
splits = list(folds.split(X, hospital))
rivals = {
    "one for all": MultiTaskMKLRegressor(sources, task=8, C=10.0, sharing=1.0),
    "one for each": MultiTaskMKLRegressor(sources, task=8, C=10.0, sharing=0.0),
    "learned": model,
}
for name, rival in rivals.items():
    score = cross_val_score(rival, X, y, cv=splits)
    print(f"{name:12s} R² {score.mean():.2f} ± {score.std():.2f}")

# %%
# Who shares what
# ---------------
# The first source has its weight in the shared kernel, the second in the kernel of the third
# hospital.

d = model.weights_
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
image = ax.pcolormesh(d.T, cmap="Blues", edgecolors="white", linewidth=2)
for (task, kernel), value in np.ndenumerate(d):
    ax.text(
        task + 0.5,
        kernel + 0.5,
        f"{value:.2f}",
        ha="center",
        va="center",
        color="white" if value > d.max() / 2 else "0.2",
    )
ax.set_xticks(np.arange(4) + 0.5, ["hospital 1", "hospital 2", "hospital 3", "shared"])
ax.set_yticks(np.arange(2) + 0.5, sources)
ax.invert_yaxis()
figure.colorbar(image, label="weight")
plt.show()
