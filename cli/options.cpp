#include "cli/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/suggestion.h"
#include "duel/allocators.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "duel/ptxas/ptxas_allocator.h"
#include "ir/check.h"
#include "ir/text/text.h"
#include "llvm/duelist/llvm_allocator.h"
#include "passes/passes.h"

namespace regduel::cli {
namespace {

constexpr const char* kFastCompile[] = {"off", "min", "mid", "max"};

// The whole of the text as a number; nothing where it is none, or too large.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// The target of a JSON file, which is read once.
const ir::Target& target_in(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, ir::Target> known;
  const std::scoped_lock lock(mutex);
  if (const auto at = known.find(file); at != known.end()) return at->second;
  const auto json = read_file(file);
  if (!json) throw BadInput(fmt::format("error: {}", json.error()));
  auto parsed = ir::parse_target(*json, file);
  if (!parsed) throw BadInput(to_string(parsed.error()));
  return known.emplace(file, std::move(*parsed)).first->second;
}

// Whether the meaning of such a name, one predicate or half of one, matters to the program.
bool names_predicate_registers(const ir::Function& f) {
  const auto is_one = [](ir::PReg r) { return r.is_valid() && ir::is_predicate(r.file); };
  return std::ranges::any_of(f.vregs, [&](const ir::VReg& v) { return is_one(v.fixed); }) ||
         std::ranges::any_of(f.operands, [&](const ir::Operand& op) { return is_one(op.is_preg() ? op.preg() : op.fixed()); });
}

}  // namespace

void TargetOptions::add_to(Arguments& a) {
  a.option("--sm", &sm, "Streaming multiprocessor to allocate for, e.g. 90 (default: what the program says)");
  a.option("--target", &target_file, "Target description in JSON (ir/FORMAT.md, \"Targets\"), instead of --sm");
  a.option("--limit", &limits, "Limit of one register class, CLASS=N, e.g. P=4 (R, P, B, UR, UP, UB, ACC); repeatable");
}

const ir::Target& TargetOptions::resolve(ir::Function& f, const std::string& file) const {
  const ir::Target* found = nullptr;
  if (!target_file.empty()) {
    found = &target_in(target_file);
  } else {
    const std::string name = sm != 0 ? fmt::format("sm_{}", sm) : f.target;
    found = ir::find_target(name);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const ir::Target& t : ir::targets()) names.push_back(t.name);
      const std::string where = sm != 0 ? "--sm" : fmt::format("{}: error: @{}", file, f.name);
      throw BadInput(
          fmt::format("{}: no target {} (there are {}; others: --target FILE.json)", where, name, fmt::join(names, ", ")));
    }
  }
  f.target = found->name;
  f.predicate_halves = f.predicate_halves || (found->predicate_halves && !names_predicate_registers(f));
  if (const auto faults = ir::check(f, *found, 1); !faults.empty())
    throw BadInput(fmt::format("{}: error: @{}: {}", file, f.name, ir::to_string(f, faults[0])));
  return *found;
}

const ir::Target& TargetOptions::of_random_programs() const {
  const auto offers = [](const ir::Target& t, ir::RegFile file, int least, int units) {
    bool all = t.units[ir::index(file)] >= least;
    for (int unit = 0; unit < units; ++unit) all = all && !t.is_reserved(ir::AbiName::Seed, file, unit);
    return all;
  };
  if (target_file.empty()) {
    const ir::Target* const found = sm == 0 ? &ir::default_target() : ir::find_target(fmt::format("sm_{}", sm));
    if (found == nullptr) throw BadInput(fmt::format("--sm: no target sm_{}", sm));
    return *found;
  }
  const ir::Target& target = target_in(target_file);
  if (!offers(target, ir::RegFile::R, 32, 16) || !offers(target, ir::RegFile::P, 4, 4))
    throw BadInput(fmt::format("{}: error: random programs need 32 units in R and 4 in P, the first 16 and 4 of them not reserved",
                               target_file));
  return target;
}

