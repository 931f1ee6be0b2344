#include "duel/allocators.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocator/classic/classic.h"
#include "allocator/fatpoint.h"
#include "base/check_macro.h"
#include "duel/exec/exec_allocator.h"
#include "duel/exec/words.h"
#include "duel/ptxas/ptxas_allocator.h"
#include "passes/pass_allocator.h"
#include "passes/passes.h"
#include "reference/colourer.h"
#include "reference/exact/exact.h"
#include "reference/textbook/textbook.h"

namespace regduel::duel {
namespace {

std::vector<const ir::Allocator*>& all() {
  static const std::unique_ptr<ir::Allocator> fatpoint = allocator::make_fatpoint(), briggs = reference::make_briggs();
  static std::vector<const ir::Allocator*> list = {fatpoint.get(), briggs.get()};
  return list;
}

// Those that take part only where they are asked for.
std::span<const std::unique_ptr<ir::Allocator>> on_request() {
  static const std::array<std::unique_ptr<ir::Allocator>, 10> list = {
      allocator::make_classic(),     reference::make_cicc(),           reference::make_exact(), reference::make_exact_spill(),
      reference::make_exact_split(), reference::make_chaitin_briggs(), reference::make_irc(),   reference::make_pbqp(),
      reference::make_linear_scan(), reference::make_chordal()};
  return list;
}

// Passes before allocators, made when they are asked for.
struct WithPasses {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<passes::PassAllocator>, std::less<>> by_name;
};
WithPasses& with_passes() {
  static WithPasses list;
  return list;
}

// Programs, in the order in which they were entered.
std::vector<std::unique_ptr<ExecAllocator>>& externals() {
  static std::vector<std::unique_ptr<ExecAllocator>> list;
  return list;
}

// Others that were entered and have to be asked for.
std::vector<std::unique_ptr<const ir::Allocator>>& entered() {
  static std::vector<std::unique_ptr<const ir::Allocator>> list;
  return list;
}

}  // namespace

const ir::Allocator* find_allocator(std::string_view name) {
  for (const ir::Allocator* a : all())
    if (a->name() == name) return a;
  for (const auto& a : on_request())
    if (a->name() == name) return a.get();
  for (const auto& a : entered())
    if (a->name() == name) return a.get();
  if (name.starts_with(kExec)) return find_external(name);
  if (name == kPtxas) {
    static const std::unique_ptr<ir::Allocator> ptxas = make_ptxas();
    return ptxas.get();
  }
  const std::size_t plus = name.find('+');
  if (plus == std::string_view::npos) return nullptr;
  const passes::Pass* pass = passes::find_pass(name.substr(0, plus));
  const ir::Allocator* allocator = find_allocator(name.substr(plus + 1));
  if (pass == nullptr || allocator == nullptr) return nullptr;
  WithPasses& list = with_passes();
  const std::lock_guard lock(list.mutex);
  std::unique_ptr<passes::PassAllocator>& both = list.by_name[std::string(name)];
  if (!both) both = std::make_unique<passes::PassAllocator>(*pass, *allocator);
  return both.get();
}

std::vector<std::string> allocator_names() {
  std::vector<std::string> names;
  for (const ir::Allocator* a : all()) names.emplace_back(a->name());
  return names;
}

std::vector<std::string> names_on_request() {
  std::vector<std::string> names;
  for (const auto& a : on_request()) names.emplace_back(a->name());
  return names;
}

std::string duelist_names() {
  std::string names = fmt::format("{}", fmt::join(allocator_names(), ", "));
  for (const std::string& name : names_on_request()) names += fmt::format(", {}", name);
  for (const passes::Pass* pass : passes::passes()) names += fmt::format(", {}+ALLOCATOR", pass->name());
  return names + ", exec:COMMAND, llvm:ALLOCATOR@MACHINE, ptxas";
}

std::span<const ir::Allocator* const> all_duelists() { return all(); }

std::expected<void, std::string> enter_external(std::string_view name, const ExecOptions& options) {
  const std::size_t at = command_in(name);
  REGDUEL_CHECK(at != std::string_view::npos, fmt::format("no program in \"{}\"", name));
  if (find_external(name) != nullptr) return {};
  auto program = std::make_unique<ExecAllocator>(std::string(name.substr(at - kExec.size())), options);
  if (auto started = program->start(); !started) return started;
  externals().push_back(std::move(program));
  return {};
}

void enter(std::unique_ptr<const ir::Allocator> allocator) {
  if (find_allocator(allocator->name()) == nullptr) entered().push_back(std::move(allocator));
}

const ExecAllocator* find_external(std::string_view name) {
  const std::size_t at = command_in(name);
  if (at == std::string_view::npos) return nullptr;
  for (const auto& program : externals())
    if (program->name() == name.substr(at - kExec.size())) return program.get();
  return nullptr;
}

std::vector<const ir::Allocator*> provers(ir::Bound::Kind kind) {
  std::vector<const ir::Allocator*> found(all());
  for (const auto& a : on_request()) found.push_back(a.get());
  for (const auto& a : entered()) found.push_back(a.get());
  std::erase_if(found, [&](const ir::Allocator* a) {
    const auto* const prover = dynamic_cast<const ir::Prover*>(a);
    return prover == nullptr || prover->kind() != kind;
  });
  return found;
}

std::string shown_name(std::string_view name) {
  const std::size_t at = command_in(name);
  if (at == std::string_view::npos) return std::string(name);
  const std::string_view passes = name.substr(0, at - kExec.size());
  const auto said = [](const ExecAllocator& program) {
    if (!program.hello().name.empty()) return program.hello().name;
    const std::vector<std::string> words = split_words(program.name().substr(kExec.size())).value_or(std::vector<std::string>{""});
    // Of an interpreter the script.
    constexpr std::array kInterpreters = {"python3", "python", "bash", "sh", "node", "perl", "ruby"};
    const auto base = [](const std::string& word) { return word.substr(word.find_last_of('/') + 1); };
    const bool is_script = words.size() > 1 && std::ranges::find(kInterpreters, base(words[0])) != kInterpreters.end();
    return base(words[is_script ? 1 : 0]);
  };
  const ExecAllocator* const program = find_external(name);
  if (program == nullptr) return std::string(name);
  int before = 0, alike = 0;
  bool is_past = false;
  for (const auto& other : externals()) {
    is_past = is_past || other.get() == program;
    if (said(*other) != said(*program)) continue;
    ++alike;
    before += is_past ? 0 : 1;
  }
  return fmt::format("{}{}{}", passes, said(*program), alike > 1 ? fmt::format("#{}", before + 1) : "");
}

std::vector<const ir::Allocator*> knob_owners() {
  std::vector<const ir::Allocator*> owners = all();
  for (const auto& program : externals()) owners.push_back(program.get());
  for (const auto& a : entered()) owners.push_back(a.get());
  return owners;
}

Entered::Entered(const ir::Allocator& allocator) : allocator_(allocator) {
  REGDUEL_CHECK(find_allocator(allocator.name()) == nullptr, fmt::format("there is an allocator \"{}\" already", allocator.name()));
  all().push_back(&allocator);
}

Entered::~Entered() {
  std::erase(all(), &allocator_);
  const std::string end = fmt::format("+{}", allocator_.name());
  WithPasses& list = with_passes();
  const std::lock_guard lock(list.mutex);
  std::erase_if(list.by_name, [&](const auto& entry) { return entry.first.ends_with(end); });
}

}  // namespace regduel::duel
