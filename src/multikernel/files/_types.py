"""Names for what pandas holds; pandas itself is imported where it is used."""

from __future__ import annotations

from typing import Any, TypeAlias

DataFrame: TypeAlias = Any
Series: TypeAlias = Any
Index: TypeAlias = Any
