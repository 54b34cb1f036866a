# Everything from a fresh clone with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
NO_CACHE_HIT = NUMBA_CACHE_DIR=$$(mktemp -d)

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench quality golden clean

help: ## List what make can do
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

# The package alone is enough for the demo; tests, lint and benchmarks need the rest.
.venv/runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "auctor needs Python 3.11 or later; set PYTHON=")'
	@echo "installing auctor and what it needs into .venv (once; about half a minute)"
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/dev: .venv/runtime
	@echo "installing the tools for tests, lint and benchmarks into .venv (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: .venv/runtime ## Cross-validate, fit, save, score and evaluate on a real table
	$(BIN)/python examples/01_first_model.py

test: .venv/dev ## All tests; kernels once more with checked indices and without compilation
	$(BIN)/python -m pytest -q
	NUMBA_BOUNDSCHECK=1 $(NO_CACHE_HIT) $(BIN)/python -m pytest -q tests/kernels
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/kernels

lint: .venv/dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev ## Put the layout right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev ## Speed against the peers, side by side, as ratios
	$(BIN)/python benchmarks/run.py

quality: .venv/dev ## Cross-validated AUC against the peers on the tables in AUCTOR_DATA
	$(BIN)/python benchmarks/quality.py

golden: .venv/dev ## Rewrite the stored models that tests compare with
	PYTHONPATH=tests $(BIN)/python -m golden.rewrite

clean: ## Remove the environment and what was written
	rm -rf .venv demo-output .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
