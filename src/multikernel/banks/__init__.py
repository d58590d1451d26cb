"""Banks: the numbers behind the kernels, seen through four sweeps."""

from .atoms import AtomBank
from .base import Bank
from .factored import FactoredBank
from .packed import PackedBank
from .tasks import TaskBank

__all__ = ["AtomBank", "Bank", "FactoredBank", "PackedBank", "TaskBank"]
