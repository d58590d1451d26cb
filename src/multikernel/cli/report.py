"""``multikernel report``: the report of a comparison once more."""

from pathlib import Path
from typing import Annotated, Any

from ._needs import need


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Argument

    @app.command()  # type: ignore[untyped-decorator]
    def report(
        folder: Annotated[
            Path, Argument(metavar="DIR", help="A folder of compare.", show_default=False)
        ],
    ) -> None:
        """Write the report of a comparison again.

        It is made from what compare has stored in DIR, without a fit. The last line is the path of
        the report.

        \b
        Example:
          multikernel report comparison/
        """
        need("report", "jinja2", "matplotlib", "pandas")
        from ._study import rebuild_report

        print(rebuild_report(folder).resolve())
