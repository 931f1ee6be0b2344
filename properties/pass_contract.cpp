#include "properties/pass_contract.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "oracles/completeness.h"
#include "passes/pass.h"

namespace regduel::properties {
namespace {

class Contract {
 public:
  Contract(const ir::Function& before, const ir::Function& after, const ir::Target& target)
      : before_(before), after_(after), target_(target) {}

  std::vector<std::string> breaches() && {
    if (before_.blocks.size() != after_.blocks.size()) return {"not as many blocks"};
    if (before_.vregs.size() > after_.vregs.size()) return {"fewer vregs"};
    vregs();
    for (std::size_t b = 0; b < before_.blocks.size(); ++b) block(b);
    demand();
    return std::move(breaches_);
  }

 private:
  template <class... Args>
  void breach(fmt::format_string<Args...> text, Args&&... args) {
    breaches_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void vregs() {
    for (std::size_t v = 0; v < before_.vregs.size(); ++v) {
      const ir::VReg &was = before_.vregs[v], &is = after_.vregs[v];
      if (was.cls != is.cls || was.width != is.width || was.flags != is.flags || was.alias != is.alias || was.fixed != is.fixed ||
          was.align_log2 > is.align_log2)
        breach("%{} is another vreg", v);
    }
  }

  void block(std::size_t b) {
    const auto was = before_.insts_of(before_.blocks[b]), is = after_.insts_of(after_.blocks[b]);
    std::unordered_map<std::uint32_t, std::size_t> position;
    for (std::size_t k = 0; k < was.size(); ++k) position.emplace(was[k].id.value, k);
    std::size_t next = 0;  // all of `was` before it have been looked at
    for (const ir::Inst& i : is) {
      const auto at = position.find(i.id.value);
      if (at == position.end()) {
        added(i);
        continue;
      }
      if (at->second < next) {
        breach("#{} stands behind what it stood before", i.id.value);
        continue;
      }
      for (; next < at->second; ++next) left_out(was[next]);
      ++next;
      kept(was[at->second], i);
    }
    for (; next < was.size(); ++next) left_out(was[next]);
  }

  void left_out(const ir::Inst& i) {
    if (!i.is_copy() && !i.is_phi()) breach("#{}, which is no copy and no phi, is left out", i.id.value);
    else if (passes::gives_up_registers(before_, i)) breach("#{}, which gives up registers, is left out", i.id.value);
  }

  void kept(const ir::Inst& was, const ir::Inst& is) {
    if (was.op != is.op || was.flags != is.flags || before_.symbols[was.mnemonic] != after_.symbols[is.mnemonic])
      return breach("#{} is another instruction", was.id.value);
    const auto from = before_.operands_of(was), to = after_.operands_of(is);
    if (from.size() != to.size()) return breach("#{} has another number of operands", was.id.value);
    for (std::size_t k = 0; k < from.size(); ++k)
      if (from[k].kind != to[k].kind || from[k].role != to[k].role || from[k].is_negated() != to[k].is_negated() ||
          (!from[k].is_vreg() && !is_same_constant(from[k], to[k])))
        breach("operand {} of #{} is of another kind", k, was.id.value);
    if (!std::ranges::equal(before_.targets_of(was), after_.targets_of(is))) breach("#{} goes elsewhere", was.id.value);
  }
  [[nodiscard]] bool is_same_constant(const ir::Operand& was, const ir::Operand& is) const {
    if (was.kind == ir::OperandKind::Symbol) return before_.symbols[was.symbol()] == after_.symbols[is.symbol()];
    return was.raw().value == is.raw().value && was.raw().extra == is.raw().extra;
  }

  void added(const ir::Inst& i) {
    if (before_.find_inst(i.id) != nullptr) return breach("#{} stands in another block", i.id.value);
    if (i.is_copy() || i.is_phi()) return;
    const auto repeated = std::ranges::count_if(before_.insts, [&](const ir::Inst& was) { return repeats(was, i); });
    if (repeated != 1) breach("the new #{} is no copy and no phi, and repeats {} instructions", i.id.value, repeated);
  }
  [[nodiscard]] bool repeats(const ir::Inst& was, const ir::Inst& is) const {
    const auto from = before_.operands_of(was), to = after_.operands_of(is);
    if (was.op != is.op || was.flags != is.flags || !was.is_repeatable() || from.size() != to.size() || from.empty() ||
        before_.symbols[was.mnemonic] != after_.symbols[is.mnemonic])
      return false;
    const ir::VReg &was_def = before_.vreg(from[0].vreg()), &is_def = after_.vreg(to[0].vreg());
    if (was_def.cls != is_def.cls || was_def.width != is_def.width || is_def.fixed.is_valid() ||
        is_def.align_log2 < was_def.align_log2)
      return false;
    for (std::size_t k = 1; k < from.size(); ++k)
      if (from[k].is_register() || from[k].kind != to[k].kind || !is_same_constant(from[k], to[k])) return false;
    return true;
  }

  // The least limit of the general file at which `before` is possible is enough for `after`.
  void demand() {
    const auto fits = [&](const ir::Function& f, int registers) {
      return !oracles::find_impossible(f, target_, ir::Limits::of(target_, registers));
    };
    int low = 0, high = target_.units[ir::index(ir::RegFile::R)];
    if (!fits(before_, high)) return;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (fits(before_, middle) ? high : low) = middle;
    }
    if (!fits(after_, high)) breach("{} registers were enough for each instruction, and are no longer", high);
  }

  const ir::Function &before_, &after_;
  const ir::Target& target_;
  std::vector<std::string> breaches_;
};

}  // namespace

std::vector<std::string> breaches_of_contract(const ir::Function& before, const ir::Function& after, const ir::Target& target) {
  return Contract(before, after, target).breaches();
}

}  // namespace regduel::properties
