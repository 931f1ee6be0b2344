// Helpers of the tests of PTX.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/check.h"
#include "ir/ptx/ptx.h"
#include "ir/target.h"
#include "ir/text/text.h"

namespace regduel::ir::ptx::testing {

inline constexpr std::string_view kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

// All faults, against the function's own target too; "" = none.
inline std::string faults(const Function& f) {
  const Target* target = find_target(f.target);
  if (target == nullptr) return "unknown target " + f.target;
  for (const auto& list : {check(f), check(f, *target)})
    if (!list.empty()) return to_string(f, list[0]);
  return "";
}

// With the calls of `abi seed`, unless another is asked for.
inline PtxModule read(std::string_view text, AbiName abi = AbiName::Seed) {
  auto m = parse_ptx(text, "t.ptx", abi);
  EXPECT_TRUE(m.has_value()) << (m ? "" : to_string(m.error())) << '\n' << text;
  if (!m) return {};
  for (const Function& f : m->functions) EXPECT_EQ(faults(f), "") << print(f);
  const auto again = parse(print(*m));
  EXPECT_TRUE(again.has_value()) << (again ? "" : to_string(again.error()));
  return std::move(*m);
}

// One line an instruction, without its number; "bK:" before each block.
inline std::vector<std::string> lines(const Function& f) {
  std::vector<std::string> result;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks.size() > 1) result.push_back("b" + std::to_string(b) + ":");
    for (const Inst& i : f.insts_of(BlockId(b))) {
      const std::string line = print(f, i);
      result.push_back(line.substr(line.find(' ') + 1));
    }
  }
  return result;
}

inline constexpr std::string_view kRegisters =
    ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .f32 %f<20>; .reg .f64 %fd<10>; .reg .b16 %rs<10>;\n";
inline std::vector<std::string> kernel(std::string_view statements) {
  const Module m = read(std::string(kHead) + ".entry k(.param .u64 p, .param .u32 n) {" + std::string(kRegisters) +
                        std::string(statements) + "}");
  return m.functions.size() == 1 ? lines(m.functions[0]) : std::vector<std::string>{};
}
inline std::vector<std::string> device(std::string_view signature, std::string_view statements) {
  const Module m =
      read(std::string(kHead) + ".func " + std::string(signature) + "{" + std::string(kRegisters) + std::string(statements) + "}");
  return m.functions.size() == 1 ? lines(m.functions[0]) : std::vector<std::string>{};
}

inline std::string error_of(std::string_view text) {
  const auto m = parse_ptx(text, "t.ptx");
  return m ? "no error" : to_string(m.error());
}
// The statements begin on line 2, column 1.
inline std::string error_in_kernel(std::string_view statements) {
  return error_of(".entry k(.param .u64 p) { .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .v4 .f32 %v;\n" +
                  std::string(statements) + "\n}");
}

}  // namespace regduel::ir::ptx::testing
