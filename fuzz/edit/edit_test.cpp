#include "fuzz/edit/edit.h"

#include <gtest/gtest.h>

#include "duel/case.h"
#include "ir/text/text.h"

namespace regduel::fuzz {
namespace {

TEST(EditProgram, ApartAndTogetherIsTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const ir::Function f = duel::derive_case(seed).program;
    const EditProgram edit(f);
    EXPECT_EQ(ir::print(edit.build()), ir::print(f));
    EXPECT_EQ(edit.next_id(), f.next_inst_id());
  }
}

}  // namespace
}  // namespace regduel::fuzz
