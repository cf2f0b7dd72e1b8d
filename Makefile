# `make test` and `make train` each do everything from a bare clone; re-runs skip what is done.
#
#   make install        the virtual environment .venv with the pinned reference environment, and this package
#   make check          ruff, mypy (strict) and the layers of imports
#   make test           check, the tests with the kernels as plain Python, and the suite with compiled kernels
#   make test-long      the tests that take several seconds each: learning, killed actors, fuzzed files, extension pages
#   make docs           the site of these docs, in build/site: open index.html, no server needed
#   make package        the wheel and the source archive in dist/, each tried in an empty environment
#   make test-lowest    a part of the tests with the oldest versions that pyproject.toml allows: .venv-lowest, some gigabytes
#   make test-browser   the pages in a real browser: Chromium, which it installs where it may (Debian, root)
#   make test-cluster   the tests that need Ray, in an environment of their own: .venv-cluster
#   make test-jax       the tests that need JAX, which it adds to .venv
#   make test-peers     Gymnasium's and Stable-Baselines3's own tests with our backends in place; fetches them
#   make bench-peers    other libraries' vector environments for `garrison bench vector`, in an environment of their own: .venv-peers
#   make test-jax-clients  PureJaxRL, rejax and Gymnax 1.x on our JAX environment, in an environment of their own: .venv-jax-clients
#   make test-cyborg-clients CLIENTS=FOLDER CYBORG=FOLDER  other people's CAGE-2 programs on the original CybORG and on ours
#   make train          the training behind the published record, three minutes
#   make clean          remove everything that the targets above have made
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
JAX_STAMP := $(VENV)/installed-jax
JAX_TESTS := tests/jaxsim tests/learn/jax_ppo tests/bench/suites/test_jax_workloads.py
BROWSER_STAMP := $(VENV)/installed-browser
BROWSER_TESTS := tests/browser
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/installed
CLUSTER := .venv-cluster
CLUSTER_STAMP := $(CLUSTER)/installed
JAX_CLIENTS := .venv-jax-clients
JAX_CLIENTS_STAMP := $(JAX_CLIENTS)/installed
PEERS := .venv-peers
PEERS_STAMP := $(PEERS)/installed
PEERS_TESTS := tests/bench/suites/test_peer_vectors.py tests/bench/suites/test_classic_control.py
# What the suite leaves to targets of their own, because it needs more than the reference environment.
APART := $(JAX_TESTS) $(BROWSER_TESTS)
# Tests run in this many processes. Two are enough: many tests have worker processes of their own.
TESTS := 2
# How often test-cyborg-clients plays each program for its speed; 1: only for its results.
ROUNDS := 1

.PHONY: install check docs package kernels plain test test-long test-lowest test-jax test-browser test-cluster test-peers bench-peers test-jax-clients test-cyborg-clients train clean

install: $(STAMP)

$(STAMP): pyproject.toml requirements/reference.txt requirements/games.txt
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements/reference.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements/games.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A page in no nav, a link that leads nowhere or a name that cannot be found ends the build.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the site is in build/site: open build/site/index.html"

package: install
	rm -rf dist
	$(BIN)/python -m tests.helpers.packages dist

# Compile once what the processes of the suite would otherwise compile each for itself.
kernels: install
	$(BIN)/python -m tests.helpers.warm

# The simulator's kernels without a compiler: the same results, and errors that a debugger can step through.
plain: install
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(TESTS) tests/cage2 tests/properties tests/golden -m "not slow"

# What needs one core goes side by side; then the suite has the machine.
test: install
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target plain check kernels
	$(BIN)/python -m pytest -n $(TESTS) --dist worksteal -m "not long" $(APART:%=--ignore=%)

test-long: install kernels
	$(BIN)/python -m pytest -n $(TESTS) --dist worksteal -m long $(APART:%=--ignore=%)

# Apart from the suite: JAX takes all cores, and its threads do not go with tests that fork.
test-jax: $(JAX_STAMP) kernels
	$(BIN)/python -m pytest $(JAX_TESTS)

$(JAX_STAMP): $(STAMP) requirements/jax.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements/jax.txt
	@touch $@

# Without Chromium, and where it cannot be installed, these tests are skipped, and say so.
test-browser: $(BROWSER_STAMP)
	$(BIN)/python -m tests.helpers.browser
	$(BIN)/python -m pytest -n $(TESTS) --dist loadfile $(BROWSER_TESTS)

$(BROWSER_STAMP): $(STAMP) requirements/browser.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements/browser.txt
	@touch $@

# Ray has an environment of its own: RLlib needs another Gymnasium than the reference environment has.
test-cluster: $(CLUSTER_STAMP)
	$(CLUSTER)/bin/python -m pytest tests/cluster

$(CLUSTER_STAMP): pyproject.toml requirements/cluster.txt
	@test -d $(CLUSTER) || $(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check -r requirements/cluster.txt
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The simulator, the backends, runs and one training. Gymnasium 1.1's batches complain when one that was only half made is collected.
test-lowest: $(LOWEST_STAMP)
	$(LOWEST)/bin/python -m pytest -m "not long and not alone" -W default::pytest.PytestUnraisableExceptionWarning tests/test_cli.py tests/cage2 tests/vector tests/runs tests/agents tests/storage
	$(LOWEST)/bin/garrison train ppo-cartpole --steps 20000 --out $(LOWEST)/runs/$$(date +%s)

$(LOWEST_STAMP): pyproject.toml requirements/lowest.txt
	@test -d $(LOWEST) || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check -r requirements/lowest.txt
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

# Needs the network: the suites are fetched, for the versions that are installed.
test-peers: install
	$(BIN)/python -m tests.peers

# Every peer of `garrison bench vector`, each stepped for a moment, its steps counted inside the environments.
bench-peers: $(PEERS_STAMP)
	$(PEERS)/bin/python -m pytest $(PEERS_TESTS)

# PufferLib's build downloads raylib and Box2D from GitHub and imports NumPy and torch; where it fails, it has no rows.
$(PEERS_STAMP): pyproject.toml requirements/reference.txt requirements/peers.txt
	@test -d $(PEERS) || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r requirements/reference.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements/peers.txt
	-$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation gym-notices==0.1.0 gym==0.26.2 pufferlib==3.0.0
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Needs the network, or PUREJAXRL=FOLDER with a clone of it: PureJaxRL is no package.
test-jax-clients: $(JAX_CLIENTS_STAMP)
	$(JAX_CLIENTS)/bin/python -m tests.jax_clients

# CLIENTS holds clones of the programs, CYBORG is one or more folders with an original CybORG package, separated by colons.
test-cyborg-clients: install
	CLIENTS=$(CLIENTS) CYBORG=$(CYBORG) ROUNDS=$(ROUNDS) $(BIN)/python -m tests.cyborg_clients $(ONLY)

# Two versions of Gymnax, whose interfaces differ: 1.x lies in a folder of its own.
$(JAX_CLIENTS_STAMP): pyproject.toml requirements/jax-clients.txt
	@test -d $(JAX_CLIENTS) || $(PYTHON) -m venv $(JAX_CLIENTS)
	$(JAX_CLIENTS)/bin/pip install --quiet --disable-pip-version-check -r requirements/jax-clients.txt
	$(JAX_CLIENTS)/bin/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(JAX_CLIENTS)/gymnax-1 gymnax==1.0.1
	$(JAX_CLIENTS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

train: install
	$(BIN)/garrison train record --duration 170s

clean:
	rm -rf $(VENV) $(LOWEST) $(CLUSTER) $(JAX_CLIENTS) $(PEERS) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
