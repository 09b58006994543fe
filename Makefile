# One environment, made once: `make lab` opens the course in it, `make test` tests it. Other targets: `make help`.
# Variables, with their defaults:   make test VENV=.venv PYTHON=python3 NBVAL=--nbval WORKERS=2
VENV    ?= .venv
PYTHON  ?= python3
NBVAL   ?= --nbval
WORKERS ?= 2

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
ROOT_USER := $(filter 0,$(shell id -u))
endif
PY    := $(BIN)/python
READY := $(VENV)/.installed
DEV   := $(VENV)/.installed-dev
# What belongs to the course: a scratch file in the folder is neither linted nor tested.
CODE := tx_helpers tests tools figures setup.py
TEXTS := README.md CONTRIBUTING.md TEACHING.md CHANGELOG.md $(wildcard docs/*.md) Makefile pyproject.toml
COURSE := $(or $(wildcard $(shell git ls-files "notebooks/*.ipynb" 2>/dev/null)),notebooks)
# The limit is for a kernel that hangs; a busy machine may be ten times slower than a quiet one.
NOTEBOOK_TESTS := $(NBVAL) --nbval-cell-timeout=600
# Models this small are quickest on one thread a worker.
ONE_THREAD := OMP_NUM_THREADS=1
# Files go out in the order of their names, the long ones of the browser first: else two workers wait for one at the end.
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
CAN_CUT_OFF := unshare -rn true 2>/dev/null

.PHONY: help setup lab test browser quick thorough offline lint format pretrained notebooks site colab slides pdf translate handout api figures benchmarks clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*##/ { printf "%-12s%s\n", $$1, $$2 }' Makefile

setup: $(READY)  ## make the environment of a learner (`lab` does it itself; all other targets add what they need)

define INSTALL
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "The course needs Python 3.11 or newer, $(PYTHON) is %d.%d; give another by: make lab PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --disable-pip-version-check -r $<
	@rm -f $(VENV)/etc/jupyter/jupyter_server_config.json  # of an earlier version
	@touch $(READY) $@
endef

$(READY): requirements.txt pyproject.toml setup.py
	$(INSTALL)

# Not on top of the other: a fresh environment is installed in one go.
$(DEV): requirements-dev.txt requirements.txt pyproject.toml setup.py
	$(INSTALL)

lab: $(READY)  ## open the course in JupyterLab
	$(PY) -m jupyter trust notebooks/*.ipynb  # else drawings stay hidden until their cells are run
	$(PY) -m jupyterlab --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(if $(ROOT_USER),--allow-root) $(LAB)

test: $(DEV) lint  ## for every push: lint, all Python tests, all notebooks executed and compared, a notebook of each kind in Chromium if there is one
	$(ONE_THREAD) $(PY) -m pytest -rs --durations=40 $(PARALLEL) $(NOTEBOOK_TESTS) tests $(COURSE)

quick: $(DEV) lint  ## for every commit: lint and unit tests
	$(ONE_THREAD) $(PY) -m pytest $(PARALLEL) -m "not slow and not thorough" tests

browser: $(DEV)  ## the explorers in Chromium alone, in JupyterLab and in Notebook 7
	TX_REQUIRE_BROWSER=1 $(ONE_THREAD) $(PY) -m pytest $(PARALLEL) tests/browser

lint: $(DEV)
	$(PY) -m ruff check $(CODE) $(COURSE)
	$(PY) -m ruff format --check $(CODE) $(COURSE)
	$(PY) -m mypy
	$(PY) -m codespell_lib $(CODE) $(TEXTS)

format: $(DEV)  ## let ruff format the code and fix what it can
	$(PY) -m ruff check --fix $(CODE) $(COURSE)
	$(PY) -m ruff format $(CODE) $(COURSE)

# In one piece: `make test`, cut off from the network where that can be done; what it leaves out; and what another model
# or another number of threads could change. What runs on one thread shares the cores; what runs on two has them alone.
thorough: $(DEV) lint  ## every night and before a release: every test, also without a network, on two threads, with another seed, from the wheel, on Colab's versions
	@if $(CAN_CUT_OFF); then $(MAKE) offline; else $(MAKE) test; fi
	$(ONE_THREAD) $(PY) -m pytest -rs $(PARALLEL) -m thorough tests
	@echo "== notebooks and quick tests, on two threads"
	OMP_NUM_THREADS=2 $(PY) -m pytest -m "not slow and not thorough" $(NOTEBOOK_TESTS) tests $(COURSE)
	@echo "== notebooks and tests, with models trained from another seed"
	$(PY) tests/support/other_seeds.py build/seed_1 1
	TX_CACHE=$(CURDIR)/build/seed_1 $(ONE_THREAD) $(PY) -m pytest $(PARALLEL) $(NOTEBOOK_TESTS) tests $(COURSE)

offline: $(DEV)  ## what `make test` runs, without a network (Linux: unshare)
	@if $(CAN_CUT_OFF); then \
	  $(ONE_THREAD) unshare -rn sh -c 'ip link set lo up; exec "$$@"' - $(PY) -m pytest -rs $(PARALLEL) $(NOTEBOOK_TESTS) tests $(COURSE); \
	else echo "offline: not run, this system has no 'unshare -rn'"; fi

pretrained: $(DEV)  ## train the models of the little world that come with the package (30 minutes) and write their card
	$(ONE_THREAD) $(PY) tools/pretrain_world_models.py

notebooks: $(DEV)  ## execute the notebooks and write their outputs:  make notebooks ONLY="08 10"
	$(PY) tools/refresh_notebooks.py $(ONLY)

site: $(DEV)  ## the course as web pages that need no kernel and no network, in build/site:  make site ONLY="08"
	$(PY) tools/make_site.py $(ONLY)

slides: $(DEV)  ## slides for a projector, one file a notebook, in build/slides:  make slides ONLY="04"
	$(PY) tools/make_slides.py $(ONLY)

pdf: $(DEV)  ## pages for paper, with the answers at the end, in build/pdf (needs Chromium):  make pdf ONLY="04"
	$(PY) tools/make_pdf.py $(ONLY)

colab: $(DEV)  ## notebooks that carry the course and so run alone, on Colab or Kaggle, in build/colab
	$(PY) tools/make_colab.py

translate: $(DEV)  ## the notebooks in another language, in build/LANG, and what is not translated:  make translate LANG=de ONLY="00 04"
	$(PY) tools/translate.py $(or $(filter-out %.UTF-8 C,$(LANG)),de) $(ONLY)

handout: $(DEV)  ## an edition that checks the exercises without their solutions, in build/handout
	$(PY) tools/make_handout.py

api: $(DEV)  ## the API pages, made from the docstrings, with a search: build/api/index.html
	$(PY) tools/make_api.py

figures: $(DEV)  ## draw the drawings again:  make figures ONLY="architecture"
	$(PY) tools/draw_figures.py $(ONLY)

benchmarks:  ## which benchmarks there are
	@for file in tools/bench_*.py; do printf '%s  ' "$(PY) $$file"; sed -n '1s/"""//gp' "$$file"; done

clean:  ## remove the environment and what was made
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
