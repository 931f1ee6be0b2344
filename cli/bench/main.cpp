#include "cli/bench/bench_command.h"

int main(int argc, char** argv) { return regduel::cli::run_alone(regduel::cli::kBenchCommand, argc, argv); }
