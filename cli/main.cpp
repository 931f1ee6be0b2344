#include "cli/command.h"

int main(int argc, char** argv) { return regduel::cli::run(argc, argv); }
