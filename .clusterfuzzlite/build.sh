#!/bin/bash -eu
exec "$SRC/regduel/targets/oss-fuzz/build.sh"
