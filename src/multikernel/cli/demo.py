"""``multikernel demo``: the main job on embedded data."""

import logging
import sys
from typing import TYPE_CHECKING, Annotated, Any

from ._needs import need

if TYPE_CHECKING:
    from ..report import DemoResult


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Option

    @app.command()  # type: ignore[untyped-decorator]
    def demo(
        out: Annotated[str, Option(metavar="DIR", help="Folder of the report.")] = ".demo",
    ) -> None:
        """See what it does: which of five simulated sources matter?

        Cross-validates multiple kernel learning and its baselines on embedded data, prints the
        table and writes an HTML report. The last line is its path.

        \b
        Example:
          multikernel demo --out demo
        """
        need("demo", "jinja2", "matplotlib", "pandas")
        from ..report import run_demo

        logging.basicConfig(format="%(message)s", stream=sys.stderr)
        logging.getLogger("multikernel.report").setLevel(logging.INFO)  # progress
        _print(run_demo(out))


def _print(result: "DemoResult") -> None:
    print(f"\n{'model':<22}{'accuracy':>15}{'active kernels':>17}{'seconds':>10}")
    for score in result.scores:
        accuracy = f"{score.mean:.3f} ± {score.sd:.3f}"
        print(f"{score.name:<22}{accuracy:>15}{score.n_active:>17.1f}{score.seconds:>10.2f}")
    print("\nshare of the weight (elastic-net MKL, all samples)")
    for source, share in sorted(result.shares.items(), key=lambda item: -item[1]):
        print(f"  {source:<12}{share:>5.0%}  {'█' * round(40 * share)}")
    print()
    print("\n".join(result.verdict))
    print(f"\n{result.report.resolve()}")
