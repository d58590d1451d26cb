"""Losses: the data term of the objective, by name or as objects."""

from .absolute import Absolute
from .base import ElementwiseLoss, Loss, PiecewiseLinearLoss, SmoothLoss
from .epsilon_insensitive import EpsilonInsensitive
from .hinge import Hinge
from .huber import Huber
from .logistic import Logistic
from .multinomial import Multinomial
from .relative_margin import RelativeMargin
from .squared import Squared
from .squared_hinge import SquaredHinge

LOSSES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "squared": Squared,
    "absolute": Absolute,
    "epsilon_insensitive": EpsilonInsensitive,
    "huber": Huber,
    "multinomial": Multinomial,
    "relative_margin": RelativeMargin,
}

__all__ = [
    "LOSSES",
    "Absolute",
    "ElementwiseLoss",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "PiecewiseLinearLoss",
    "RelativeMargin",
    "SmoothLoss",
    "Squared",
    "SquaredHinge",
]
