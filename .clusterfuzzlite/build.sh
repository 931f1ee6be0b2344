#!/bin/bash -eu
exec "$SRC/regduel/fuzz/oss-fuzz/build.sh"
