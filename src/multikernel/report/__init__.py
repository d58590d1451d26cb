"""Self-contained HTML reports."""

from .demo import DemoResult, run_demo
from .report import save_report

__all__ = ["DemoResult", "run_demo", "save_report"]
