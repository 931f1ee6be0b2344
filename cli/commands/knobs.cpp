// regduel knobs: every knob of every allocator, of every pass and of memcheck.

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/show/output.h"
#include "duel/allocators.h"
#include "duel/exec/words.h"
#include "oracles/memcheck/memcheck.h"
#include "passes/passes.h"

namespace regduel::cli {
namespace {

constexpr std::string_view kVerifier = "memcheck";
constexpr std::size_t kColumns = 80, kIndent = 6;  // of the lines below a name

struct Options {
  std::vector<std::string> with;
  bool json = false, sources = false;
};

struct Row {
  std::string owner;
  ir::KnobInfo knob;
};

std::vector<Row> rows_of(const std::vector<std::string>& owners) {
  std::vector<Row> rows;
  for (const std::string& owner : owners) {
    if (owner == kVerifier) {
      for (const ir::KnobInfo& k : oracles::memcheck_knobs()) rows.push_back({owner, k});
    } else if (const passes::Pass* pass = passes::find_pass(owner)) {
      for (const ir::KnobInfo& k : pass->knobs()) {
        // Those that series has of other passes are listed with these.
        if (std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.knob.name == k.name; })) continue;
        rows.push_back({owner, k});
      }
    } else {
      for (const ir::KnobInfo& k : AllocatorOptions().named(owner).knobs()) rows.push_back({owner, k});
    }
  }
  // Without an id last.
  const auto key = [](const Row& r) {
    return std::tuple(r.knob.id < 0, r.knob.id, std::string_view(r.knob.name), std::string_view(r.owner));
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
  return rows;
}

// Lines of words, each at most as long as the terminal is wide.
std::string indented(std::string_view text, std::size_t indent) {
  std::string out, line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (!line.empty() && indent + line.size() + 1 + space > kColumns) {
      out += fmt::format("{:{}}{}\n", "", indent, line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out + fmt::format("{:{}}{}\n", "", indent, line);
}

// With its source, and with a word where the source has no name for it; or without both.
std::string shown_help(const ir::KnobInfo& k, bool sources) {
  constexpr std::string_view kOurs = " (name ours)";
  std::string help(k.help);
  if (sources) return k.source.empty() ? help : fmt::format("{} ({})", help, k.source);
  if (const std::size_t at = help.find(kOurs); at != std::string::npos) help.erase(at, kOurs.size());
  return help;
}

int knobs(const Options& o) {
  std::vector<std::string> all = duel::allocator_names();
  for (std::string& name : duel::names_on_request()) all.push_back(std::move(name));
  for (const passes::Pass* pass : passes::passes()) all.emplace_back(pass->name());
  all.emplace_back(kVerifier);
  std::vector<std::string> asked;
  for (const std::string& list : o.with)
    for (std::string& item : duel::split_items(list)) asked.push_back(duel::name_of_item(item));
  for (const std::string& name : asked)
    if (std::find(all.begin(), all.end(), name) == all.end() && duel::command_in(name) == std::string::npos)
      throw BadInput(
          fmt::format("--with: no allocator, pass or judge \"{}\" with knobs (there are {})", name, fmt::join(all, ", ")));
  const std::vector<Row> rows = rows_of(asked.empty() ? all : asked);
  if (o.json) {
    Json list = Json::array();
    for (const auto& [owner, k] : rows) {
      Json row = {{"owner", owner}, {"name", k.name},  {"id", nullptr},      {"type", k.type}, {"default", k.default_value},
                  {"low", nullptr}, {"high", nullptr}, {"source", k.source}, {"help", k.help}};
      if (k.id >= 0) row["id"] = k.id;
      if (!k.low.empty()) row["low"] = k.low;
      if (!k.high.empty()) row["high"] = k.high;
      list.push_back(std::move(row));
    }
    print_json({{"command", "knobs"}, {"knobs", list}});
    return 0;
  }
  std::size_t name = 0, owner = 0;
  for (const Row& r : rows) {
    name = std::max(name, r.knob.name.size());
    owner = std::max(owner, r.owner.size());
  }
  for (const auto& [of, k] : rows) {
    std::string value = k.type;
    if (!k.low.empty()) value += fmt::format(" {} to {}", k.low, k.high);
    if (!k.default_value.empty()) value += fmt::format(" [{}]", k.default_value);
    std::string head = fmt::format("{:>4}  {:<{}}  {:<{}}", k.id >= 0 ? fmt::format("{}", k.id) : "", k.name, name, of, owner);
    if (head.size() + 2 + value.size() <= kColumns) {
      fmt::print("{}  {}\n", head, value);
    } else {
      head.erase(head.find_last_not_of(' ') + 1);
      fmt::print("{}\n{}", head, indented(value, kIndent));
    }
    fmt::print("{}", indented(shown_help(k, o.sources), kIndent));
  }
  return 0;
}

}  // namespace

Action declare_knobs(Arguments& a) {
  auto o = std::make_shared<Options>();
  a.option("--with", &o->with,
           "Only of these, comma-separated: allocators, passes, exec:COMMAND, or memcheck (default: all but programs)");
  a.flag("--sources", o->sources,
         "The passage of the sources that each comes from (docs/sources/README.md), or that its name is ours");
  a.flag("--json", o->json, "One JSON document");
  a.footer(
      "By id, then by name: id, name, whose it is, type and range [default]; what it does. Set one with --knob "
      "NAME=VALUE or\n"
      "--knob ID=VALUE of alloc and duel, --knob of pass, or --knob of verify for memcheck's.\n"
      "Example:  regduel knobs --with fatpoint");
  return [o] { return knobs(*o); };
}

}  // namespace regduel::cli
