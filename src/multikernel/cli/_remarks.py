"""What to know of a fitted model before its weights are read."""

from __future__ import annotations

from typing import Any

import numpy as np


def fit_remarks(model: Any) -> list[str]:
    """A sentence each where weights are zero or nearly uniform, or C is at an end of its grid.

    Parameters
    ----------
    model : fitted estimator
        With ``weights_``; what chooses C has ``C_`` and ``candidates_``, too.
    """
    if not np.any(model.weights_):
        return ["No kernel got a weight: nothing predicts held-out samples better than a constant."]
    return [*_uniform(model), *_at_an_end(model)]


def _uniform(model: Any) -> list[str]:
    from ..comparison.insides import nearly_uniform

    if _is_the_sum(model) or not nearly_uniform(model.weights_):
        return []
    return ["The learned weights are nearly uniform: the uniform sum would predict much the same."]


def _is_the_sum(model: Any) -> bool:
    from ..regularizers import Uniform

    return isinstance(getattr(model, "regularizer", None), Uniform)


def _at_an_end(model: Any) -> list[str]:
    Cs = sorted({candidate.C for candidate in getattr(model, "candidates_", ())})
    chosen_best = getattr(model, "selection", "best") == "best"
    if len(Cs) < 2 or not chosen_best or model.C_ not in (Cs[0], Cs[-1]):
        return []
    end, beyond = ("smallest", "smaller") if Cs[0] == model.C_ else ("largest", "larger")
    return [
        f"The chosen C={model.C_:g} is the {end} of those tried ({Cs[0]:g} to {Cs[-1]:g}): a "
        f"{beyond} one may predict better, see Cs of {type(model).__name__} in Python."
    ]
