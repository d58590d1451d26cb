"""Self-contained HTML reports."""

from .comparison import save_report
from .demo import run_demo
from .page import Section, cell_text, save_sections

__all__ = ["Section", "cell_text", "run_demo", "save_report", "save_sections"]
