# Two commands for everybody: `make run` and `make test`. They need Python 3.11 or newer and a network, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
GAME ?= tictactoe
PRESET ?= tictactoe
LIVE := gnugo grhino stockfish chromium
# What is of no use without the compiler; it is tested with it.
COMPILED := */rules/compiler.py,*/rules/wasm.py,*/rules/fingerprint.py,*/rules/kernel_cache.py,*/rules/plain.py,*/rules/cuda*.py,*/rules/whereabouts.py
OLDEST := tests/rules tests/search/test_uct.py tests/search/test_puct.py tests/agents tests/apps/test_cli.py \
	tests/apps/test_web_server.py tests/apps/test_web_play.py
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: run play train test test-all cluster bounds plain quick minutes wheel live lint style types bench docs oldest clean

run: $(VENV)/installed
	@$(BIN)/tengen serve

play: $(VENV)/installed
	@$(BIN)/tengen play $(GAME)

train: $(VENV)/installed-train
	@$(BIN)/tengen train $(PRESET)

test: style # four at a time, on two cores, since many tests wait for other processes
	$(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder --ignore tests/without_jit -m "not long and not cluster" --junit-xml $(VENV)/tests.xml
	@$(MAKE) --no-print-directory --output-sync=target -j4 cluster types bounds plain

cluster: # Ray's machines: these tests mostly wait, so they run beside the other parts
	$(BIN)/pytest --ignore tests/without_jit -m "cluster and not long" --junit-xml $(VENV)/cluster.xml

bounds: # the rules with every index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 --dist loadfile -m "not long" tests/games --junit-xml $(VENV)/checked.xml

plain: # the rules as plain Python, and how much of them is run
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest tests/without_jit
	$(BIN)/coverage report --include="*/tengen/games/*,*/tengen/rules/*" --omit="$(COMPILED)" --fail-under=85

quick: lint # before each commit: lint, types, and the tests of what changed since main
	@tests=$$($(BIN)/python tests/changed.py) || exit 1; \
	if [ -z "$$tests" ]; then echo "no test is about what changed"; \
	else $(BIN)/pytest -n 2 --dist loadfile -m "not long and not slow" $$tests || [ $$? = 5 ]; fi

test-all: lint live
	$(BIN)/pytest -n 2 --dist loadfile --ignore tests/without_jit
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 --dist loadfile --ignore tests/without_jit -m "not long"

live: # the engines and the browser of the live tests, which skip without them, and say so
	@dpkg -s $(LIVE) >/dev/null 2>&1 \
	|| (command -v apt-get >/dev/null && $(SUDO) apt-get install -y -qq $(LIVE) >/dev/null) \
	|| echo "make: install $(LIVE), or the tests that need them skip"

lint: style types

style: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/installed-dev
	$(BIN)/mypy

minutes: test # where they go, as a table in CONTRIBUTING.md
	$(BIN)/python tests/minutes.py $(VENV)/tests.xml $(VENV)/cluster.xml $(VENV)/checked.xml

wheel: $(VENV)/installed-dev # the wheel and the source archive, into dist/; the wheel is tried in an empty environment
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	TENGEN_WHEEL=$$(ls dist/*.whl) $(BIN)/pytest tests/test_wheel.py

docs: $(VENV)/installed-docs # the site, into site/: open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/installed-dev
	$(BIN)/tengen bench rules

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tengen needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/installed-train: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[train]"
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	@touch $@ $(VENV)/installed

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@ $(VENV)/installed $(VENV)/installed-train $(VENV)/installed-docs

oldest: # what players use, tried with the oldest versions of other packages that pyproject.toml allows
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(PYTHON) bench/oldest.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check --constraint $(VENV)-oldest/constraints.txt --editable . \
		httpx hypothesis pytest
	XDG_CACHE_HOME=$(CURDIR)/$(VENV)-oldest/cache $(VENV)-oldest/bin/pytest -m "not long" $(OLDEST)

clean:
	rm -rf $(VENV) $(VENV)-oldest build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
