"""``multikernel reproduce``: the experiments of the papers, done again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from . import _options as options
from ._needs import need
from ._output import INTERRUPTED, print_json, say

if TYPE_CHECKING:
    from ..reproductions import Reproduction


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Argument, Exit, Option

    @app.command()  # type: ignore[untyped-decorator]
    def reproduce(
        name: Annotated[
            str | None, Argument(metavar="NAME", help="The experiment.", show_default=False)
        ] = None,
        data: Annotated[
            Path | None,
            Option(metavar="DIR", help="Folder of the data sets. [default: data]"),
        ] = None,
        quick: Annotated[
            bool, Option("--quick", help="Look at every step in less than two minutes.")
        ] = False,
        stand_in: Annotated[
            bool, Option("--stand-in", help="Synthetic data instead of the original ones.")
        ] = False,
        jobs: Annotated[
            int | None,
            Option("--jobs", metavar="N", help="Tasks at the same time; -1 for all cores."),
        ] = None,
        out: Annotated[
            Path | None,
            Option(
                metavar="DIR",
                help="Folder of results and report. [default: reproductions/NAME, or NAME-quick]",
            ),
        ] = None,
        docs: Annotated[
            Path | None,
            Option(metavar="DIR", help="Also write the results into the page DIR/NAME.md."),
        ] = None,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Do an experiment of a paper again.

        Without NAME, lists the experiments. Ends with the paper's tables, drawn from this run,
        beside its printed numbers, and the path of an HTML report. Every finished task is kept:
        stop it, run the same command again, and it goes on.

        \b
        Examples:
          multikernel reproduce
          multikernel reproduce motorcycle
          multikernel reproduce simplemkl --data DIR --jobs 2
          multikernel reproduce caltech101 --quick --stand-in
        """
        need("reproduce", "jinja2", "matplotlib", "pandas")
        from ..reproductions import EXPERIMENTS
        from ..reproductions import reproduce as run
        from ._progress import show_progress

        if name is None:
            for experiment in EXPERIMENTS.values():
                print(f"{experiment.name:<14}{experiment.title}")
            return
        with show_progress() as progress:
            done = run(
                name,
                data=data,
                out=out,
                quick=quick,
                stand_in=stand_in,
                n_jobs=jobs,
                progress=progress,
            )
        if done.summary is None:
            say(
                f"interrupted after {done.n_done} of {done.n_tasks} tasks; the same command goes on"
            )
            raise Exit(INTERRUPTED)
        if docs is not None and done.page is not None:
            from ..reproductions.page import update_docs

            update_docs(docs, name, done.page)
        if as_json:
            print_json(_as_json(done))
        elif done.page is not None and done.report is not None:
            print(done.page.read_text(encoding="utf-8"))
            print(done.report.resolve())


def _as_json(done: "Reproduction") -> dict[str, Any]:
    sections = done.summary.sections if done.summary is not None else []
    return {
        "experiment": done.name,
        "stand_in": done.stand_in or None,
        "findings": done.summary.findings if done.summary is not None else [],
        "tables": {
            section.heading: {name: list(column) for name, column in section.table.items()}
            for section in sections
            if section.table is not None
        },
        "seconds": done.seconds,
        "report": done.report.resolve() if done.report is not None else None,
    }
