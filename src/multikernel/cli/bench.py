"""``multikernel bench``: how fast one fit is on this machine."""

from typing import Annotated, Any

from . import _options as options
from ._output import print_json
from ._timing import time_one_fit


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Option

    @app.command()  # type: ignore[untyped-decorator]
    def bench(
        quick: Annotated[bool, Option("--quick", help="200 samples instead of 1,000.")] = False,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Time one fit on this machine.

        In seconds, and in passes over all kernels. The number of passes is the same on every
        machine; the seconds of one pass are not.

        \b
        Example:
          multikernel bench --quick
        """
        timing = time_one_fit(n_samples=200 if quick else 1000)
        if as_json:
            print_json(timing)
            return
        for name, value in timing.items():
            print(f"{name:<18}{value:>12.4g}")
