"""Numbers as text, the same in the tables of all experiments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Mean and standard deviation; the mean alone where there is but one value.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0])
    '2.0 ± 1.0'
    >>> spread([90.0])
    '90.0'
    """
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else mean
