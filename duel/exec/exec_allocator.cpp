// See exec_allocator.h.
#include "duel/exec/exec_allocator.h"

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "duel/exec/words.h"
#include "ir/text/text.h"

namespace regduel::duel {
namespace {

using ir::AllocFailure;

constexpr std::size_t kMostDecisions = 1000;

// A decision's name with the life of the program, as ir::Fuel wants it.
std::string_view kept(const std::string& decision) {
  static std::mutex mutex;
  static std::set<std::string> decisions;
  const std::lock_guard lock(mutex);
  if (decisions.size() >= kMostDecisions && !decisions.contains(decision)) return "other";
  return *decisions.insert(decision).first;
}

}  // namespace

ExecAllocator::ExecAllocator(std::string name, const ExecOptions& options) : name_(std::move(name)), options_(options) {}

std::expected<void, std::string> ExecAllocator::start() {
  const auto words = split_words(std::string_view(name_).substr(kExec.size()));
  if (!words) return std::unexpected("a quote in the command is not closed");
  if (words->empty()) return std::unexpected("there is no command");
  if (std::any_of(name_.begin(), name_.end(), [](char c) { return c >= 0 && c < ' '; }))
    return std::unexpected("a command has no control characters");
  program_ = std::make_unique<ExternalProgram>(*words, options_);
  auto hello = program_->start();
  if (!hello) return std::unexpected(hello.error());
  hello_ = std::move(*hello);
  return {};
}

std::expected<ir::Allocation, AllocFailure> ExecAllocator::read_answer(std::string_view text, ir::Fuel* fuel) const {
  auto module = ir::parse(text, "answer");
  if (!module) return broken("text", one_line(to_string(module.error()), ExternalProgram::kMostMessage));
  if (module->functions.size() != 1)
    return broken("program", fmt::format("expected one function, found {}", module->functions.size()));
  if (module->functions[0].phase != ir::Phase::Allocated)
    return broken("program", "the func line of its answer does not say \"allocated\"");
  if (fuel != nullptr && hello_.has_fuel) {
    const AnswerHead head = answer_head(text);
    const std::int64_t spent = head.spent.value_or(0);
    if (spent < 0 || spent > fuel->limit - fuel->spent)
      return broken("fuel", fmt::format("of {} decisions it may take it says to have taken {}", fuel->limit - fuel->spent, spent));
    fuel->spent += spent;
    if (fuel->refused.empty() && !head.refused.empty()) fuel->refused = kept(head.refused);
  }
  ir::Allocation allocation;
  allocation.program = std::move(module->functions[0]);
  allocation.has_claims = false;
  return allocation;
}

std::expected<ir::Allocation, AllocFailure> ExecAllocator::allocate(const ir::Function& program, const ir::Target& target,
                                                                    const ir::AllocOptions& options) const {
  ir::AllocOptions told = options;
  if (!hello_.has_fuel) told.fuel = nullptr;
  for (const auto& [knob, value] : told.knobs)
    if (std::none_of(hello_.knobs.begin(), hello_.knobs.end(), [&](const ir::KnobInfo& k) { return k.name == knob; }))
      return std::unexpected(AllocFailure{AllocFailure::Kind::BadKnob, fmt::format("{} has no knob {}", name_, knob), ""});
  // Nothing that an allocator decides depends on source lines.
  std::string request;
  if (program.source_lines.empty()) {
    request = request_text(program, target, told);
  } else {
    ir::Function without_lines = program;
    without_lines.drop_source_lines();
    request = request_text(without_lines, target, told);
  }
  std::string word;
  const auto text = program_->ask(request, word);
  if (!text) return std::unexpected(text.error());
  auto answer = read_answer(*text, told.fuel);
  if (answer) answer->program.take_source_lines(program);
  return answer;
}

}  // namespace regduel::duel
