PYTHON ?= python3
SBT ?= ./sbt
VENV := .venv
BIN := $(VENV)/bin
# The newest patch of each other version of Spark; each has an environment .venv-spark-4.0 and so on.
OTHER_SPARKS := 4.0.5 4.1.4 4.3.0
OTHER_MINORS = $(basename $(OTHER_SPARKS))
RELEASE_VENV := .venv-release
DIST := dist
# Outside target/, which sbt cleans at will.
STAMPS := $(VENV)/.stamps

VERSION := $(shell sed -n 's/^ThisBuild *\/ *version *:= *"\(.*\)"/\1/p' version.sbt)
WHEEL := $(DIST)/pyspark_streamjoin-$(VERSION)-py3-none-any.whl
# The jar for the default Spark; those for the others are made with it.
JAR := python/src/streamjoin/jars/streamjoin-spark-4.2_2.13-$(VERSION).jar

BUILD := build.sbt version.sbt project/build.properties $(wildcard project/*.sbt project/*.scala)
JVM_MAIN := $(shell find jvm/*/src/main -type f 2>/dev/null)
JVM_TEST := $(shell find jvm/*/src/test -type f 2>/dev/null)
CORE := $(shell find jvm/core/src -type f)
FAULTY_FILES := $(shell find tests/faults/jvm/src -type f)
BENCHMARKS_JVM := $(shell find benchmarks/jvm/*/src -type f 2>/dev/null)
PYTHON_PACKAGE := python/pyproject.toml python/hatch_build.py python/README.md LICENSE NOTICE \
  $(shell find python/src -type f -not -path '*/jars/*' -not -name '*.pyc')
PYTHON_CODE := python/src python/hatch_build.py tests examples docker benchmarks scripts
RUFF := $(BIN)/ruff
MYPY := $(BIN)/mypy --config-file python/pyproject.toml

MINUTES ?= 10
SEED ?= 1
CASES ?= 4000
CHAINS ?= 2000
CHANGELOGS ?= 2000
KILLS ?= 100
# Part K/N of the thorough Python tests.
PART ?= 0/1

# Two sbt processes in one directory wait for each other's lock at best.
# `make test` runs two targets side by side, of which one starts sbt.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
.PHONY: FORCE help venv test-newest demo bench bench-full nexmark bench-jars kafka-jars soak reliability throughput quick test test-jvm test-python test-all test-thorough nightly docs release wheel jar lint lint-python format clean

help:
	@echo "make venv     the virtual environment .venv, which ./sbt needs too"
	@echo "make demo     run the two example pipelines; the plot goes to artifacts/"
	@echo "make bench    the short benchmarks, about ten minutes; table and plots go to artifacts/"
	@echo "make bench-full  all benchmarks, hours; results go to results/"
	@echo "make nexmark  whole queries of Nexmark, half an hour; table, plot and lines go to results/"
	@echo "make quick    an answer in two minutes: style, Scala core, one join of each kind"
	@echo "make test     before a change: linters, types, Scala tests, wheel, Python tests of every feature"
	@echo "make test-all make test, and what takes long: all random cases, crashes, faults, Kafka, Delta, soak"
	@echo "make test-newest  the tests of Spark's versions, on the newest patch of each"
	@echo "make nightly  what takes hours: CASES=4000 differential cases, CHAINS=2000, CHANGELOGS=2000, KILLS=100, faults on a cluster, a soak of MINUTES=180, two of changelogs; SEED=1"
	@echo "make docs     the site of the documentation, every link checked, in artifacts/site"
	@echo "make release  all of a release but the upload; STREAMJOIN_HOME_PAGE and STREAMJOIN_SIGN_WITH say where and by whom"
	@echo "make soak     the Kafka pipeline for MINUTES=10, with things going wrong; report and plots go to artifacts/soak"
	@echo "make reliability  random tests for MINUTES=10 that continue where they stopped; a page in results/"
	@echo "make throughput  rows a second through Kafka, without faults and with"
	@echo "make kafka-jars  a Kafka broker and Spark's connector, in docker/kafka/jars"
	@echo "make wheel    build the wheel, with the jar inside, in dist/"
	@echo "make lint     formatting, linters and types only"
	@echo "make format   rewrite the sources in the project's format"
	@echo "make clean    remove everything that was built; the virtual environment stays, and what make reliability has run"

venv: $(STAMPS)/venv

