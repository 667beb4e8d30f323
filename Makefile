# Everything a clone needs, from the package registries alone: python3 (3.11+) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced

.PHONY: setup lock demo kernel test-kernel test acceptance check lint test-long test-long-subset test-fuzz test-history test-browser test-outside test-outside-subset test-zoo test-conformance test-release release-check changelog dist web docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

# requirements.lock pins every package by hash for every platform; it names no index, so any mirror serves.
lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate pyproject.toml \
		--group dev --group docs --group outside --group browser --group notebook --group release \
		--extra cluster --extra operator --extra pandas -o requirements.lock

demo: setup
	@$(BIN)/python scripts/demo.py

# The compiled kernel, optional: needs cargo. Nothing else in this file does.
kernel: setup
	$(BIN)/uv pip install --quiet --python $(BIN)/python --reinstall-package seatrial-kernel ./kernel

# The kernel in an environment of its own, so that all other suites stay without it.
test-kernel:
	$(MAKE) VENV=$(VENV)-kernel kernel
	SEATRIAL_KERNEL=on $(VENV)-kernel/bin/pytest -n 2 \
		tests/scheduler tests/verify tests/examples/test_with_kernel.py tests/control_plane/test_slow_extender.py
	SEATRIAL_KERNEL=on $(VENV)-kernel/bin/seatrial verify golden tests/golden/kube-scheduler

lint: setup
	$(BIN)/ruff check src tests scripts examples
	$(BIN)/ruff format --check src tests scripts examples
	$(BIN)/mypy
	$(BIN)/lint-imports

# Many tests wait for processes that they start: four at a time keep two cores busy.
test: lint
	$(BIN)/pytest -n 4

# Runs the tests that prove rows of the acceptance table, and writes into it those that pass.
acceptance: setup
	$(BIN)/pytest -n 2 -m "proves and not outside and not long and not browser" --proofs
	$(BIN)/pytest -m "proves and (outside or long or browser)" --proofs

test-long: setup
	SEATRIAL_FUZZ_REQUESTS=$${SEATRIAL_FUZZ_REQUESTS:-200000} $(BIN)/pytest -m long
	SEATRIAL_POWER_RUNS=$${SEATRIAL_POWER_RUNS:-50} $(BIN)/pytest tests/store/durable/test_power_loss.py

# What a change is landed with: fuzzing, ten runs of every example, many simulations at once, large files and clusters.
test-long-subset: setup
	$(BIN)/pytest -m long tests/server tests/examples tests/operator/test_many_and_large.py tests/vcsim \
		--ignore tests/server/hardening/test_crashes.py --ignore tests/server/hardening/test_attacks.py

# Requests from a grammar with 20 restarts, wrong types in the metadata of every kind, and single requests that are made
# to cost much; it also limits how long /readyz may take.
test-fuzz: setup
	SEATRIAL_FUZZ_REQUESTS=$${SEATRIAL_FUZZ_REQUESTS:-500000} SEATRIAL_FUZZ_STALL=$${SEATRIAL_FUZZ_STALL:-0.25} \
		$(BIN)/pytest -s -m long tests/server/test_grammar_fuzz.py tests/server/hardening

# Writers, watchers and kills of a server; what they see must have one explanation. An hour, unless the variable says else.
test-history: setup
	SEATRIAL_HISTORY_SECONDS=$${SEATRIAL_HISTORY_SECONDS:-3600} $(BIN)/pytest -s -m long tests/server/test_history_checker.py

test-browser: setup
	$(BIN)/pytest -m browser tests/web

# The page is built with Node and committed; users need none.
web: setup
	$(BIN)/python scripts/build_web.py

test-outside: setup
	$(BIN)/pytest -m outside tests/outside

test-outside-subset: setup
	$(BIN)/pytest -m "outside and not long" tests/outside

# Files and programs of others, from the Go module proxy at pinned versions.
test-zoo: setup
	$(BIN)/pytest -m outside tests/outside/zoo

# Kubernetes' own end-to-end tests against seatrial serve, most of an hour; the first time they are built (5 minutes).
test-conformance: setup
	$(BIN)/pytest -n 3 -s -m outside tests/outside/test_conformance.py

# The wheel and the sdist of seatrial, and this platform's wheel of the kernel where cargo is installed.
dist: setup
	$(BIN)/python scripts/build_packages.py dist

# The packages, installed in clean places and used as docs/install.md says.
test-release: setup
	$(BIN)/pytest -m release tests/packaging

# What must hold before a version is tagged: version, changelog, lock and definitions agree, and everything installs.
release-check: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python scripts/release_check.py dist

# Builds the fragments of changelog.d into a section of CHANGELOG.md for the version of src/seatrial/__init__.py.
changelog: setup
	$(BIN)/python scripts/changelog.py

docs: setup
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache site dist
