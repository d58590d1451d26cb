"""``multikernel fit``: one model on all samples, in a file that cannot run code."""

from pathlib import Path
from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import print_json, records


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
        ids: Annotated[str | None, options.ids()] = None,
        task: Annotated[str | None, options.task()] = None,
        model: Annotated[
            str, Option(metavar="NAME", help="A model by its name in the table of compare.")
        ] = "MKL, elastic net",
        inner_cv: Annotated[
            int, Option(metavar="N", min=2, help="Folds in which parameters are chosen.")
        ] = 5,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Fit one model to all samples and keep it in a file.

        Missing values and the scale of columns are learned here and kept with the model, so that
        predict takes files as they are. Prints the weights of all kernels.

        \b
        Examples:
          multikernel fit data/ --target clinic:outcome --out model.skops
          multikernel fit study.toml --model "MKL, lp" --out lp.skops
        """
        need("fit", "pandas", "skops")
        from ..persistence import save_model
        from ._models import fit_model

        if not out.parent.is_dir():
            raise FileNotFoundError(f"The folder {out.parent} does not exist; create it first.")
        dataset = options.read_study(path, target, sources, None, ids, task, needs_target=True)
        fitted = fit_model(dataset, model, inner_cv)
        save_model(fitted, out)
        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        chosen = dict(getattr(last, "best_params_", {}))
        if as_json:
            weights = records(last.kernel_table_)
            print_json(
                {"model": model, "file": out.resolve(), "chosen": chosen, "kernels": weights}
            )
            return
        print(last.kernel_table_.to_string(index=False, na_rep="", float_format="{:.4g}".format))
        print(f"\n{model}: " + ", ".join(f"{k}={_shown(v)}" for k, v in chosen.items()))
        print(out.resolve())


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