demo: $(STAMPS)/installed
	cd examples && $(abspath $(BIN))/python -m demo --plot ../artifacts/demo.png

bench: $(STAMPS)/installed $(STAMPS)/benchmarks-staged
	$(BIN)/python -m benchmarks run --short $(BENCH_ARGS) -- artifacts/benchmarks/short.jsonl

bench-full: $(STAMPS)/installed $(STAMPS)/benchmarks-staged
	$(BIN)/python -m benchmarks run --full $(BENCH_ARGS) -- results/$(shell date +%F).jsonl

nexmark: $(STAMPS)/installed $(STAMPS)/benchmarks-staged
	$(BIN)/python -m benchmarks run --nexmark $(BENCH_ARGS) -- results/nexmark-$(shell date +%F).jsonl

bench-jars: $(STAMPS)/benchmarks-staged

kafka-jars: $(STAMPS)/test-jars-staged

soak: $(STAMPS)/installed $(STAMPS)/test-jars-staged
	$(BIN)/python -m tests.soak run --minutes $(MINUTES) --seed $(SEED)

reliability: $(STAMPS)/installed $(STAMPS)/test-jars-staged $(STAMPS)/shared-classes
	$(BIN)/python -m tests.reliability --minutes $(MINUTES)

throughput: $(STAMPS)/installed $(STAMPS)/test-jars-staged
	$(BIN)/python -m tests.soak throughput --seed $(SEED)

PYTEST := $(BIN)/python -m pytest
# Where the tests of versions find the Python of each.
ON_OTHER_SPARKS = STREAMJOIN_OTHER_SPARKS="$(foreach s,$(OTHER_MINORS),$(s)=$(abspath .venv-spark-$(s))/bin/python)"
# A worker has a Spark session of its own. A file stays in one worker, and files start in the order of
# their names: by their number of tests, those of few and long tests would run alone at the end.
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder
# The share of the random cases in Scala that `make test` draws.
SHARE := 0.05

quick: $(STAMPS)/installed
	$(RUFF) check $(PYTHON_CODE)
	STREAMJOIN_TIMES=0.02 $(SBT) core/test
	$(PYTEST) $(WORKERS) -m quick

# Pip and the compiler each use one core: sbt starts when PySpark is there, and runs beside the rest of pip.
test:
	@scripts/check-prerequisites "$(PYTHON)"
	$(MAKE) -j2 SIDE_BY_SIDE=yes test-jvm lint-python $(STAMPS)/shared-classes \
	  $(OTHER_MINORS:%=$(STAMPS)/pyspark-%)
	$(MAKE) test-python

test-jvm: $(STAMPS)/jvm-tested

# With PYTEST_ARGS, the tests that these choose, one at a time.
test-python: $(STAMPS)/installed $(STAMPS)/test-jars-staged $(STAMPS)/shared-classes
ifdef PYTEST_ARGS
	$(PYTEST) $(PYTEST_ARGS)
else
	$(MAKE) $(OTHER_MINORS:%=$(STAMPS)/spark-%)
	$(ON_OTHER_SPARKS) $(PYTEST) $(WORKERS) -m "not thorough or sampled" --diff-cases 10 --diff-chains 1 --diff-changelogs 1 \
	  --meta-plans 4 --meta-changelogs 2 --meta-variations 4
endif

test-all: test test-thorough

# What `make test` leaves out.
test-thorough: $(STAMPS)/jvm-tested $(STAMPS)/installed $(OTHER_MINORS:%=$(STAMPS)/spark-%) $(STAMPS)/test-jars-staged $(STAMPS)/shared-classes
	$(SBT) core/test spark/testThorough benchmarksSpark/testThorough
	$(ON_OTHER_SPARKS) $(PYTEST) $(WORKERS) -m thorough --part $(PART)

# The tests of versions on the newest patch of each minor version, also of the default one, and the
# links with every patch. The versions that pass are written into the page of versions.
test-newest: OTHER_SPARKS := 4.0.* 4.1.* 4.2.* 4.3.*
test-newest: $(STAMPS)/installed $(STAMPS)/test-jars-staged
	rm -f $(STAMPS)/spark-* $(STAMPS)/pyspark-*
	$(MAKE) OTHER_SPARKS="$(OTHER_SPARKS)" $(OTHER_MINORS:%=$(STAMPS)/spark-%)
	$(BIN)/python -m scripts.spark_versions links
	$(BIN)/python -m scripts.spark_versions sizes $(WHEEL)
	$(ON_OTHER_SPARKS) STREAMJOIN_KEEP_VERSIONS=yes \
	  $(PYTEST) -m thorough tests/packaging/test_spark_versions.py tests/packaging/test_submit.py tests/crash/test_crash.py
	$(BIN)/python -m scripts.spark_versions page

