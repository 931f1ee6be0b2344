#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite ask for them: with $CC $CXX $CFLAGS $CXXFLAGS, linked with $LIB_FUZZING_ENGINE, into $OUT. Each
# target needs nothing but the C library there; beside it lie its seeds, its options and its dictionary. scripts/check/oss-fuzz-test tries it here.
# Contract: https://google.github.io/oss-fuzz/getting-started/new-project-guide/#buildsh
build=$WORK/regduel

# -w: a compiler that is newer than ours may know warnings that we do not.
export CXXFLAGS="$CXXFLAGS -w"
cmake -S "$SRC/regduel" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DREGDUEL_FUZZ=ON -DREGDUEL_STATIC=ON
cmake --build "$build" --target fuzzers

cp "$build"/bin/*_fuzzer "$build"/bin/*_fuzzer.options "$build"/bin/*_fuzzer.dict "$build"/bin/*_fuzzer_seed_corpus.zip "$OUT"
