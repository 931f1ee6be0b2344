// regduel gen: a random program of a profile, or many of them in a directory.

#include <filesystem>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "generate/generator.h"
#include "ir/check.h"
#include "ir/text/binary.h"
#include "ir/text/dot.h"
#include "ir/text/text.h"

namespace regduel::cli {
namespace {

struct Options {
  std::string profile = "mix";
  std::uint64_t seed = 1;
  int size = 0;
  int sm = 90;
  std::string target_file;
  int count = 1;
  std::string output = "-";
  std::string emit = "rir";
  bool json = false;
};

int generate(const Options& o) {
  const auto profile = generate::profile_from_name(o.profile);
  if (!profile && o.profile != "all") {
    std::string names;
    for (const generate::Profile p : generate::profiles()) names += fmt::format("{}, ", name(p));
    names += fmt::format("{}, ", name(generate::Profile::Plain));
    throw BadInput(fmt::format("--profile: no profile \"{}\" (there are {}all)", o.profile, names));
  }
  check_size(o.size);
  if (o.count < 1 || o.count > 10'000'000) throw BadInput(fmt::format("--count: expected 1 to 10000000, found {}", o.count));
  generate::GeneratorOptions options;
  options.size = o.size;
  TargetOptions chosen;
  chosen.sm = o.sm;
  chosen.target_file = o.target_file;
  const ir::Target& target = chosen.of_random_programs();

  if (o.emit != "rir" && o.count != 1) throw BadInput("--emit bin and dot write one program: leave --count out");
  std::string bytes = ir::print(ir::Module());
  std::uint64_t instructions = 0;
  Json list = Json::array();
  Progress progress("generating", o.count);
  for (int k = 0; k < o.count; ++k) {
    const auto all = generate::profiles();
    options.profile = profile ? *profile : all[static_cast<std::size_t>(k) % all.size()];
    options.seed = o.seed + static_cast<std::uint64_t>(k);
    const ir::Function f = generate::generate(options, target);
    const auto faults = ir::check(f, target, 1);
    REGDUEL_CHECK(faults.empty(),
                  fmt::format("gen --profile {} --seed {}: {}", name(options.profile), options.seed, ir::to_string(f, faults[0])));
    instructions += f.insts.size();
    if (o.json)
      list.push_back({{"function", f.name},
                      {"profile", name(options.profile)},
                      {"seed", options.seed},
                      {"instructions", f.insts.size()},
                      {"blocks", f.blocks.size()},
                      {"vregs", f.vregs.size()}});
    if (o.emit == "rir") bytes += ir::print(f);
    else if (o.emit == "dot") bytes = ir::to_dot(f);
    else {
      const auto encoded = ir::encode(f);
      bytes.assign(encoded.begin(), encoded.end());
    }
    progress.step();
  }
  progress.done();
  if (o.json && o.output == "-") {
    print_json({{"command", "gen"}, {"programs", o.count}, {"instructions", instructions}, {"results", list}});
    return 0;
  }
  save(o.output, bytes);
  if (o.json) print_json({{"command", "gen"}, {"programs", o.count}, {"instructions", instructions}, {"results", list}});
  return 0;
}

}  // namespace

Action declare_gen(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("--profile", &o->profile, "What the program is full of: straight, loops, pressure, tuples, ... or all, in turn")
      .shows_default();
  add_seed(a, o->seed, "The same seed, profile, size and version give the same program");
  a.option("--size", &o->size, "Instructions, approximately; 0 = drawn from the seed").shows_default();
  a.option("--sm", &o->sm, "Streaming multiprocessor that the program is for").shows_default();
  a.option("--target", &o->target_file, "Target description in JSON (ir/FORMAT.md, \"Targets\"), instead of --sm");
  a.option("--count", &o->count, "How many programs, with seeds from --seed upward").shows_default();
  a.option("-o,--output", &o->output, "Where to write (- = standard output)").shows_default();
  a.option("--emit", &o->emit, "rir (text), bin (the fuzz corpus) or dot (Graphviz)").one_of({"rir", "bin", "dot"}).shows_default();
  a.flag("--json", o->json, "One JSON document about the programs");
  a.footer("Example:  regduel gen --seed 7 --profile loops -o a.rir");
  return [o] { return generate(*o); };
}

}  // namespace regduel::cli
