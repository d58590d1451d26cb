"""Linear algebra that more than one part needs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor

from ._component import Array

Cholesky: TypeAlias = tuple[Array, bool]
_FIRST_JITTER = 1e-14  # relative to the mean diagonal; rounding of a positive semi-definite matrix


def cholesky(A: Array, diagonal: Array | float = 0.0) -> Cholesky:
    """The Cholesky factor of A + diag(diagonal), symmetric, for ``scipy.linalg.cho_solve``.

    Where rounding has made the matrix indefinite the diagonal is raised, by as little as helps.
    """
    jitter = 0.0
    for _ in range(12):
        raised = A.T.copy(order="F")  # LAPACK works in place on column order
        raised[np.diag_indices_from(raised)] += diagonal + jitter
        try:
            factor: Cholesky = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            jitter = max(10 * jitter, _FIRST_JITTER * float(np.mean(np.diag(A))))
        else:
            return factor
    raise np.linalg.LinAlgError(
        "the combined kernel is not positive semi-definite; check the kernels."
    )
