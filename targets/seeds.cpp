// See seeds.h.
#include "targets/seeds.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/check_macro.h"
#include "base/io.h"
#include "duel/case.h"
#include "duel/case_file.h"
#include "generate/standard_mix.h"
#include "ir/check.h"
#include "ir/ptx/ptx.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "targets/targets.h"

namespace regduel::targets {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::pair<std::string, std::string>>;  // file name without its ending, contents

// A file cannot be read or parsed; caught in seeds_of().
struct Unreadable {
  std::string message;
};

std::string read(const std::string& path) {
  auto text = read_file(path);
  if (!text) throw Unreadable{text.error()};
  return *std::move(text);
}

// The files of a folder with this ending, by name; none where there is no such folder.
Texts files_in(const std::string& folder, std::string_view ending) {
  std::error_code none;
  Texts texts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(ending))
      texts.emplace_back(entry.path().stem().string(), read(entry.path().string()));
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::uint8_t> as_bytes(std::string_view text) { return {text.begin(), text.end()}; }

struct Named {
  std::string name;
  duel::Case input;
};

// The least program; the cases of corpus/regression; each kernel of corpus/ptx under limits that are drawn from its place in the
// list.
std::vector<Named> programs(const std::string& root) {
  std::vector<Named> all;
  auto least = duel::parse_case("rir 1\nfunc @least kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  REGDUEL_CHECK(least.has_value(), "the least program is one");
  all.push_back({"least", std::move(*least)});
  for (const auto& [name, text] : files_in(root + "/corpus/regression", ".rir")) {
    auto c = duel::parse_case(text, name);
    if (!c) throw Unreadable{to_string(c.error())};
    all.push_back({name, std::move(*c)});
  }
  for (const auto& [name, text] : files_in(root + "/corpus/ptx", ".ptx")) {
    auto module = ir::parse_ptx(text, name);
    if (!module) throw Unreadable{to_string(module.error())};
    for (ir::Function& f : module->functions) {
      const ir::Target* target = ir::find_target(f.target);
      if (target == nullptr) target = ir::find_target("sm_90");
      if (!ir::check(f, *target, 1).empty()) continue;
      const ir::Limits limits = generate::draw_limits(f, *target, all.size());
      all.push_back({fmt::format("{}-{}", name, f.name), {target, limits, {}, std::move(f)}});
    }
  }
  return all;
}

// The command lines in the documents: "regduel NAME …" in fenced blocks, one argument a line.
std::vector<Seed> command_lines(const std::string& root) {
  std::set<std::string> lines;
  for (const char* document : {"/README.md", "/CONTRIBUTING.md", "/docs/cli.md", "/docs/own-allocator.md"}) {
    const std::string text = read(root + document);
    constexpr std::string_view kProgram = "regduel ";
    for (std::size_t at = 0; (at = text.find(kProgram, at)) != std::string::npos;) {
      at += kProgram.size();
      std::string line = text.substr(at, text.find_first_of("\n`#|>", at) - at);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\\')) line.pop_back();
      std::replace(line.begin(), line.end(), ' ', '\n');
      if (!line.empty()) lines.insert(line);
    }
  }
  std::vector<Seed> seeds;
  for (const std::string& line : lines) seeds.push_back({fmt::format("{:03}", seeds.size()), as_bytes(line)});
  return seeds;
}

std::vector<Seed> make_seeds(std::string_view target, const std::string& root) {
  std::vector<Seed> seeds;
  if (target == "cli_args") return command_lines(root);
  if (target == "ptx") {
    for (const auto& [name, text] : files_in(root + "/corpus/ptx", ".ptx")) seeds.push_back({name, as_bytes(text)});
    return seeds;
  }
  for (Named& p : programs(root)) {
    if (target == "rir_text") seeds.push_back({std::move(p.name), as_bytes(ir::print_file(p.input.program))});
    else if (target == "rir_binary") seeds.push_back({std::move(p.name), ir::encode(p.input.program)});
    else seeds.push_back({std::move(p.name), duel::encode_case(p.input)});
  }
  if (find_fuzz_target(target)->is_structured)
    for (const auto& [name, text] : files_in(root + "/corpus/seeds", "")) seeds.push_back({"seed-" + name, as_bytes(text)});
  return seeds;
}

}  // namespace

std::vector<std::string> seeded_targets() {
  std::vector<std::string> names = {"cli_args"};
  for (const FuzzTarget& t : fuzz_targets()) names.emplace_back(t.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::expected<std::vector<Seed>, std::string> seeds_of(std::string_view target, const std::string& root) {
  try {
    std::vector<Seed> seeds = make_seeds(target, root);
    std::erase_if(seeds, [](const Seed& s) { return s.bytes.size() > kMostSeedBytes; });
    return seeds;
  } catch (const Unreadable& e) {
    return std::unexpected(e.message);
  }
}

}  // namespace regduel::targets
