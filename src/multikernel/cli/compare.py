"""``multikernel compare``: does combining sources help, which carry it, how sure is that?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from . import _options as options
from ._needs import need
from ._output import INTERRUPTED, of_comparison, print_json, say

if TYPE_CHECKING:
    from ..comparison import Comparison


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Context, Exit, Option

    def number(name: str, metavar: str, text: str, least: float | None = None) -> Any:
        return Option(name, metavar=metavar, help=text, min=least, show_default=False)

    @app.command()  # type: ignore[untyped-decorator]
    def compare(
        context: Context,
        path: Annotated[Path, options.study()],
        target: Annotated[list[str] | None, options.target()] = None,
        sources: Annotated[list[str] | None, options.sources()] = None,
        groups: Annotated[list[str] | None, options.groups()] = None,
        ids: Annotated[str | None, options.ids()] = None,
        task: Annotated[str | None, options.task()] = None,
        cv: Annotated[int | None, number("--cv", "N", "Outer folds. [default: 5]", 2)] = None,
        repeats: Annotated[
            int | None, number("--repeats", "N", "Splits into folds. [default: 1]", 1)
        ] = None,
        models: Annotated[
            list[str] | None,
            Option(
                metavar="NAME",
                help="A model to compare, by its name in the table; repeat it for more, or "
                "separate names by semicolons. An unknown name lists them. [default: all]",
                show_default=False,
            ),
        ] = None,
        scoring: Annotated[str | None, options.scoring()] = None,
        permutations: Annotated[
            int | None,
            number("--permutations", "N", "Fits to permuted targets, for a p-value.", 0),
        ] = None,
        time_budget: Annotated[
            float | None,
            number("--time-budget", "SECONDS", "Begin no fit after this time.", 0),
        ] = None,
        jobs: Annotated[
            int | None, number("--jobs", "N", "Fits at the same time; -1 for all cores.")
        ] = None,
        out: Annotated[
            Path, Option("--out", metavar="DIR", help="Folder of results and report.")
        ] = Path("comparison"),
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Find out whether combining sources helps.

        And which of them carry it, and how sure that is. Fits multiple kernel learning and honest
        baselines (every source alone, their uniform sum, the best kernel, all columns side by
        side) on the same folds, and writes a table, a verdict and an HTML report, whose path is
        the last line. Every finished fit is kept in DIR: stop it with Ctrl-C and you have a
        partial report; run the same command again and it goes on.

        Values in the table [compare] of a TOML file are defaults that these options override.

        \b
        Examples:
          multikernel compare data/ --target clinic:outcome --out results
          multikernel compare data/ --target clinic:age --cv 5 --repeats 5 --jobs 4
          multikernel compare study.toml --models "MKL, lp; Bayesian" --time-budget 600
        """
        need("compare", "jinja2", "matplotlib", "pandas")
        from ..comparison.scoring import check_scoring
        from ._names import check_options, split_names
        from ._progress import show_progress
        from ._study import compare_study, concerns

        dataset = options.read_study(path, target, sources, groups, ids, task, needs_target=True)
        given = {
            "cv": cv,
            "repeats": repeats,
            "models": split_names(models),
            "scoring": scoring,
            "n_permutations": permutations,
            "time_budget": time_budget,
            "n_jobs": jobs,
        }
        asked = {k: v for k, v in given.items() if v is not None}
        check_options(path, dataset, overridden=asked)
        settings = {"random_state": 0, **dataset.options, **asked}
        if "scoring" in settings:
            check_scoring(settings["scoring"], str(dataset.task))
        notes = concerns(dataset, folds=settings.get("cv"))
        for note in notes:
            say(note)
        goes_on = f"interrupted; the same command goes on from {out}"
        try:
            with show_progress() as progress:
                outcome = compare_study(dataset, out, settings, notes, progress, context.obj)
        except KeyboardInterrupt:  # a second one, before the report was written
            say(goes_on)
            raise Exit(INTERRUPTED) from None
        result = outcome.comparison
        if as_json:
            print_json(of_comparison(result, outcome.report, outcome.notes))
        else:
            print(f"{result}\n\n{outcome.report.resolve()}")
        if outcome.interrupted:
            say(goes_on)
            raise Exit(INTERRUPTED)
        if _unfinished(result):
            say(f"the time budget is used up; with more, the same command goes on from {out}")
        if _headline_failed(result):
            raise Exit(1)


def _unfinished(result: "Comparison") -> bool:
    """Whether a fit was not begun, be it that to all samples."""
    whole = result.whole is not None or any(f["fold"] is None for f in result.failures)
    return not (result.complete and whole)


def _headline_failed(result: "Comparison") -> bool:
    """Whether the fits of the headline model failed on every fold, be they not of permutations."""
    failed = {f["fold"] for f in result.failures if f["model"] == result.headline}
    return result.headline not in result.models and len(failed) == result.n_folds
