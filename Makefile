# Two commands on a fresh machine with Python >= 3.11:  make demo   and   make test
# Everything is installed into $(VENV); nothing outside this folder is touched.

PYTHON ?= python3
VENV   ?= .venv
OUT    ?= .demo
JOBS   ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# One BLAS thread per test process: the processes already fill the cores.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 BLIS_NUM_THREADS=1

.PHONY: help demo test docs reproductions lint types doctest format clean
.DELETE_ON_ERROR:

help:
	@echo "make demo     learn which sources matter, on simulated and on real data; tables here, reports in $(OUT)/"
	@echo "make test     the whole test suite"
	@echo "make lint     ruff: rules and formatting        make format   apply both"
	@echo "make types    mypy                              make doctest  the examples in docstrings"
	@echo "make reproductions   a quick look at the experiments of the papers, on stand-ins"
	@echo "make docs     the site, from nothing and without warnings, in docs/_build/html"
	@echo "make clean    remove $(VENV), $(OUT) and what make docs has built"

demo: $(VENV)/.installed
	@$(BIN)/multikernel demo --out $(OUT)

test: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -q

doctest: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m pytest -q --doctest-modules src

# -W: a warning is an error. The gallery and the reference are made anew from examples/ and src/.
docs: $(VENV)/.installed-docs
	rm -rf docs/_build docs/api docs/auto_examples
	JOBS=$(JOBS) MPLBACKEND=agg $(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -j $(JOBS) docs docs/_build/html

reproductions: $(VENV)/.installed-test
	@for name in $$($(BIN)/multikernel reproduce | cut -d' ' -f1); do \
		echo "$$name"; $(ONE_THREAD) $(BIN)/multikernel reproduce $$name --quick --stand-in \
			--jobs $(JOBS) --out $(VENV)/reproductions/$$name > $(VENV)/log 2>&1 || { cat $(VENV)/log; exit 1; }; \
	done

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(VENV)/.installed-lint
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(VENV)/.installed-lint
	$(BIN)/mypy

clean:
	rm -rf $(VENV) $(OUT) docs/_build docs/api docs/auto_examples

# The stamps make a second run quick: pip is asked again only when pyproject.toml changes.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "multikernel needs Python >= 3.11: try  make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "Could not create $(VENV): try  sudo apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing multikernel into $(VENV) (once) ..." >&2
	@$(PIP) --upgrade "pip>=25.1"
	@$(PIP) --editable ".[cli]"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@$(PIP) --group test
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	@$(PIP) --group docs
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed-test
	@$(PIP) --group lint
	@touch $@
