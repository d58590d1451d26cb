"""The command line: argument parsing only; every command calls a public function."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import DemoResult


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``multikernel`` with these arguments and return its exit status."""
    arguments = _parser().parse_args(argv)
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("multikernel.report").setLevel(logging.INFO)  # progress
    try:
        return int(arguments.run(arguments))
    except OSError as error:
        print(f"multikernel: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("multikernel: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="multikernel", description="Learn which data sources to trust, with a certificate."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="learn which of five simulated sources matter and write an HTML report",
        description="Cross-validate multiple kernel learning and its baselines on the embedded "
        "data, print the table and write an HTML report. The last line is its path.",
    )
    demo.add_argument("--out", default=".demo", metavar="DIR", help="folder of the report (.demo)")
    demo.set_defaults(run=_demo)
    return parser


def _demo(arguments: argparse.Namespace) -> int:
    missing = [name for name in ("jinja2", "matplotlib", "pandas") if find_spec(name) is None]
    if missing:
        needs = f"multikernel demo needs {', '.join(missing)}"
        print(f"{needs}: pip install 'multikernel[cli]'", file=sys.stderr)
        return 1
    from .report import run_demo

    _print_demo(run_demo(arguments.out))
    return 0


def _print_demo(result: DemoResult) -> None:
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


if __name__ == "__main__":
    sys.exit(main())
