"""``multikernel demo``: the main job on embedded data."""

from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import of_comparison, print_json


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Option

    @app.command()  # type: ignore[untyped-decorator]
    def demo(
        out: Annotated[str, Option(metavar="DIR", help="Folder of the reports.")] = ".demo",
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """See what it does: which sources matter?

        Compares multiple kernel learning with its baselines on two embedded data sets, prints the
        tables and writes HTML reports: patients seen through five simulated sources, of which it is
        known what they are worth, and real tumours seen through three. The last two lines are the
        paths of the reports.

        \b
        Example:
          multikernel demo --out demo
        """
        need("demo", "jinja2", "matplotlib", "pandas")
        from ..report import run_demo
        from ._progress import show_progress

        with show_progress() as progress:
            studies = run_demo(out, progress)
        if as_json:
            found = [of_comparison(study.comparison, study.report, []) for study in studies]
            print_json([{"title": s.title, **f} for s, f in zip(studies, found, strict=True)])
            return
        for study in studies:
            print(f"\n{study.title}\n\n{study.comparison}\n")
        for study in studies:
            print(study.report.resolve())
