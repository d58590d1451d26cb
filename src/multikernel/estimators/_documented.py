"""Where an estimator is documented: the link of its HTML representation."""

from __future__ import annotations

from typing import Any


class Documented:
    """An estimator with a page of its own in the reference."""

    _doc_link_module = "multikernel"
    _doc_link_template = "https://multikernel.readthedocs.io/en/stable/api/{estimator_name}.html"

    def _doc_link_url_param_generator(self, *_: Any) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}
