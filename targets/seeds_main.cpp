// regduel_seeds ROOT FOLDER: writes FOLDER/TARGET/NAME for each seed of each fuzz target (seeds.h). ROOT is that of the source
// tree.
#include <cstdio>
#include <filesystem>

#include "base/io.h"
#include "targets/seeds.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s ROOT FOLDER   writes the seeds of each fuzz target into a folder of its own\n", argv[0]);
    return 2;
  }
  for (const std::string& target : regduel::targets::seeded_targets()) {
    const fs::path folder = fs::path(argv[2]) / target;
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    const auto seeds = regduel::targets::seeds_of(target, argv[1]);
    if (!seeds) {
      std::fprintf(stderr, "error: %s\n", seeds.error().c_str());
      return 2;
    }
    for (const regduel::targets::Seed& seed : *seeds) {
      const std::string_view bytes(reinterpret_cast<const char*>(seed.bytes.data()), seed.bytes.size());
      if (const auto written = regduel::write_file((folder / seed.name).string(), bytes); !written) {
        std::fprintf(stderr, "error: %s\n", written.error().c_str());
        return 2;
      }
    }
  }
  return 0;
}
