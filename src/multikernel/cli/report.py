"""``multikernel report``: the report of a comparison once more."""

from pathlib import Path
from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import print_json


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Argument

    @app.command()  # type: ignore[untyped-decorator]
    def report(
        folder: Annotated[
            Path, Argument(metavar="DIR", help="A folder of compare.", show_default=False)
        ],
        as_json: Annotated[bool, options.as_json()] = False,
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

        written = rebuild_report(folder).resolve()
        if as_json:
            print_json({"report": written})
        else:
            print(written)
