# Each target sets itself up: the first one ever run builds .venv from pyproject.toml and constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUM := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
READY := $(VENV)/.ready-$(SUM)
LAB := $(VENV)/.lab-$(SUM)
INSTALL = $(BIN)/python -m pip install --quiet --constraint constraints.txt
OUT ?= results/examples
ONLY ?=
JOBS ?= 1

.PHONY: help setup lab grade test test-all notebooks prove bench bench-thousand lint clean

help:
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make grade      grade the example submissions into $(OUT)"
	@echo "make test       the project's own tests (a few minutes)"
	@echo "make test-all   the long ones too: all notebooks top to bottom, a browser"
	@echo "make notebooks  build notebooks/ from solutions/"
	@echo "make prove      try every known answer; ONLY=softmax for one exercise"
	@echo "make bench      a class graded by nbgrader as shipped and by this grader, side by side"
	@echo "make bench-thousand   a large class, killed in the middle and begun again"
	@echo "make lint       style of the code"

setup: $(READY)

# A learner gets JupyterLab without the grader.
$(LAB): $(VENV)/bin/python
	$(INSTALL) torch
	$(INSTALL) --editable '.[lab]'
	@touch $@

$(READY): $(VENV)/bin/python
	$(INSTALL) torch
	$(INSTALL) --editable '.[lab,grader,dev]'
	@touch $@ $(LAB)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name it with make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

lab: $(LAB)
	$(BIN)/jupyter lab --notebook-dir notebooks

# 1 means that submissions were refused: one of the examples is a damaged file.
grade: $(READY)
	$(BIN)/python -m grader grade examples/submissions --out $(OUT) --jobs $(JOBS) || test $$? -eq 1

test: $(READY)
	$(BIN)/python -m pytest -m "not slow"

test-all: $(READY)
	$(BIN)/python -m pytest -m slow

notebooks: $(READY)
	$(BIN)/python -m grader release
	$(BIN)/python -m examples.build

prove: $(READY)
	$(BIN)/python -m grader prove $(ONLY)

# Stock nbgrader takes several seconds a submission: ARGS="--stock 10 --rounds 2" is quicker.
bench: $(READY)
	TORCH_CPP_LOG_LEVEL=ERROR $(BIN)/python -m benchmarks $(ARGS)

bench-thousand: $(READY)
	$(BIN)/python -m benchmarks.thousand $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --diff .

clean:
	rm -rf $(VENV) results build *.egg-info .pytest_cache .ruff_cache