# Each part runs even if one before it has failed; the failed parts are listed at the end.
nightly: MINUTES = 180
nightly: $(STAMPS)/installed $(STAMPS)/test-jars-staged
	@failed=; \
	for part in \
	  "-m pytest tests/differential --diff-cases $(CASES) --diff-chains $(CHAINS) --diff-changelogs $(CHANGELOGS) --diff-shared 200 --diff-seed $(SEED)" \
	  "-m pytest --connect" \
	  "-m pytest tests/rescale --rescale-all --rescale-cases 60" \
	  "-m pytest tests/warm --warm-cases 20" \
	  "-m pytest tests/metamorphic --meta-plans 200 --meta-changelogs 40 --meta-seed $(SEED)" \
	  "-m pytest tests/crash tests/delta --crash-kills $(KILLS) --crash-seed $(SEED)" \
	  "-m pytest tests/faults --faults --injected-faults 200 --faults-seed $(SEED)" \
	  "-m pytest tests/kafka/test_debezium.py --compaction" \
	  "-m tests.planted" \
	  "-m tests.soak throughput --seed $(SEED)" \
	  "-m tests.soak run --minutes $(MINUTES) --seed $(SEED) --verdict" \
	  "-m tests.soak changes --minutes 30 --seed $(SEED) --verdict" \
	  "-m tests.soak changes --minutes 30 --seed $(SEED) --verdict --state-format rocksdb"; \
	do echo "python $$part"; $(BIN)/python $$part || failed="$$failed; python $$part"; done; \
	[ -z "$$failed" ] || { echo "failed: $${failed#; }"; exit 1; }

docs: $(STAMPS)/release-venv
	$(PYTHON) scripts/site_sources.py target/site-sources
	NO_MKDOCS_2_WARNING=1 $(RELEASE_VENV)/bin/mkdocs build

