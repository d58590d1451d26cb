"""The application: its commands, what all of them share, and errors in one sentence."""

import errno
import shlex
from importlib import import_module
from typing import Annotated, Any

from ._output import INTERRUPTED, say

COMMANDS = (
    "demo",
    "check",
    "compare",
    "fit",
    "predict",
    "report",
    "reproduce",
    "bench",
)  # a module each
_HELP = """Learn which data sources to trust, with a certificate.

\b
Start here:
  multikernel demo                                      see what it does, on data it brings
  multikernel check data/ --target clinic:outcome       look at your files before any fit
  multikernel compare data/ --target clinic:outcome     does combining sources help?

\b
Then use it:
  multikernel fit data/ --target clinic:outcome --out model.skops
  multikernel predict model.skops new-data/ --out predictions.csv

data/ is a folder with one table per source (CSV, TSV, Parquet, npy, npz, mat or mtx; rows are
samples, one column holds their ids), one table, or a TOML file that describes them.
Every command explains itself: multikernel compare --help

\b
Exit status: 0 done, 1 an error said in one sentence, 2 wrong usage, 3 problems found by check,
130 interrupted.
"""
_REFUSED = (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EACCES, errno.EPERM)
_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)  # whose messages are sentences


def make_app() -> Any:
    """The application with all of its commands."""
    import typer
    from typer.core import TyperGroup

    class Guarded(TyperGroup):
        """Commands whose errors are one sentence on stderr, and an exit status."""

        def parse_args(self, ctx: Any, args: list[str]) -> Any:
            ctx.obj = shlex.join(["multikernel", *args])  # the command line, for reports
            return super().parse_args(ctx, args)

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                say("interrupted")
                raise typer.Exit(INTERRUPTED) from None
            except _ERRORS as error:
                if ctx.params.get("traceback") or getattr(error, "errno", None) == errno.EPIPE:
                    raise
                say(_sentence(error))
                raise typer.Exit(1) from None

    app = typer.Typer(
        cls=Guarded,
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    _add_common_options(app)
    for command in COMMANDS:
        import_module(f".{command}", __package__).add_to(app)
    return app


def _sentence(error: Exception) -> str:
    """What is wrong; the system names no more than a file and a reason."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        hint = "; check its path and permissions" if error.errno in _REFUSED else ""
        return f"Could not use {error.filename}: {error.strerror}{hint}."
    return str(error)


def _add_common_options(app: Any) -> None:
    from typer import Exit, Option

    def print_version(wanted: bool) -> None:
        if wanted:
            from .._versions import installed_versions

            print(f"multikernel {installed_versions()['multikernel']}")
            raise Exit

    @app.callback()  # type: ignore[untyped-decorator]
    def common(
        version: Annotated[
            bool,
            Option("--version", help="Print the version.", is_eager=True, callback=print_version),
        ] = False,
        traceback: Annotated[
            bool, Option("--traceback", help="Show where an error comes from, for bug reports.")
        ] = False,
    ) -> None:
        """Options of all commands."""
