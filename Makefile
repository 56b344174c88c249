# SPDX-License-Identifier: Apache-2.0
# Short commands for building with CMake and testing with CTest. `make help` lists the targets.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

PREFIX ?= /usr/local

.PHONY: all setup run test test-full test-models exhaustive bench bench-plan bench-cpu baselines fuzz maps docs format clean help \
  install uninstall

all: ## build everything into build/; the program is build/volta
	@scripts/configure.sh build
	@cmake --build build -j $(JOBS)

install: ## install below PREFIX=/usr/local, or below DESTDIR followed by PREFIX (docs/installing.md)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh install

uninstall: ## remove the files that `make install` with the same PREFIX and DESTDIR installed
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install.sh uninstall

setup: ## install the packages that building needs (Debian, Ubuntu); VOLTA_SETUP=no skips it
	@scripts/setup.sh run

run: ## set up, build, then run an example on the reference, the cpu backend and a GPU, if any, and compare the bits
	@scripts/setup.sh run
	@scripts/configure.sh build
	@cmake --build build -j $(JOBS) --target volta
	@scripts/run.sh

test: ## build with gcc and with clang's sanitizers, run the short tests; at most seven minutes on two cores
	@scripts/setup.sh test
	@scripts/test.sh $(LANE)

test-full: ## run the long tests too, also with plain clang and the thread sanitizer; at most 45 minutes (LANE=tsan: one lane)
	@scripts/setup.sh full
	@scripts/test.sh --full $(LANE)

test-models: ## run published models with their published weights, which it downloads; some minutes
	@scripts/setup.sh test
	@scripts/configure.sh build
	@cmake --build build -j $(JOBS) --target volta
	@scripts/test_models.sh

exhaustive: all ## test every function on all 2^32 inputs, and pow (FUNC='log exp' chooses; AGAINST=1 only compares digests; BACKEND=cpu ISA=avx2 tests a backend)
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

bench: all ## cycles per call of each function, compared with the C library and SLEEF (bench/num/README.md)
	@cmake --build build --target bench-num

bench-plan: all ## seconds of passes and planning for graphs of several sizes; some minutes (bench/plan/README.md)
	@cmake --build build --target bench-plan

bench-cpu: all ## compare the CPU backend with OpenBLAS, PyTorch and ONNX Runtime; an hour (docs/governance/performance.md)
	@bench/cpu_table.sh $(BENCH)

baselines: all ## store the memory that plans need now, after it has become less (bench/baselines)
	@cmake --build build --target baselines

fuzz: ## run the fuzzers with clang for SECONDS=60 each; TARGET=npz runs one
	@scripts/fuzz.sh $(or $(SECONDS),60) $(TARGET)

maps: ## generate src/emit/maps.def, the table of ops that have a formula
	@scripts/configure.sh build
	@cmake --build build --target maps

docs: all ## generate the manual, the completions, docs/ops.md and other pages
	@cmake --build build --target cli_docs

format: ## format the C sources in place
	@tools/check_format.sh --fix

clean: ## remove every build folder
	rm -rf build build-*/

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12
