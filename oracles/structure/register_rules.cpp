#include "oracles/structure/register_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace regduel::oracles {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::PReg;
using ir::VReg;

namespace {

// As the text of an operand has it: ".lo", ".hi", or ".b3" and the like; "" for the whole register.
std::string text_of(ir::Part part, PReg home) {
  if (part.is_whole()) return {};
  const bool is_half = part.size_bytes() * 2 == home.count * ir::unit_bytes(home.file) && part.element() < 2;
  return is_half ? (part.element() == 0 ? ".lo" : ".hi") : fmt::format(".{}{}", "bhwdq"[part.size_log2()], part.element());
}

// "byte 1", "bytes 2 to 3".
std::string bytes_text(ir::Part part) {
  if (part.is_whole()) return "the whole";
  if (part.size_bytes() == 1) return fmt::format("byte {}", part.offset_bytes());
  return fmt::format("bytes {} to {}", part.offset_bytes(), part.offset_bytes() + part.size_bytes() - 1);
}

}  // namespace

RegisterRules::RegisterRules(const Case& c, Collector& out)
    : before_(c.before), after_(c.after), target_(c.target), limits_(c.limits), points_(c.after, c.limits.of(ir::RegFile::R)),
      out_(out) {
  for (std::size_t v = 0; v < before_.vregs.size(); ++v)
    if (before_.vregs[v].is_architectural() && before_.vregs[v].fixed.is_valid()) architectural_.push_back(ir::VRegId(v));
  for (int units = 1; units <= kMostUnits; ++units) least_align_log2_[units] = ir::natural_align_log2(32 * units);
  for (const VReg& v : before_.vregs) {
    int& least = least_align_log2_[v.units()];
    least = std::min(least, static_cast<int>(v.align_log2));
  }
}

void RegisterRules::fault(std::string_view category, const Inst& i, int operand, std::string message) {
  out_.add(category, i.id, operand, std::move(message));
}

void RegisterRules::check_placement(const Inst& a, int at, const Operand& want, const Operand& have) {
  const ir::Storage storage = before_.storage(want);
  const VReg& root = before_.vreg(storage.root);
  const PReg home = have.preg();
  if (home.file != root.file()) {
    fault("register-file", a, at,
          fmt::format("%{} is of class {}, {} is not", want.vreg().value, ir::name(root.cls), to_string(after_, home)));
    return;
  }
  if (home.count != root.units())
    fault("register-units", a, at,
          fmt::format("%{} takes {} units, {} has {}", want.vreg().value, root.units(), to_string(after_, home), home.count));
  if (!root.is_architectural()) {
    if ((home.first & (root.alignment() - 1)) != 0)
      fault("register-alignment", a, at,
            fmt::format("%{} is aligned to {} units, {} is not", want.vreg().value, root.alignment(), to_string(after_, home)));
    allocatable(a, at, home);
  }
  not_of_architectural(a, at, home, architectural_in(home, storage.root));
  const bool is_whole = storage.offset == 0 && storage.size == root.bytes();
  const auto part = is_whole ? ir::Part() : ir::Part::from_bytes(storage.offset, storage.size);
  if (part.has_value() && have.part != *part)
    fault("operand-part", a, at,
          fmt::format("{0}{1} is {2}, where {3} of %{4} stood: write {0}{5}", to_string(after_, home), text_of(have.part, home),
                      bytes_text(have.part), bytes_text(*part), storage.root.value, text_of(*part, home)));
  const PReg fixed = before_.fixed_of(want);
  if (fixed.is_valid() && fixed != home)
    fault("fixed-register", a, at,
          fmt::format("%{} is fixed to {}, stands in {}", want.vreg().value, to_string(after_, fixed), to_string(after_, home)));
}

void RegisterRules::allocatable(const Inst& a, int at, PReg r) {
  const int asked =
      r.file == ir::RegFile::R ? points_.before(static_cast<std::size_t>(&a - after_.insts.data())) : limits_.of(r.file);
  const int limit = std::min(asked, target_.units[index(r.file)]);
  if (r.end() > limit) {
    fault("register-limit", a, at, fmt::format("{} is not below the limit of {}", to_string(after_, r), limit));
    return;
  }
  for (int unit = r.begin(); unit < r.end(); ++unit)
    if (target_.is_reserved(before_.abi, r.file, unit)) {
      fault("reserved-register", a, at, fmt::format("{} is reserved", to_string(after_, r)));
      return;
    }
}

