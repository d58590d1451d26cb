"""``multikernel check``: what to know about data before any fit."""

import json
from pathlib import Path
from typing import Annotated, Any

from . import _options as options
from ._needs import need
from ._output import print_json

_PROBLEMS = 3


def add_to(app: Any) -> None:
    """Add the command to an application."""
    from typer import Exit

    @app.command()  # type: ignore[untyped-decorator]
    def check(
        path: Annotated[Path, options.study()],
        target: Annotated[list[str] | None, options.target()] = None,
        sources: Annotated[list[str] | None, options.sources()] = None,
        groups: Annotated[list[str] | None, options.groups()] = None,
        ids: Annotated[str | None, options.ids()] = None,
        task: Annotated[str | None, options.task()] = None,
        as_json: Annotated[bool, options.as_json()] = False,
    ) -> None:
        """Look at data before any fit.

        Says which samples the sources share, what the target is, which columns are constant,
        missing or smell of a leak, whether kernels are valid or nearly the same, and how much
        memory they need. Exits with 3 where a fit would fail or mislead.

        \b
        Examples:
          multikernel check data/ --target clinic:outcome
          multikernel check study.toml --json
        """
        need("check", "pandas")
        from ..files import check_sources
        from ._names import check_options

        dataset = options.read_study(path, target, sources, groups, ids, task)
        check_options(path, dataset)
        found = check_sources(dataset)
        if as_json:
            print_json(json.loads(found.to_json()))
        else:
            print(dataset)
            print(found)
        if not found.ok:
            raise Exit(_PROBLEMS)