ir::Limits TargetOptions::limits_for(const ir::Target& t, int registers) const {
  ir::Limits result = registers > 0 ? ir::Limits::of(t, registers) : ir::Limits::of(t);
  for (const std::string& item : limits) {
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const auto cls = ir::class_from_name(key);
    const int value = equals == std::string::npos ? -1 : number_in<int>(item.substr(equals + 1)).value_or(-1);
    if (!cls || value < 1 || value > ir::kMaxUnits)
      throw BadInput(
          fmt::format("--limit {}: expected CLASS=N with CLASS one of R, Ralt, UR, URext, P, UP, ACC, B, UB and N from 1 to {}",
                      item, ir::kMaxUnits));
    int& unit_limit = result.units[ir::index(ir::file_of(*cls))];
    unit_limit = std::min(value, t.units[ir::index(ir::file_of(*cls))]);
  }
  return result;
}

void AbiOption::add_to(Arguments& a) {
  a.option("--abi", &value,
           "Calls of a PTX file: cuda, as ptxas makes them; seed, R24 to R31 kept. RIR says its own (ir/FORMAT.md, \"Targets\")")
      .one_of({"seed", "cuda"})
      .shows_default();
}

ir::AbiName AbiOption::name() const { return ir::abi_from_name(value).value_or(ir::AbiName::Cuda); }

const trial::PlantedBug& planted_bug_named(std::string_view option, const std::string& name) {
  if (!trial::has_planted_bugs())
    throw BadInput(fmt::format(
        "{}: this build has no planted bugs: cmake --preset zoo && cmake --build build/zoo, then build/zoo/bin/regduel", option));
  const trial::PlantedBug* bug = trial::find_planted_bug(name);
  if (bug == nullptr)
    throw BadInput(fmt::format("{}: there is no planted bug \"{}\" (regduel zoo --list names them)", option, name));
  return *bug;
}

void plant(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : split_list(names))
    all += (all.empty() ? "" : ",") + std::string(planted_bug_named("--plant", name).name);
  if (!all.empty()) trial::plant(all);
}

void PassesOption::add_to(Arguments& a, const std::string& help) {
  a.flag("--passes{table}", how, help + "; --passes=dump: and the program before and after").one_of({"table", "dump"});
}

ir::PassLog* PassesOption::record_in(ir::PassLog& log) const {
  log.has_dumps = how == "dump";
  return how.empty() ? nullptr : &log;
}

void KnobOptions::add_to(Arguments& a, const std::string& help) {
  a.option("--knob", &knobs, help);
  a.option("--register-usage-level", &register_usage_level,
           "How few registers to aim at, 0 to 10: 0 the limit, 10 as few as can be. (The help of the real tool has it the "
           "other way round.)")
      .between(0, 10);
  a.flag("--fast-compile{mid}", fast_compile,
         "Less time for worse results, the first where registers spill: --fast-compile=off, min (two attempts without "
         "spilling), mid (one; also without a value) or max (none)")
      .one_of({kFastCompile[0], kFastCompile[1], kFastCompile[2], kFastCompile[3]});
  a.flag("--disable-smem-reservation", disable_smem_reservation, "Spill to local memory only, never to shared memory");
}

// An allocator refuses a bad value before it looks at the program, so the smallest program will do.
void require_knob_values(std::string_view where, const ir::Allocator& allocator,
                         const std::vector<std::pair<std::string, std::string>>& settings) {
  if (duel::command_in(allocator.name()) != std::string::npos) return;
  ir::AllocOptions options;
  const std::span<const ir::KnobInfo> known = allocator.knobs();
  for (const auto& setting : settings)
    if (std::any_of(known.begin(), known.end(), [&](const ir::KnobInfo& k) { return k.name == setting.first; }))
      options.knobs.push_back(setting);
  if (options.knobs.empty()) return;
  const auto nothing = ir::parse("rir 1\nfunc @nothing kernel target sm_90 threads 32\n  block b0\n    #0 exit\n");
  const ir::Target& target = ir::default_target();
  options.limits = ir::Limits::of(target);
  const auto result = allocator.allocate(nothing->functions[0], target, options);
  if (!result && result.error().kind == ir::AllocFailure::Kind::BadKnob)
    throw BadInput(fmt::format("{}: {}", where, result.error().message));
}

