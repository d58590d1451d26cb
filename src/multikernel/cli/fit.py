"""``multikernel fit``: one model on all samples, in a file that cannot run code."""

from pathlib import Path
from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import print_json, records, say


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Option

    @app.command()  # type: ignore[untyped-decorator]
    def fit(
        path: Annotated[Path, options.study()],
        out: Annotated[
            Path, Option("--out", metavar="FILE", help="The model file.", show_default=False)
        ],
        target: Annotated[list[str] | None, options.target()] = None,
        sources: Annotated[list[str] | None, options.sources()] = None,
        groups: Annotated[list[str] | None, options.groups()] = None,
        ids: Annotated[str | None, options.ids()] = None,
        task: Annotated[str | None, options.task()] = None,
        model: Annotated[
            str, Option(metavar="NAME", help="A model by its name in the table of compare.")
        ] = "MKL, elastic net",
        inner_cv: Annotated[
            int | None,
            Option(
                metavar="N",
                min=2,
                help="Folds in which parameters are chosen. [default: 3]",
                show_default=False,
            ),
        ] = None,
        scoring: Annotated[str | None, options.scoring()] = None,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Fit one model to all samples and keep it in a file.

        The model is made as compare makes it, and its parameters are chosen in the same manner:
        in shuffled folds that keep groups together. inner_cv, scoring and random_state in the
        table [compare] of a TOML file are defaults here, too. Missing values, the scale of columns
        and the levels of text are learned here and kept with the model, so that predict takes
        files as they are. Prints what is wrong with the data, as check does, the weights of all
        kernels, and whether they say little: where they are nearly uniform, or the chosen C is at
        an end of those that were tried.

        \b
        Examples:
          multikernel fit data/ --target clinic:outcome --out model.skops
          multikernel fit data/ --target clinic:outcome --groups clinic:site --out model.skops
          multikernel fit study.toml --model "MKL, lp" --out lp.skops
        """
        need("fit", "pandas", "skops")
        from .._atomic import check_target
        from ..comparison.scoring import check_scoring
        from ..persistence import save_model
        from ._models import fit_model
        from ._names import check_model
        from ._remarks import fit_remarks
        from ._study import concerns

        check_target(out)
        model = check_model(model)
        dataset = options.read_study(path, target, sources, groups, ids, task, needs_target=True)
        options.keep_inputs(out, dataset.files.values())
        given = {"inner_cv": inner_cv, "scoring": scoring}
        settings = {k: v for k, v in dataset.options.items() if k in (*given, "random_state")}
        settings |= {k: v for k, v in given.items() if v is not None}
        if "scoring" in settings:
            check_scoring(settings["scoring"], str(dataset.task))
        notes = concerns(dataset, folds=settings.get("inner_cv", 3))
        for note in notes:
            say(note)
        fitted = fit_model(dataset, model, **settings)
        save_model(fitted, out)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        remarks = fit_remarks(last)
        for remark in remarks:
            say(remark)
        chosen = dict(getattr(last, "best_params_", {}))
        score = getattr(last, "best_score_", None)
        if as_json:
            weights = records(last.kernel_table_)
            content = {"model": model, "file": out.resolve(), "chosen": chosen, "score": score}
            print_json({**content, "notes": notes + remarks, "kernels": weights})
            return
        print(last.kernel_table_.to_string(index=False, na_rep="", float_format="{:.4g}".format))
        reached = "" if score is None else f"; mean score of the inner folds {score:.3f}"
        print(f"\n{model}: " + ", ".join(f"{k}={_shown(v)}" for k, v in chosen.items()) + reached)
        print(out.resolve())


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
