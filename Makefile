# Everything from a fresh clone with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
# The plainest processor there is (tests/golden/machines.py), and kernels that check their indices and
# are hardly optimised, which must not change a result and compiles sooner. Numba's cache does not tell
# these from the usual ones, so that they have a folder of their own.
PLAIN = OPENBLAS_CORETYPE=Prescott NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL X86_V3" \
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable NUMBA_CPU_NAME=generic \
	NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR=$(CURDIR)/.venv/plain-kernels
# One process for each core, up to 8; WORKERS=0 runs one test after another in this one.
WORKERS ?= auto
# What `make test-oldest` runs.
OLDEST ?= tests
# How long `make fuzz` goes on.
SECONDS ?= 600
# The workers use all cores: threads of BLAS and OpenMP would only spin while they wait for one
# (tests/golden/machines.py has fits with several). Bytecode is written, also where the environment
# says otherwise, because the tests start many processes that import the same files, and because pip
# leaves it to the first import: most of the files that it installs are never imported.
RUN = PYTHONDONTWRITEBYTECODE= $(BIN)/python
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE \
	$(RUN) -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist worksteal
# The small passes run beside the large one, each in one process that yields to it a little: they use
# the time in which it starts and waits for other programs, and end before it comes to the golden
# models of a plain processor, which need the same kernels.
BESIDE = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE \
	nice -n 3 env $(RUN) -m pytest -q -n 0 -p no:cacheprovider

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz lint format docs build test-oldest bench quality pages papers papers-quick api golden clean
# All of them write to the one environment.
.NOTPARALLEL:

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# The package alone is enough for the demo; tests need more, then come lint and the benchmarks' peers.
# uv takes a third of pip's time or less. It does not read pip's settings: where it finds no packages, pip does.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "auctor needs Python 3.11 or later; set PYTHON=")'
	@echo "installing $(1) into .venv (once; about $(2))"
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(PIP) install --quiet uv && $(BIN)/uv pip install --quiet --python $(BIN)/python -e '$(3)' || \
		$(PIP) install --quiet --no-compile -e '$(3)'
	@touch $(4)
endef

.venv/runtime: pyproject.toml
	$(call install,auctor and what it needs,10 seconds,.,$@)

.venv/test: pyproject.toml
	$(call install,auctor and what its tests need,15 seconds,.[test],.venv/runtime $@)

.venv/dev: pyproject.toml
	$(call install,auctor and the tools for tests and lint,15 seconds,.[dev],.venv/runtime .venv/test $@)

.venv/bench: pyproject.toml
	$(call install,auctor and the peers for benchmarks,half a minute,.[bench],.venv/runtime .venv/test .venv/dev $@)

.venv/docs: pyproject.toml
	$(call install,auctor and what its site needs,15 seconds,.[docs],.venv/runtime $@)

.venv/release: pyproject.toml
	$(call install,auctor and the tools for a release,15 seconds,.[release],.venv/runtime $@)

demo: .venv/runtime ## Cross-validate, fit, save, score and evaluate on a real table
	$(RUN) examples/01_first_model.py

test: .venv/test ## All tests; kernels also with checked indices and uncompiled (WORKERS=0: serially)
	@$(PLAIN) $(BESIDE) tests/kernels tests/learners/test_contracts.py >.venv/plain.log 2>&1 & plain=$$!; \
	NUMBA_DISABLE_JIT=1 $(BESIDE) tests/kernels >.venv/uncompiled.log 2>&1 & uncompiled=$$!; \
	trap 'kill $$plain $$uncompiled' EXIT; trap 'exit 130' INT TERM; failed=0; \
	$(PYTEST) || failed=1; \
	echo "kernels and contracts with checked indices, as on a plain processor:"; \
	wait $$plain || failed=1; cat .venv/plain.log; \
	echo "kernels uncompiled:"; \
	wait $$uncompiled || failed=1; cat .venv/uncompiled.log; \
	trap - EXIT; exit $$failed

fuzz: .venv/test ## Attack models, tables and CSV files with new seeds (SECONDS=600)
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --seconds $(SECONDS)

lint: .venv/dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The examples of the pages are run, then the gallery, which Sphinx keeps until an example changes.
docs: .venv/docs ## The site, into docs/_build/html: examples run, warnings are errors, links checked
	OMP_NUM_THREADS=1 $(RUN) -m pytest -q -p no:cacheprovider --doctest-glob='*.rst' docs/start docs/guide docs/methods
	OMP_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/sphinx-build --fail-on-warning --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html
	@echo "file://$(CURDIR)/docs/_build/html/index.html"

build: .venv/release ## Wheel and source distribution, checked, and the demo from the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist
	rm -rf .venv/wheel && $(PYTHON) -m venv .venv/wheel
	.venv/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd .venv/wheel && env -u PYTHONPATH bin/python $(CURDIR)/examples/01_first_model.py
	rm -rf .venv/wheel

# Old libraries warn of newer ones below them; that is not what is tested.
test-oldest: ## The tests with the oldest dependencies that pyproject.toml allows, in .venv-oldest
	test -d .venv-oldest || $(PYTHON) -m venv .venv-oldest
	$(PYTHON) tools/oldest.py plot excel export dask test > .venv-oldest/requirements.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-oldest/requirements.txt -e .
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -q -n $(WORKERS) --maxprocesses 8 -W ignore::DeprecationWarning -W ignore::FutureWarning $(OLDEST)

bench: .venv/bench ## Speed against the peers, side by side, as ratios
	$(BIN)/python benchmarks/run.py

quality: .venv/bench ## Cross-validated AUC against the peers on the tables in AUCTOR_DATA
	$(BIN)/python benchmarks/quality.py

pages: .venv/runtime ## Tables of the measured pages from benchmarks/results
	$(BIN)/python benchmarks/pages.py

papers: .venv/bench ## Tables, figures and theorems of the papers, into docs/papers; takes hours, continues after an interruption
	$(BIN)/python -m papers all --jobs 2 --out docs/papers --results papers/results

papers-quick: .venv/bench ## The same on small sizes, into papers-output/quick; takes minutes
	$(BIN)/python -m papers all --quick --jobs 2 --out papers-output/quick

api: .venv/test ## Rewrite the stored lists of public names, parameters and flags
	PYTHONPATH=tests $(BIN)/python -m public_api

golden: .venv/test ## Rewrite the stored models that tests compare with (CASES="rankboost dmks": these)
	PYTHONPATH=tests $(BIN)/python -m golden.rewrite $(CASES)

clean: ## Remove the environment and all generated files
	rm -rf .venv .venv-oldest dist docs/_build docs/gallery docs/api/generated demo-output papers-output .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
