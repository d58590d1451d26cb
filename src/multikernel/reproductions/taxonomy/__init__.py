"""Taxonomy: evidence, bounds, joint modes and MKL, side by side."""

from .experiment import TaxonomyOfObjectives

__all__ = ["TaxonomyOfObjectives"]
