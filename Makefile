# Every target explains itself: `make help`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
UV_VERSION := 0.13.8
UV := .uv/bin/uv
# The last one that knows Python 3.9.
MYPY_OF_39 := mypy==1.19.1
# For two cores: some tests wait, for browsers, agents and servers, while others work.
TEST_WORKERS := 3
# On CI one commit is judged in one order; whoever runs the suite elsewhere draws a new one.
ORDER := $(if $(CI),--randomly-seed=1)
# The machine's own certificates where it has some: a company's proxy is known there.
export UV_SYSTEM_CERTS := $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),true,false)
RUN := .venv/bin/
STAMP := .venv/.synced
# Ours alone decide what is installed; a shell's active environment must not.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME
# Every start would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run demo test proofs format docs lint types oldest-python map audit check bench bench-agent screenshots

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: $(STAMP) ## Make the environment (.venv) from uv.lock

$(UV):
	@deploy/get-uv.sh $(UV_VERSION)

$(STAMP): pyproject.toml uv.lock agents/agent/pyproject.toml agents/sdk/pyproject.toml | $(UV)
	@$(UV) sync --locked --quiet
	@touch $@

run: setup ## Run web, worker and beat on http://127.0.0.1:8000 with your own data
	@$(RUN)python manage.py up

demo: setup ## Fill a simulated company, settle it and serve the console on http://127.0.0.1:8000
	@$(RUN)python manage.py demo

test: setup ## Run the whole test suite, a browser's too
	@deploy/get-chromium.sh && deploy/get-slurm.sh && deploy/get-focus-validator.sh
	@$(RUN)python -m pytest -n $(TEST_WORKERS) --dist worksteal --durations 25 --durations-min 1 $(ORDER) $(ARGS)

proofs: setup ## Run the slow proofs
	@$(RUN)python -m pytest -m proof -n 2 --dist worksteal -o faulthandler_timeout=5400 $(ARGS)

format: setup ## Rewrite the code in the house style
	@$(RUN)ruff format . && $(RUN)ruff check --fix .

docs: setup ## Write the pages of docs/ that are made of declared values
	@$(RUN)python -m deploy.write_docs

lint: setup ## Check style, templates, the installation, migrations and the lock file
	@$(RUN)ruff format --check . && $(RUN)ruff check . && $(RUN)djlint templates --lint --quiet
	@$(UV) lock --check --quiet
	@$(RUN)python manage.py check >/dev/null
	@$(RUN)python manage.py makemigrations --check --dry-run >/dev/null || { echo "a migration is missing"; exit 1; }

types: setup ## Check types, strictly
	@$(RUN)mypy .

oldest-python: setup ## Check that the agent and the SDK keep to Python 3.9: what they use, and their types
	@$(RUN)vermin --quiet --no-tips --eval-annotations --target=3.9- --violations agents/*/src
	@MYPYPATH=agents/agent/src:agents/sdk/src $(UV) tool run --quiet --python $(RUN)python --from '$(MYPY_OF_39)' \
		mypy --config-file= --strict --python-version 3.9 --ignore-missing-imports agents/*/src

map: setup ## Check that imports follow the floor plan
	@$(RUN)lint-imports

audit: setup ## Ask for known vulnerabilities of what is installed; skipped aloud without network
	@$(RUN)python deploy/audit_dependencies.py

check: lint types oldest-python map audit ## Everything but the tests

bench: setup ## Measure ingest, settling and the pages
	@$(RUN)python manage.py bench ingest --json && $(RUN)python manage.py bench settle --json
	@$(RUN)python manage.py bench pages --json

bench-agent: setup ## Measure the node agent on a made-up driver of 8 GPUs
	@$(RUN)python -m bench.agent_driver --seconds 120 --json

screenshots: setup ## Take the README's pictures of a demo that runs (ARGS='http://127.0.0.1:8000 EMAIL PASSWORD') and the first day's
	@deploy/get-chromium.sh && $(RUN)python docs/screenshots.py $(ARGS)
	@FIRST_DAY_PICTURES=docs/pictures $(RUN)python -m pytest -q -m proof tests/browser/test_first_day.py -k small
