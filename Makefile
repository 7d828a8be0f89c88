# Every target sets up what it needs: `make demo` and `make test` work in a fresh clone, with nothing installed but
# Python 3.11 or newer (with venv), git and make.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The newest Python that can make an environment; PYTHON=python3.12 chooses another.
PYTHON ?= $(firstword $(foreach name,python3.14 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import ensurepip, venv' 2>/dev/null && echo $(name))) python3)

# --dry-run uses the emulator.
SMOKE_ARGS ?=

# CONSTRAINTS=deploy/constraints/dev.txt installs just the versions and hashes that it has, as CI does.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

TEST_ARGS ?= --processes auto
FUZZ_SECONDS ?= 60

SCRIPTS := .ci/run .ci/go-program $(wildcard deploy/*.sh deploy/*/*.sh)

# Run a program with arguments. Neither actionlint nor shellcheck comes as a package that installs everywhere.
if_installed = @if command -v $(1) >/dev/null; then echo $(1) $(2); $(1) $(2); \
	else echo "$(1) is not installed: what it checks is not checked here." >&2; fi

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz lint words format bench catalog arm-types reference constraints site azure-smoke clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## the main job, step by step, on the emulator: plan, sync, drift, accept, revert, Flux, a drill
	@$(BIN)/python tools/demo.py

test: $(READY) ## all tests; TEST_ARGS='tests/desired/request -k owner' for some of them
	$(BIN)/pytest $(TEST_ARGS)

fuzz: $(READY) ## hostile input of every kind for a minute; FUZZ_SECONDS=600 for longer
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest tests/fuzz

COPIED := deploy/pipelines/accept-github.yaml deploy/pipelines/drill-github.yaml deploy/pipelines/site-github.yaml # workflows of other repositories

lint: $(READY) ## rules, layout, types, layers; workflows, templates and scripts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet --strict-collection . $(COPIED)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yaml $(COPIED)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci deploy/pipelines/gitlab*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.azure-pipelines --data-transform azure-pipelines \
		deploy/pipelines/azure-pipelines.yml
	$(call if_installed,actionlint)
	$(call if_installed,actionlint,$(COPIED))
	$(call if_installed,shellcheck,$(SCRIPTS))

words: $(READY) ## words that we do not use, in messages, help and documentation
	$(BIN)/python tools/words.py

format: $(READY) ## lay the code out, and fix what the rules can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) ## how fast it is, as ratios against a bare client
	$(BIN)/python -m bench
	$(BIN)/python -m bench.growth
	$(BIN)/python -m bench.volume
	$(BIN)/python -m bench.roots
	$(BIN)/python -m bench.large 1000 10000
	$(BIN)/python -m bench.rehearsal
	$(BIN)/python -m bench.accept
	$(BIN)/python -m bench.any_type
	$(BIN)/python -m bench.site

catalog: $(READY) ## take a release of ASO: make catalog ASO=checkout; SUMMARY=file for what changed
	@test -n "$(ASO)" || { echo "Name a checkout (Azure/azure-service-operator): make catalog ASO=folder" >&2; exit 2; }
	$(BIN)/python tools/make_catalog.py '$(ASO)' $(if $(RELEASE),--release '$(RELEASE)') $(if $(SUMMARY),--summary '$(SUMMARY)')

arm-types: $(READY) ## pack the types of ARM again: make arm-types TYPES=folder
	@test -n "$(TYPES)" || { echo "Name a checkout (Azure/bicep-types-az): make arm-types TYPES=folder" >&2; exit 2; }
	$(BIN)/python tools/build_arm_types.py $(TYPES)

azure-smoke: $(READY) ## a run in a real subscription, with free kinds: make azure-smoke SUBSCRIPTION=ID
	$(BIN)/python tools/azure_smoke.py --subscription '$(SUBSCRIPTION)' $(SMOKE_ARGS)

site: $(READY) ## the documentation as a site, in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file .mkdocs.yml

reference: $(READY) ## write the reference again: settings, commands, kinds, man pages
	$(BIN)/python tools/build_reference.py

constraints: $(READY) ## write the versions and hashes in deploy/constraints again; UPGRADE=1 raises all of them
	@$(PIP) uv
	@PATH=$(BIN):$$PATH $(BIN)/python tools/build_constraints.py $(if $(UPGRADE),--upgrade)

clean: ## remove the environment and all that tools left behind
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "gitsync needs Python 3.11 or newer; name one with PYTHON=." >&2; exit 2; }
	@$(PYTHON) tools/set_up.py $(VENV) $(if $(CONSTRAINTS),\
		--require-hashes --requirement $(CONSTRAINTS) -- --no-build-isolation --no-deps --editable .,\
		--editable '.[dev]')
	@touch $@
