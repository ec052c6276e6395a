# Everything starts from nothing: the first target that needs it makes .venv, and later ones use it again.

# The newest Python of 3.11 to 3.14 that is there and works; name another with: make PYTHON=/path/to/python
PYTHON ?= $(shell for version in 3.14 3.13 3.12 3.11; do \
	python$$version -c 'import ensurepip, venv' >/dev/null 2>&1 && { echo python$$version; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow fuzz lint types docs docs-serve wheel-test bench map clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no working Python of 3.11 to 3.14 was found; name one with: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip $(PIP) --editable '.[dev]'
	@touch $@

demo: $(READY)  ## train, evaluate, explain and report on generated data
	$(BIN)/rankae demo

test: lint types  ## all checks but the slow ones, and the demo on a small size
	$(BIN)/python -m pytest -n 2
	$(BIN)/rankae demo --small --out $(VENV)/demo-output

test-slow: $(READY)  ## the slow tests
	$(BIN)/python -m pytest -m slow

fuzz: $(READY)  ## forged and damaged models and files, for a long time
	$(BIN)/python -m pytest tests/hardening -m "slow or not slow"

lint: $(READY)  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## type checks
	$(BIN)/mypy

docs: $(READY)  ## build the documentation site into site/, strictly
	$(BIN)/pip $(PIP) --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-serve: docs  ## the site on this machine, rebuilt at every change
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

wheel-test: $(READY)  ## build the wheel, install it alone with core dependencies, run the demo there
	rm -rf build/wheel && $(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv --clear build/wheel/venv
	build/wheel/venv/bin/pip $(PIP) build/wheel/*.whl
	cd build/wheel && venv/bin/rankae demo --small --out demo-output

bench: $(READY)  ## train and predict beside omikuji and napkinXC, and time the kernels and their growth with labels
	@set -e; for script in speed kernels growth readers; do echo "== $$script"; $(BIN)/python benchmarks/$$script.py; done

map: $(READY)  ## packages of the source: files, lines, what each imports
	$(BIN)/python benchmarks/house.py

clean:  ## remove what the other targets made
	rm -rf $(VENV) demo-output site build .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
