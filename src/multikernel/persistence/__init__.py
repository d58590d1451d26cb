"""Persistence: model files that hold what prediction needs and cannot run code."""

from ._trusted import trusted_types
from .model_file import load_model, save_model

__all__ = ["load_model", "save_model", "trusted_types"]
