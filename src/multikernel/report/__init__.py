"""Self-contained HTML reports."""

from .demo import DemoResult, run_demo
from .report import cell_text, installed_versions, save_report
from .sections import Section, save_sections

__all__ = [
    "DemoResult",
    "Section",
    "cell_text",
    "installed_versions",
    "run_demo",
    "save_report",
    "save_sections",
]
