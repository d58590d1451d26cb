"""Trusted types: the classes that a model file may hold, one by one, and the check of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from scipy import sparse
from sklearn import model_selection as splits
from sklearn.compose import make_column_selector
from sklearn.gaussian_process import kernels as gp

from .. import estimators
from ..bayes import HYPER_PRIORS, METHODS, Inference
from ..bayes.conjugate import ConjugatePosterior, Factors, Model, Priors
from ..bayes.conjugate.model import Gamma, SampleWeights, Weights
from ..estimators._posterior import Posterior, Spread
from ..estimators._selection import Candidate
from ..files import TextLevels
from ..heuristics import WEIGHT_RULES
from ..interactions import INTERACTIONS
from ..kernels import KERNELS, NORMALIZERS, FunctionKernel, KernelSet, PrecomputedKernels
from ..kernels.group import Group, Kernel
from ..kernels.precomputed import _Given
from ..likelihoods import LIKELIHOODS
from ..losses import LOSSES
from ..regularizers import REGULARIZERS, BlockPenalty, WeightPenalty
from ..solvers import SOLVERS, Solution
from ._forms import FORMS

CODE = (FunctionKernel, WeightPenalty, BlockPenalty)  # parts that hold functions of users
_REGISTRIES: tuple[dict[str, Any], ...] = (
    KERNELS,
    NORMALIZERS,
    LOSSES,
    LIKELIHOODS,
    REGULARIZERS,
    INTERACTIONS,
    WEIGHT_RULES,
    SOLVERS,
    METHODS,
    HYPER_PRIORS,
)
_RESULTS = (
    *(KernelSet, PrecomputedKernels, _Given, Group, Kernel, Solution, Inference, Candidate),
    *(Posterior, Spread, ConjugatePosterior, Factors, Gamma, SampleWeights, Weights, Model, Priors),
)
_OTHERS = (
    TextLevels,
    make_column_selector,
    *(gp.ConstantKernel, gp.WhiteKernel, gp.RBF, gp.Matern, gp.RationalQuadratic),
    *(gp.ExpSineSquared, gp.DotProduct, gp.PairwiseKernel, gp.Exponentiation),
    *(gp.Sum, gp.Product, gp.CompoundKernel),
    *(splits.KFold, splits.StratifiedKFold, splits.GroupKFold, splits.StratifiedGroupKFold),
    *(splits.RepeatedKFold, splits.RepeatedStratifiedKFold, splits.ShuffleSplit),
    *(splits.StratifiedShuffleSplit, splits.GroupShuffleSplit, splits.LeaveOneOut),
    *(splits.LeaveOneGroupOut, splits.PredefinedSplit, splits.TimeSeriesSplit),
    *(sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix),
    *(sparse.csr_array, sparse.csc_array, sparse.coo_array),
)
_OLDEST_PROTOCOL = 2  # of the files of skops; a file may claim any, and so choose older checks

# How a file may say that a value is made, and of which types; of an object, skops judges the type.
_LOADERS: dict[str, tuple[str, ...]] = {
    "ObjectNode": ("multikernel.", "sklearn."),
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple", "multikernel.estimators._selection.Candidate"),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "JsonNode": ("builtins.str",),
    "TypeNode": ("builtins.", "numpy.", "sklearn.model_selection._split."),
    "FunctionNode": ("numpy.", "scipy.special."),  # of these, skops lets ufuncs pass
    "NdArrayNode": ("numpy.",),
    "DTypeNode": ("numpy.dtype",),  # read from an empty array, pickles refused
    "SparseMatrixNode": ("scipy.sparse.",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
}


def trusted_types() -> list[str]:
    """The types that a model file may hold besides plain values, arrays and scikit-learn's own.

    They are listed class by class. Parts that hold functions of users are not among them.

    Examples
    --------
    >>> "multikernel.losses.hinge.Hinge" in trusted_types()
    True
    >>> "multikernel.kernels.custom.FunctionKernel" in trusted_types()
    False
    """
    public = [getattr(estimators, name) for name in estimators.__all__]
    models = [cls for cls in public if isinstance(cls, type)]
    parts = [part for registry in _REGISTRIES for part in registry.values() if part not in CODE]
    classes = [*models, *parts, *_RESULTS, *FORMS, *_OTHERS]
    named = {f"{cls.__module__}.{cls.__name__}" for cls in classes}
    return sorted(named | {"numpy.dtype", "numpy.number"})


def untrusted_types(archive: ZipFile, data: bytes) -> list[str]:
    """The types in a file that may not be there; nothing is imported or made.

    Parameters
    ----------
    archive : ZipFile
    data : bytes
        The same file.
    """
    from skops.io import get_untrusted_types

    schema = json.loads(archive.read("schema.json"))
    if not isinstance(schema, dict) or schema.get("protocol", 0) < _OLDEST_PROTOCOL:
        raise ValueError("its description is not one that skops writes today")
    if strange := {name for name, allowed in _described(schema) if not name.startswith(allowed)}:
        return sorted(strange)
    return sorted(set(get_untrusted_types(data=data)) - set(trusted_types()))


def _described(schema: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The type of every value in the description of a file, and what its loader may make."""
    todo = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                name = f"{node['__module__']}.{node['__class__']}"
                yield name, _LOADERS.get(node["__loader__"], ())
            todo += node.values()
        elif isinstance(node, list):
            todo += node
