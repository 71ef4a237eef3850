# Everything sets itself up: a virtual environment in .venv with pinned versions, made when a requirement changes.
# PYTHON may name another Python 3.11.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PY := $(VENV)/bin/python
# Blender's settings of the person who runs this stay out of the tests and the demo.
export BLENDER_USER_RESOURCES := $(CURDIR)/$(VENV)/blender

.PHONY: demo test test-quick test-core test-addon test-long kernels fuzz lint docs bench bench-long bench-peers doc-images gallery package package-here test-package clean

$(VENV)/ready: requirements/run.txt requirements/dev.txt requirements/docs.txt requirements/stubs.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo "Tendril is developed with Python 3.11: install it, or call make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV): a minute or two the first time, seconds when a requirement was added."
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@# The stubs would shadow the real bpy module, so they live apart, for mypy alone.
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/stubs -r requirements/stubs.txt
	@# The repository root is the package `tendril`: a link by that name makes it importable.
	mkdir -p $(VENV)/link && ln -sfn ../.. $(VENV)/link/tendril
	echo "$(CURDIR)/$(VENV)/link" > $$($(PY) -c 'import site; print(site.getsitepackages()[0])')/tendril.pth
	touch $@

demo: $(VENV)/ready
	$(PY) -m tendril.sample_scenes.demo

# The linter needs one processor for most of its time, the tests need two.
test: $(VENV)/stubs/prepared
	@$(MAKE) -j 2 lint docs
	@$(MAKE) test-core test-addon

# A choice of tests for every day: less than a minute once kernels are compiled. They cover each package of core/, all models (by the
# force fields, which act on each of them) and the add-on from a curve to a frame.
QUICK := $(addprefix tests/core/test_,no_blender material rest_shapes frames linalg forces fields convex_shapes integrators \
	determinism holds cache) $(addprefix tests/addon/test_,scene operators playback fields)
test-quick: $(VENV)/ready
	$(VENV)/bin/ruff check .
	$(PY) -m pytest $(addsuffix .py,$(QUICK)) -m "not long" $(PARALLEL)

lint: $(VENV)/stubs/prepared
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	MYPYPATH=$(VENV)/link:$(VENV)/stubs $(VENV)/bin/mypy -p tendril.core -p tendril.addon -p tendril.sweep

$(VENV)/stubs/prepared: $(VENV)/ready requirements/prepare_stubs.py
	$(PY) requirements/prepare_stubs.py $(VENV)/stubs
	touch $@

# The documentation site, in out/site. Broken links and unknown names are errors.
docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

# Two processes; each begins with its half of the tests, so that neither repeats what the other one prepares.
PARALLEL := -n 2 --dist worksteal

test-core: kernels
	$(PY) -m pytest tests/core tests/validation -m "not long" $(PARALLEL)

test-addon: kernels
	$(PY) -m pytest tests/addon -m "not long" $(PARALLEL)

# Processes that run tests side by side would compile the same kernels at the same time. Done in a moment if they are on disk.
kernels: $(VENV)/ready
	@$(PY) packaging/compile_kernels.py

# Hours: long tests, a hundred thousand random scenes, and all core tests once with checked array bounds.
test-long: $(VENV)/ready
	HYPOTHESIS_PROFILE=explore $(PY) -m pytest tests -m long
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/checked $(PY) -m pytest tests/core -m "not long"

# Random scenes for FUZZ="--seconds 300", or FUZZ="--seed 7 --count 1" to repeat one. Failures go to tests/core/fuzz_failures.
fuzz: $(VENV)/ready
	$(PY) -W ignore tests/support/fuzz.py $(FUZZ)

# Up to ten minutes; ROWS names single rows, e.g. ROWS="--only W1 --only W2". bench-long adds the largest sizes and W10 to W17.
bench: $(VENV)/ready
	$(PY) -m tendril.bench $(ROWS)

bench-long: $(VENV)/ready
	$(PY) -m tendril.bench --full $(ROWS)

bench-peers: $(VENV)/ready
	$(PY) -m tendril.bench.peers

# The pictures of docs/: all of them, or those named in IMAGES, e.g. IMAGES="helix dragged" or IMAGES=--stale.
# IMAGES=--check lists stale ones and makes none.
doc-images: $(VENV)/ready
	$(PY) -m tendril.sample_scenes.images $(IMAGES)

# Pictures and films of docs/gallery that are missing or stale; about an hour of two cores for all. GALLERY="knot --films" makes some.
# An interrupted run goes on where it was.
gallery: $(VENV)/ready
	$(PY) -m tendril.sample_scenes.gallery $(GALLERY)

# Zips for Preferences > Get Extensions > Install from Disk, with the wheels Blender lacks, in out/packages:
# for every platform and Blender, or for this platform alone.
package: $(VENV)/ready
	$(PY) -m tendril.packaging.package

package-here: $(VENV)/ready
	$(PY) -m tendril.packaging.package --platform here

# The package in fresh Blenders that have nothing but what comes with Blender: installed, used, taken away. Blender 5.2 needs a
# Python 3.13; `make test-package BLENDERS="4.2 4.5 5.0"` does without.
BLENDERS ?= 4.2 4.5 5.0 5.2
test-package: $(VENV)/ready $(BLENDERS:%=.venv-blenders/%/ready)
	$(PY) -m tendril.packaging.package --platform here $(BLENDERS:%=--blender %)
	BLENDERS="$(BLENDERS)" $(PY) -m pytest tests/package -s

.venv-blenders/%/ready: requirements/blender-%.txt | $(VENV)/ready
	rm -rf $(@D)
	python=$$($(PY) -m tendril.packaging.pythons --blender $*) && $$python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

clean:
	rm -rf $(VENV) .venv-peers .venv-blenders out