# The wheel is built anew: it takes the address of the repository into its metadata.
release: $(STAMPS)/release-venv docs
	rm -rf target/release $(DIST)
	$(SBT) 'forEachSpark stagePython spark/publish'
	@touch $(JAR)
	$(MAKE) wheel
	$(RELEASE_VENV)/bin/twine check --strict $(DIST)/*.whl
	$(PYTHON) scripts/release.py

wheel: $(WHEEL)

jar: $(JAR)

lint: lint-python
	$(SBT) 'all $(CHECK_FORMAT)'

lint-python: $(STAMPS)/venv
	$(RUFF) check $(PYTHON_CODE)
	$(RUFF) format --check $(PYTHON_CODE)
	$(MYPY) $(PYTHON_CODE)
	@mkdir -p artifacts && $(BIN)/python scripts/code_blocks.py > artifacts/readme_example.py
	$(MYPY) artifacts/readme_example.py
	$(BIN)/pyright --project python/pyproject.toml --pythonpath $(BIN)/python

format: $(STAMPS)/venv
	$(RUFF) check --fix $(PYTHON_CODE)
	$(RUFF) format $(PYTHON_CODE)
	$(SBT) scalafmtAll scalafmtSbt

clean:
	rm -rf $(DIST) target jvm/*/target docker/kafka/target benchmarks/jvm/*/target benchmarks/jars docker/kafka/jars tests/jars tests/delta/jars tests/delta/target tests/faults/jvm/target project/target project/project
	[ ! -d artifacts ] || find artifacts -mindepth 1 -maxdepth 1 ! -name reliability -exec rm -rf {} +
	rm -rf python/src/streamjoin/jars python/src/streamjoin/version.txt .pytest_cache .ruff_cache .mypy_cache
	rm -f $(STAMPS)/jvm-tested $(STAMPS)/installed $(STAMPS)/benchmarks-staged $(STAMPS)/test-jars-staged

# Python compiles the modules that are imported. Compiling all of them takes a fifth of the time of pip.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# PySpark is published as sources, from which pip builds a wheel. Its jars cannot be compressed further.
PIP_PYSPARK := $(PIP) --config-settings=--build-option=--compression=stored

# PySpark alone: ./sbt needs Ivy, which is one of its jars.
$(STAMPS)/pyspark: python/requirements-dev.txt
	@scripts/check-prerequisites "$(PYTHON)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_PYSPARK) $(shell grep '^pyspark==' python/requirements-dev.txt)
	@mkdir -p $(@D) && touch $@

$(STAMPS)/venv: $(STAMPS)/pyspark
	$(BIN)/python $(PIP) -r python/requirements-dev.txt
	@touch $@

# In an environment of its own: tests need none of it.
$(STAMPS)/release-venv: python/requirements-release.txt | $(STAMPS)/venv
	test -x $(RELEASE_VENV)/bin/python || $(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python $(PIP) -r $<
	@touch $@

CHECK_FORMAT := scalafmtCheckAll benchmarksFlink/scalafmtCheckAll benchmarksHazelcast/scalafmtCheckAll \
  scalafmtSbtCheck

# One start of sbt for all of it: the format is checked beside the compiler, and the jars are those
# that the tests have run on. In these minutes, Java's second compiler takes more CPU than it saves.
# The
# code of the first one needs more space than the JVM gives to it.
$(STAMPS)/jvm-tested: $(BUILD) .scalafmt.conf $(JVM_MAIN) $(JVM_TEST) $(FAULTY_FILES) $(BENCHMARKS_JVM) | $(STAMPS)/pyspark
	SBT_OPTS="$$SBT_OPTS -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC" \
	  STREAMJOIN_TIMES=$(SHARE) $(SBT) 'all $(CHECK_FORMAT) test' \
	  'forEachSpark stagePython' benchmarks/stageBenchmarks benchmarksSpark/stageBenchmarks kafka/stageKafka delta/stageDelta spark/stageTestJars
	@touch $(JAR) $(STAMPS)/test-jars-staged $@

$(JAR): $(BUILD) $(JVM_MAIN) | $(STAMPS)/pyspark
	$(SBT) 'forEachSpark stagePython'
	@touch $@

$(WHEEL): $(JAR) $(STAMPS)/venv $(PYTHON_PACKAGE)
	rm -rf $(DIST)
	$(BIN)/python -m build --wheel --no-isolation --outdir $(DIST) python

# The version of OTHER_SPARKS. The file changes with it alone, and the environment follows.
$(STAMPS)/version-%: FORCE
	@mkdir -p $(@D)
	@echo '$(filter $*.%,$(OTHER_SPARKS))' | cmp -s - $@ || echo '$(filter $*.%,$(OTHER_SPARKS))' > $@

# Another version of Spark, with as much as the tests of versions need.
$(STAMPS)/pyspark-%: $(STAMPS)/version-% python/requirements-dev.txt
	test -x .venv-spark-$*/bin/python || $(PYTHON) -m venv .venv-spark-$*
	grep -E '^(confluent-kafka|numpy|pandas|pyarrow|pytest|testcontainers)' python/requirements-dev.txt \
	  > .venv-spark-$*/requirements.txt
	.venv-spark-$*/bin/python $(PIP_PYSPARK) --upgrade \
	  pyspark==$(filter $*.%,$(OTHER_SPARKS)) -r .venv-spark-$*/requirements.txt
	@touch $@

# Make would take the stamps away, as steps on the way to the next.
.PRECIOUS: $(STAMPS)/version-% $(STAMPS)/pyspark-%

# The same wheel there.
$(STAMPS)/spark-%: $(WHEEL) $(STAMPS)/pyspark-%
	.venv-spark-$*/bin/python $(PIP) --force-reinstall --no-deps $<
	@touch $@

# Flink's and Hazelcast's jars are fetched here and nowhere else.
$(STAMPS)/benchmarks-staged: $(BUILD) $(BENCHMARKS_JVM) | $(STAMPS)/pyspark
	$(SBT) benchmarks/stageBenchmarks benchmarksSpark/stageBenchmarks \
	  benchmarksFlink/stageBenchmarks benchmarksHazelcast/stageBenchmarks
	@touch $@

$(STAMPS)/test-jars-staged: $(BUILD) $(FAULTY_FILES) $(CORE) | $(STAMPS)/pyspark
	$(SBT) kafka/stageKafka delta/stageDelta spark/stageTestJars
	@touch $@

$(STAMPS)/shared-classes: $(STAMPS)/venv tests/shared_classes.py
	$(BIN)/python -m tests.shared_classes
	@touch $@

$(STAMPS)/installed: $(WHEEL)
	$(BIN)/python $(PIP) --force-reinstall --no-deps $<
	@touch $@
