#include "duel/case_file.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "duel/exec/words.h"
#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

class HeaderReader {
 public:
  // "" or what is wrong.
  std::string line(std::string_view comment) {
    const std::vector<std::string> words = split_words(comment).value_or(std::vector<std::string>());
    if (words.empty()) return {};
    if (words[0] == "target:" && words.size() == 2) return target(words[1]);
    if (words[0] == "limit:") {
      for (std::size_t k = 1; k < words.size(); ++k)
        if (std::string e = limit(words[k]); !e.empty()) return e;
    } else if (words[0] == "knob:" && words.size() == 2) {
      return knob(words[1]);
    } else if (words[0] == "regduel" && words.size() > 1 && words[1] == "duel") {
      return command(words);
    }
    return {};
  }

  const ir::Target* found = nullptr;  // nothing is said
  std::vector<std::pair<ir::RegFile, int>> limits;
  Knobs knobs;

 private:
  std::string target(std::string_view name) {
    const ir::Target* t = ir::find_target(name);
    if (!t) return fmt::format("no target {}", name);
    found = t;
    return {};
  }
  std::string limit(std::string_view word) {
    const std::size_t equals = word.find('=');
    const auto cls = equals == std::string_view::npos ? std::nullopt : ir::class_from_name(word.substr(0, equals));
    int value = 0;
    const auto [end, error] = std::from_chars(word.data() + std::min(equals + 1, word.size()), word.data() + word.size(), value);
    if (!cls || error != std::errc() || end != word.data() + word.size() || value < 1 || value > ir::kMaxUnits)
      return fmt::format("limit {}: expected CLASS=N with N from 1 to {}", word, ir::kMaxUnits);
    limits.emplace_back(ir::file_of(*cls), value);
    return {};
  }
  std::string knob(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return fmt::format("knob {}: expected NAME=VALUE", word);
    knobs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    return {};
  }
  std::string command(const std::vector<std::string>& words) {
    for (std::size_t k = 2; k + 1 < words.size(); ++k) {
      std::string e;
      if (words[k] == "--sm") e = target(words[k + 1]);
      else if (words[k] == "--limit") e = limit(words[k + 1]);
      else if (words[k] == "--regs") e = limit(fmt::format("R={}", words[k + 1]));
      else if (words[k] == "--knob") e = knob(words[k + 1]);
      if (!e.empty()) return e;
    }
    return {};
  }
};

}  // namespace

Parsed<Case> parse_case(std::string_view text, std::string_view file_name) {
  const auto fail = [&](int line, std::string message) {
    return std::unexpected(SourceError{std::string(file_name), line, 0, std::move(message)});
  };
  HeaderReader header;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t n = std::min(rest.find('\n'), rest.size());
    const std::string_view one = rest.substr(0, n);
    rest.remove_prefix(std::min(n + 1, rest.size()));
    if (!one.starts_with("//")) {
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      break;
    }
    if (std::string e = header.line(one.substr(2)); !e.empty()) return fail(line, std::move(e));
  }
  auto module = ir::parse(text, file_name);
  if (!module) return std::unexpected(module.error());
  if (module->functions.empty()) return fail(0, "a case has a function");
  Case c;
  auto program = std::ranges::find(module->functions, ir::FunctionKind::Kernel, &ir::Function::kind);
  if (program == module->functions.end()) program = module->functions.begin();
  c.program = std::move(*program);
  module->functions.erase(program);
  c.target = header.found != nullptr ? header.found : ir::find_target(c.program.target);
  if (c.target == nullptr) c.target = &ir::default_target();
  c.limits = ir::Limits::of(*c.target);
  c.knobs = std::move(header.knobs);
  for (const auto& [file, value] : header.limits)
    c.limits.units[ir::index(file)] = std::min(value, c.target->units[ir::index(file)]);
  const auto complaint = [&](const ir::Function& f) -> std::string {
    if (f.phase != ir::Phase::Virtual) return "a case is a program before allocation";
    const auto faults = ir::check(f, *c.target, 1);
    return faults.empty() ? "" : ir::to_string(f, faults[0]);
  };
  if (std::string e = complaint(c.program); !e.empty()) return fail(0, std::move(e));
  for (ir::Function& callee : module->functions) {
    if (!may_be_callee(callee, c) || callee.name == c.program.name)
      return fail(0, fmt::format("@{}: a case has one kernel at most, and functions of different names", callee.name));
    if (std::string e = complaint(callee); !e.empty()) return fail(0, std::move(e));
    c.callees.push_back(std::move(callee));
  }
  return c;
}

std::string print_functions(const Case& c) {
  std::string out = ir::print_file(c.program);
  for (const ir::Function& callee : c.callees) out += ir::print(callee);
  return out;
}

std::string print_case(const Case& c, std::string_view comment) {
  std::string out;
  while (!comment.empty()) {
    const std::size_t n = std::min(comment.find('\n'), comment.size());
    out += fmt::format("// {}\n", comment.substr(0, n));
    comment.remove_prefix(std::min(n + 1, comment.size()));
  }
  return out + case_head(*c.target, c.limits, c.knobs) + print_functions(c);
}

}  // namespace regduel::duel
