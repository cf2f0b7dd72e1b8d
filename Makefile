# `make test` and `make train` each do everything from a bare clone; re-runs skip what is done.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
CLUSTER := .venv-cluster
CLUSTER_STAMP := $(CLUSTER)/installed

.PHONY: install check test test-cluster train clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements/reference.txt
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements/reference.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/python -m pytest
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/cage2 tests/properties tests/golden -m "not slow"

# Ray has an environment of its own: RLlib needs another Gymnasium than the reference environment has.
test-cluster: $(CLUSTER_STAMP)
	$(CLUSTER)/bin/python -m pytest tests/cluster

$(CLUSTER_STAMP): pyproject.toml requirements/cluster.txt
	@test -d $(CLUSTER) || $(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check -r requirements/cluster.txt
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

train: install
	$(BIN)/garrison train record --duration 170s

clean:
	rm -rf $(VENV) $(CLUSTER) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
