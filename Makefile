# Everything starts from nothing: the first target that needs it makes .venv, and later ones use it again.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint types bench clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found; name another with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)  ## train, evaluate, explain and report on generated data
	$(BIN)/rankae demo

test: lint types  ## all checks but the slow ones, and the demo on a small size
	$(BIN)/python -m pytest -n 2
	$(BIN)/rankae demo --small --out $(VENV)/demo-output

test-slow: $(READY)  ## the slow tests
	$(BIN)/python -m pytest -m slow

lint: $(READY)  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## type checks
	$(BIN)/mypy

bench: $(READY)  ## train and predict beside omikuji and napkinXC, and time the kernels and their growth with labels
	@set -e; for script in speed kernels growth readers; do echo "== $$script"; $(BIN)/python benchmarks/$$script.py; done

clean:  ## remove what the other targets made
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
