"""``multikernel predict``: predictions of a model file for the samples of other files."""

from pathlib import Path
from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import print_json, records, say


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Argument, Option

    @app.command()  # type: ignore[untyped-decorator]
    def predict(
        model: Annotated[
            Path, Argument(metavar="MODEL", help="A file of multikernel fit.", show_default=False)
        ],
        path: Annotated[Path, options.study()],
        out: Annotated[Path, Option("--out", metavar="FILE", help="Where to write.")] = Path(
            "predictions.csv"
        ),
        sources: Annotated[list[str] | None, options.sources()] = None,
        ids: Annotated[str | None, options.ids()] = None,
        allow_missing: Annotated[
            bool, Option("--allow-missing", help="Go on without sources that the data lack.")
        ] = False,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Predict the target of new samples.

        Writes a CSV file with a row per sample: its id, the prediction and, for classes, their
        probabilities. The new files look like those that the model was fitted to; a target in
        them is not needed and not used. What the model does not know (columns, sources, levels of
        text) is said and not used.

        \b
        Examples:
          multikernel predict model.skops new-data/ --out predictions.csv
          multikernel predict model.skops new-data/ --allow-missing
        """
        need("predict", "pandas", "skops")
        from .._atomic import check_target, write_atomically
        from ..persistence import load_model
        from ._models import columns_of, levels_of, predict_table

        check_target(out)
        fitted = load_model(model)
        known = {"levels": levels_of(fitted), "columns": columns_of(fitted)}
        dataset = options.read_study(path, None, sources, None, ids, **known)
        options.keep_inputs(out, [model, *dataset.files.values()])
        table, notes = predict_table(fitted, dataset, allow_missing=allow_missing)
        for note in notes:
            say(note)
        write_atomically(out, table.to_csv(index=False).encode("utf-8"))
        if as_json:
            print_json({"file": out.resolve(), "notes": notes, "predictions": records(table)})
        else:
            print(f"{len(table)} predictions")
            print(out.resolve())