namespace {

// Throws BadInput where none of the knobs has this name or id. Allocators that begin with a process may know knobs that they tell nobody of.
void require_known(const std::string& setting, const std::vector<ir::KnobInfo>& known) {
  const std::string name = setting.substr(0, setting.find('='));
  std::vector<std::string> names;
  for (const ir::KnobInfo& k : known) {
    if (k.name == name || (k.id >= 0 && fmt::format("{}", k.id) == name)) return;
    names.emplace_back(k.name);
  }
  throw BadInput(
      fmt::format("--knob {}: no allocator here has such a knob{}; regduel knobs lists them", setting, did_you_mean(name, names)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> KnobOptions::settings(std::span<const ir::Allocator* const> allocators) const {
  std::vector<ir::KnobInfo> known;
  for (const ir::Allocator* a : allocators) known.insert(known.end(), a->knobs().begin(), a->knobs().end());
  std::vector<std::pair<std::string, std::string>> result;
  const auto flag = [&](const char* option, const char* name, std::ptrdiff_t value) {
    if (std::none_of(known.begin(), known.end(), [&](const ir::KnobInfo& k) { return k.name == name; }))
      throw BadInput(fmt::format("{}: no allocator here knows it", option));
    result.emplace_back(name, fmt::format("{}", value));
  };
  if (register_usage_level >= 0) flag("--register-usage-level", "RegisterUsageLevel", register_usage_level);
  if (!fast_compile.empty())
    flag("--fast-compile", "FastCompile",
         std::find(std::begin(kFastCompile), std::end(kFastCompile), fast_compile) - std::begin(kFastCompile));
  if (disable_smem_reservation) flag("--disable-smem-reservation", "DisableSmemReservation", 1);
  for (const std::string& knob : knobs) {
    const std::size_t equals = knob.find('=');
    if (equals == std::string::npos || equals == 0) throw BadInput(fmt::format("--knob {}: expected NAME=VALUE", knob));
    std::string name = knob.substr(0, equals);
    for (const ir::KnobInfo& k : known)
      if (k.id >= 0 && fmt::format("{}", k.id) == name) {
        name = k.name;
        break;
      }
    result.emplace_back(std::move(name), knob.substr(equals + 1));
  }
  const bool may_have_others = std::ranges::any_of(
      allocators, [](const ir::Allocator* a) { return duel::command_in(a->name()) != std::string::npos && a->knobs().empty(); });
  for (const std::string& knob : knobs)
    if (!may_have_others) require_known(knob, known);
  for (const ir::Allocator* a : allocators) require_knob_values("--knob", *a, result);
  return result;
}

void add_seed(Arguments& a, std::uint64_t& seed, const std::string& help) {
  a.option("--seed", &seed, help)
      .check([](const std::string& text) {
        return number_in<std::uint64_t>(text) ? "" : "expected a number from 0 to 2^64 - 1, found " + text;
      })
      .shows_default();
}

void add_jobs(Arguments& a, int& jobs, const std::string& help) {
  a.option("--jobs", &jobs, help).between(0, 1024).shows_default();
}

void check_registers(int registers) {
  if (registers < 1 || registers > 255) throw BadInput(fmt::format("--regs: expected 1 to 255, found {}", registers));
}

void check_size(int size) {
  if (size < 0 || size > 1'000'000) throw BadInput(fmt::format("--size: expected 0 to 1000000, found {}", size));
}

std::vector<int> parse_registers(const std::vector<std::string>& items) {
  std::vector<int> limits;
  for (const std::string& item : split_list(items)) {
    if (item.size() > 1 && item[0] == '0') throw BadInput(fmt::format("--regs: {} is no decimal number", item));
    const std::optional<int> value = number_in<int>(item);
    if (!value) throw BadInput(fmt::format("--regs: expected numbers like 24,32,64, found \"{}\"", item));
    check_registers(*value);
    limits.push_back(*value);
  }
  return limits;
}

void AllocatorOptions::add_to(Arguments& a) {
  std::string passes;
  for (const passes::Pass* p : passes::passes()) passes += fmt::format(", {}", p->name());
  a.option("--coalesce", &coalesce,
           fmt::format("Passes before each allocator, comma-separated, in this order: none{}. The judges compare the program "
                       "before the first of them with the final one",
                       passes));
  a.option("--exec-timeout", &exec.timeout,
           "Seconds that an allocator exec:COMMAND has for an answer; one that takes longer hangs, which is a finding")
      .between(0.01, 86400.0)
      .check([](const std::string& text) -> std::string {
        return std::isdigit(static_cast<unsigned char>(text[0])) != 0 ? "" : "expected a number";
      })
      .shows_default();
  a.option("--exec-memory", &exec.memory_mib, "MiB of address space that it may have (0 = no limit, as AddressSanitizer needs)")
      .between(0, 1 << 24)
      .shows_default();
  a.option("--exec-protocol", &protocol,
           "pipe: it runs on, and reads programs from its standard input; files: it is run once a program, with the paths of "
           "input and output")
      .one_of({"pipe", "files"})
      .shows_default();
}

namespace {

std::vector<std::string> known_names() {
  std::vector<std::string> names = duel::allocator_names();
  for (std::string& name : duel::names_on_request()) names.push_back(std::move(name));
  return names;
}

}  // namespace

const ir::Allocator& AllocatorOptions::named(const std::string& item) const {
  std::string name;
  for (const std::string& list : coalesce)
    for (const std::string& pass : duel::split_items(list)) {
      if (pass == "none") continue;
      if (passes::find_pass(pass) == nullptr)
        throw BadInput(fmt::format("--coalesce: no pass \"{}\" (regduel pass --help lists them)", pass));
      name += pass + "+";
    }
  name += duel::name_of_item(item);
  if (duel::command_in(name) != std::string::npos) {
    duel::ExecOptions options = exec;
    options.is_files = protocol == "files";
    if (const auto entered = duel::enter_external(name, options); !entered)
      throw BadInput(fmt::format("--with {}: {}", name, entered.error()));
  }
  if (name.starts_with(llvm::kLlvm) && duel::find_allocator(name) == nullptr) {
    auto made = llvm::make_llvm_allocator(name, exec);
    if (!made) throw BadInput(fmt::format("--with {}: {}", name, made.error()));
    duel::enter(std::move(*made));
  }
  const ir::Allocator* a = duel::find_allocator(name);
  if (a == nullptr)
    throw BadInput(fmt::format("--with: no allocator \"{}\"{} (there are {})", name, did_you_mean(name, known_names()),
                               duel::duelist_names()));
  return *a;
}

std::vector<const ir::Allocator*> AllocatorOptions::duelists(const std::vector<std::string>& with) const {
  std::vector<const ir::Allocator*> result;
  bool is_skipped = false;
  for (const std::string& list : with)
    for (const std::string& item : duel::split_items(list))
      if (item == duel::kPtxas && duel::find_allocator(item) == nullptr) is_skipped = true;
      else if (const ir::Allocator* a = &named(item); std::find(result.begin(), result.end(), a) == result.end())
        result.push_back(a);
  if (is_skipped) warn("skipped: no ptxas");
  if (result.empty() && is_skipped) result.push_back(&named("fatpoint"));
  if (result.empty() && !with.empty())
    throw BadInput(fmt::format("--with: expected an allocator, found nothing (there are {})", duel::duelist_names()));
  if (result.empty())
    for (const ir::Allocator* a : duel::all_duelists()) result.push_back(&named(std::string(a->name())));
  return result;
}

std::vector<std::string> split_list(const std::vector<std::string>& items) {
  std::vector<std::string> result;
  for (const std::string& item : items)
    for (std::size_t at = 0; at <= item.size();) {
      const std::size_t comma = std::min(item.find(',', at), item.size());
      const std::string part = item.substr(at, comma - at);
      if (!part.empty() && std::find(result.begin(), result.end(), part) == result.end()) result.push_back(part);
      at = comma + 1;
    }
  return result;
}

}  // namespace regduel::cli
