// Programs and limits of tests that hold an exact answer against judges and allocators.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "ir/check.h"
#include "ir/text/text.h"
#include "oracles/judges.h"

namespace regduel::properties {

inline constexpr std::size_t kR = ir::index(ir::RegFile::R);

inline ir::Operand reg(ir::Role role, int unit) {
  return ir::Operand::of_preg(role, {ir::RegFile::R, 1, static_cast<std::uint16_t>(unit)});
}

// Limits under which nothing can be kept outside file R.
inline ir::Limits only_r(int limit) {
  ir::Limits limits;
  limits.units[kR] = limit;
  return limits;
}

inline void expect_all_pass(const ir::Function& before, const ir::Function& after, const ir::Limits& limits) {
  ASSERT_TRUE(ir::check(after).empty()) << ir::print(after);
  const oracles::Report report = oracles::judge({before, after, ir::default_target(), limits, nullptr, true});
  for (const oracles::JudgeResult& r : report.results)
    EXPECT_TRUE(r.verdict == oracles::Verdict::Pass || r.judge == "quality")
        << r.judge << ": " << oracles::name(r.verdict) << " " << r.reason << (r.findings.empty() ? "" : r.findings[0].message)
        << ir::print(before) << ir::print(after);
}

// Appends instructions with numbers of their own.
class Writer {
 public:
  explicit Writer(ir::Function& f) : f_(f), op_(f.symbols.intern("op")) {}
  ir::VRegId value() { return f_.add_vreg({}); }
  void inst(ir::Op op, const std::vector<ir::Operand>& ops, const std::vector<ir::BlockId>& targets = {}) {
    ir::Inst i;
    i.id = ir::InstId(next_++);
    i.op = op;
    if (op == ir::Op::Named) i.mnemonic = op_;
    f_.append(i, ops, targets);
  }

 private:
  ir::Function& f_;
  ir::SymbolId op_;
  std::uint32_t next_ = 0;
};

}  // namespace regduel::properties
