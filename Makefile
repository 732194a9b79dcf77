# Every target of the project; `make help` reads the lines that start with a name and carry `##`.
# The first Python from 3.11 on that is found by name; another one: make setup PYTHON=/path/to/python
FIND_PYTHON = for name in python3 python python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done
PYTHON ?= $(shell $(FIND_PYTHON))
VENV_PYTHON = .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/python
RUN = $(VENV_PYTHON) -m
COURSE = $(RUN) course_lib.command
CHAPTERS = $(wildcard notebooks/*.ipynb)
NOTEBOOKS = $(CHAPTERS) $(wildcard solutions/*/*.ipynb) $(wildcard exercises/*/*.ipynb)
export OMP_NUM_THREADS = 1

.PHONY: help setup lab test slow lint format normalise chapters release catalogue speed growth simulated scale otter site pdf checksite screenshots benchmark mutation cheats
.DEFAULT_GOAL = help

help:  ## list the targets
	@awk -F ':.*## *' '/^[a-z]+:.*##/ { printf "  make %-13s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## build .venv, or refresh it when pyproject.toml or constraints.txt has changed
	@test -n "$(PYTHON)" || { echo "course: no Python 3.11 or newer found; see the conda route in README.md" >&2; exit 2; }
	@$(PYTHON) course_lib/bootstrap.py

lab: may-start setup  ## copy new exercises to work/ and open JupyterLab at chapter 1; ARGS=--no-browser for a server
	@$(COURSE) lab $(ARGS)

.PHONY: may-start
may-start:
	@case "$$(id -u) $(ARGS)" in \
	  "0 "*allow-root* | "0 "*allow_root*) ;; \
	  "0 "*) echo "course: JupyterLab starts for root only with: make lab ARGS=--allow-root" >&2; exit 2;; \
	esac

test: setup  ## run the whole suite, chapters included; ARGS go to pytest
	$(RUN) pytest -n 2 --dist loadfile $(ARGS)

slow: setup  ## run the tests that take too long for make test: broken submissions, killed markers, more pages
	$(RUN) pytest -n 2 --dist loadfile -m slow $(ARGS)

lint: setup  ## check the style of code, movable figures and notebook files without changing them
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	@$(VENV_PYTHON) tests/lint_explore.py
	@$(COURSE) normalise --check $(NOTEBOOKS)

format: setup  ## put code and notebooks into the project's style
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

normalise: setup  ## take execution noise out of the notebook files
	@$(COURSE) normalise $(NOTEBOOKS)

chapters: setup  ## run every chapter in a fresh kernel and store its outputs
	@$(COURSE) normalise --execute $(CHAPTERS)

release: setup  ## generate exercises/, and the right answers to their visible checks, from solutions/
	@$(COURSE) references $(ARGS)
	@$(COURSE) release $(ARGS)

site: setup  ## build the chapters as pages that need neither Jupyter nor a network, in build/site
	@$(VENV_PYTHON) site/build_site.py

pdf: site  ## print every page of the site into build/pdf; needs Chromium
	@$(VENV_PYTHON) site/print_pdf.py

checksite: setup  ## build the site anew and read it with Chromium, in light and dark and on paper
	$(RUN) pytest -m site tests/browser/test_site.py $(ARGS)

screenshots: site  ## photograph every chapter in JupyterLab beside the site, to look at (ARGS="03 --theme dark --unfold")
	@PYTHONPATH=tests:site $(VENV_PYTHON) tests/browser/screenshots.py $(ARGS)

benchmark: setup  ## time every chapter, and an ensemble's model against the plain loop
	@$(COURSE) benchmark $(ARGS)

catalogue: setup  ## mark every mistake and every right answer of the catalogues as a class, with feedback (ten minutes)
	COURSE_WHOLE_CATALOGUE=1 $(RUN) pytest -n 2 tests/test_catalogue.py $(ARGS)

speed: setup  ## time marking a class beside stock nbgrader, and compare all marks (ARGS="05_multi_head --students 20")
	@PYTHONPATH=tests $(RUN) speed $(ARGS)

growth: setup  ## time marking and feedback of ever larger classes (ARGS="05_multi_head --sizes 10 100 1000")
	@PYTHONPATH=tests $(RUN) speed.growth $(ARGS)

simulated: setup  ## mark 10,000 generated students, with recorded results in the place of their code
	@PYTHONPATH=tests $(RUN) speed.simulated $(ARGS)

scale: setup  ## measure what submissions cost on this machine, and write the tables of docs/scale.md from that
	@PYTHONPATH=tests $(RUN) speed.measure $(ARGS)
	@PYTHONPATH=tests $(RUN) speed.scale --write
	@PYTHONPATH=tests $(RUN) speed.lanes

otter: setup  ## time marking a class beside otter-grader without containers, and compare all points
	@PYTHONPATH=tests $(RUN) speed.otter $(ARGS)

cheats: setup  ## try every cheat on stock nbgrader and on this marking, and print what each gains
	@PYTHONPATH=tests $(RUN) cheats

mutation: setup  ## change every solution in small ways; list the changes that no test notices (ARGS=03_scaling)
	@PYTHONPATH=tests $(RUN) mutation $(ARGS)
