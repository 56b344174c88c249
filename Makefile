# SPDX-License-Identifier: Apache-2.0
# A short front door: CMake builds, CTest tests. `make help` lists the targets.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

PREFIX ?= /usr/local

.PHONY: all setup run test test-full exhaustive bench bench-plan bench-cpu baselines fuzz maps docs format clean help \
  install uninstall

all: ## build into build/ and leave build/volta
	@scripts/configure.sh build
	@cmake --build build -j $(JOBS)

install: ## install below PREFIX=/usr/local (DESTDIR goes before it; docs/installing.md)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh install

uninstall: ## remove what `make install` with the same PREFIX and DESTDIR put there
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh uninstall

setup: ## install what building needs (Debian, Ubuntu); VOLTA_SETUP=no skips it
	@scripts/setup.sh run

run: ## set up, build, then run an example by the reference, the cpu backend and a GPU, if any, and compare the bits
	@scripts/setup.sh run
	@scripts/configure.sh build
	@cmake --build build -j $(JOBS) --target volta
	@scripts/run.sh

test: ## build with gcc and clang (sanitizers), run the tests in short form; at most seven minutes on two cores
	@scripts/setup.sh test
	@scripts/test.sh $(LANE)

test-full: ## the long forms, a plain clang build and the thread sanitizer too; at most 45 minutes (LANE=tsan for one)
	@scripts/setup.sh full
	@scripts/test.sh --full $(LANE)

exhaustive: all ## every function on all 2^32 inputs, and pow (FUNC='log exp' for some; AGAINST=1 compares digests only; BACKEND=cpu: as a backend computes it, ISA=avx2)
ifdef BACKEND
	@$(if $(filter pow,$(FUNC)),echo "BACKEND= compares digests; pow has none" >&2; exit 2)
	@build/exhaustive_backend --against src/num/exhaustive.digests --backend $(BACKEND) \
	  $(if $(ISA),--isa $(ISA)) $(foreach f,$(FUNC),--func $(f))
else
	@$(if $(and $(AGAINST),$(filter pow,$(FUNC))),echo "AGAINST=1 compares digests; pow has none" >&2; exit 2)
	@test -x build/exhaustive || { echo "make exhaustive needs libmpfr-dev: install it, then 'make clean'" >&2; exit 1; }
	@$(if $(if $(FUNC),$(filter-out pow,$(FUNC)),all),build/exhaustive --state build/exhaustive.state \
	  $(foreach f,$(filter-out pow,$(FUNC)),--func $(f)) $(if $(AGAINST),--against src/num/exhaustive.digests))
	@$(if $(if $(FUNC),$(filter pow,$(FUNC)),$(if $(AGAINST),,pow)),build/exhaustive_pow --state build/exhaustive.state)
endif

bench: all ## cycles a call of each function, beside the C library's and SLEEF's (bench/num/README.md)
	@cmake --build build --target bench-num

bench-plan: all ## seconds of passes and planning by the number of nodes; some minutes (bench/plan/README.md)
	@cmake --build build --target bench-plan

bench-cpu: all ## the CPU backend beside OpenBLAS, PyTorch and ONNX Runtime; an hour (docs/governance/performance.md)
	@bench/cpu_table.sh $(BENCH)

baselines: all ## write down what plans take now, after they have become smaller (bench/baselines)
	@cmake --build build --target baselines

fuzz: ## run fuzzers with clang: SECONDS=60 each, TARGET=npz for one
	@scripts/fuzz.sh $(or $(SECONDS),60) $(TARGET)

maps: ## write src/emit/maps.def again, the formulas that the op table names
	@scripts/configure.sh build
	@cmake --build build --target maps

docs: all ## write the generated pages again: manual, completions, docs/ops.md
	@cmake --build build --target cli_docs

format: ## format the C sources in place
	@tools/check_format.sh --fix

clean: ## remove every build folder
	rm -rf build build-*/

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12