ir::VRegId RegisterRules::architectural_in(PReg r, ir::VRegId own) const {
  for (const ir::VRegId v : architectural_)
    if (v != own && before_.vreg(v).fixed.overlaps(r)) return v;
  return {};
}

void RegisterRules::not_of_architectural(const Inst& a, int at, PReg r, ir::VRegId owner) {
  if (owner.is_valid())
    fault("architectural-register", a, at, fmt::format("{} is that of %{} alone", to_string(after_, r), owner.value));
}

void RegisterRules::check_constraints(const Inst& a, std::span<const Operand> want, std::span<const Operand> have) {
  std::size_t defs = 0, early = 0;
  for (std::size_t k = 0; k < want.size(); ++k) {
    defs += want[k].writes() ? 1 : 0;
    early += want[k].is_early_clobber() ? 1 : 0;
    if (!want[k].is_tied()) continue;
    const std::size_t use = want[k].tied;
    if (use < have.size() && have[use].is_preg() && have[use].preg() != have[k].preg())
      fault("tied-operand", a, static_cast<int>(k),
            fmt::format("is tied to operand {} in {}, stands in {}", use, to_string(after_, have[use].preg()),
                        to_string(after_, have[k].preg())));
  }
  if (defs > 1) check_defs_apart(a, have);
  if (early == 0) return;
  ++stamp_;
  for (std::size_t k = 0; k < have.size(); ++k)
    if (have[k].is_preg() && have[k].reads()) mark(have[k], k);
  for (std::size_t k = 0; k < have.size(); ++k) {
    if (!want[k].is_early_clobber() || !have[k].is_preg()) continue;
    const int other = marked_by(have[k]);
    if (other >= 0)
      fault("early-clobber", a, static_cast<int>(k),
            fmt::format("is written in {} before operand {} is read there", to_string(after_, have[k].preg()), other));
  }
}

void RegisterRules::check_defs_apart(const Inst& a, std::span<const Operand> have) {
  ++stamp_;
  for (std::size_t k = 0; k < have.size(); ++k) {
    if (!have[k].is_preg() || !have[k].writes()) continue;
    const int other = marked_by(have[k]);
    if (other >= 0)
      fault("def-overlap", a, static_cast<int>(k),
            fmt::format("operand {} is written to {} too", other, to_string(after_, have[k].preg())));
    mark(have[k], k);
  }
}

template <class Visit>
void RegisterRules::for_each_byte(const Operand& op, Visit visit) {
  const ir::FileBytes bytes = Function::file_bytes(op);
  std::vector<Mark>& marks = marks_[index(bytes.file)];
  const std::size_t end = std::min<std::size_t>(bytes.end, kFileBytes);
  if (marks.size() < end) marks.resize(end);
  for (std::size_t b = bytes.begin; b < end; ++b) visit(marks[b]);
}

void RegisterRules::mark(const Operand& op, std::size_t k) {
  for_each_byte(op, [&](Mark& m) { m = {stamp_, static_cast<std::uint32_t>(k)}; });
}

int RegisterRules::marked_by(const Operand& op) {
  int found = -1;
  for_each_byte(op, [&](const Mark& m) {
    if (found < 0 && m.stamp == stamp_) found = static_cast<int>(m.operand);
  });
  return found;
}

void RegisterRules::check_inserted(const Inst& i, int at, const Operand& op) {
  const ir::VRegId owner = architectural_in(op.preg());
  if (!owner.is_valid()) allocatable(i, at, op.preg());
  else if (op.writes()) not_of_architectural(i, at, op.preg(), owner);
}

void RegisterRules::check_tuple(const Inst& i, int at, PReg r) {
  if ((r.count < 1 || r.count > 4) && r.count != kMostUnits)
    return fault("register-units", i, at, fmt::format("{} has {} units, as no vreg could", to_string(after_, r), r.count));
  if (const int units = 1 << least_align_log2_[r.count]; r.first % units != 0)
    fault("register-alignment", i, at,
          fmt::format("a vreg of {} units is aligned to {} of them at least, {} is not", r.count, units, to_string(after_, r)));
}

}  // namespace regduel::oracles
