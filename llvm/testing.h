// Dumps for tests, written by hand: a small machine with RAX (AL, AH, EAX), RCX, flags, and vectors V0 of which a call preserves the low 64 bits.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "llvm/mir/mir.h"

namespace regduel::llvm::testing {

inline std::string tables() {
  std::string t = R"({"registers": {)";
  for (const char* r : {"A", "C", "D"}) {
    t += fmt::format(
        R"("R{0}X": {{"pieces": [["R{0}X", 0, 64]], "units": [1], "file": "GR64"}}, "E{0}X": {{"pieces": [["R{0}X", 0, 32]], "units": [1]}}, )",
        r);
    t += fmt::format(
        R"("{0}L": {{"pieces": [["R{0}X", 0, 8]], "units": [1]}}, "{0}H": {{"pieces": [["R{0}X", 8, 8]], "units": [2]}}, )", r);
  }
  for (int k = 0; k < 3; ++k)
    t += fmt::format(
        R"("V{0}": {{"pieces": [["V{0}", 0, 128]], "units": [3], "file": "VR"}}, "D{0}": {{"pieces": [["V{0}", 0, 64]], "units": [3]}}, )",
        k);
  t += R"("V0_V1": {"pieces": [["V0", 0, 128], ["V1", 0, 128]], "units": [3, 4]}, )";
  t +=
      R"("EFLAGS": {"pieces": [["EFLAGS", 0, 32]], "units": [9], "file": ""}, "EXEC": {"pieces": [["EXEC", 0, 64]], "units": [10], "file": ""}}, "classes": {)";
  t +=
      R"("GR64": {"bits": 64, "spill_bytes": 8, "member": "RAX", "subs": {"sub_8bit": [[0, 0, 8]], "sub_8bit_hi": [[0, 8, 8]], "sub_32bit": [[0, 0, 32]]}}, )";
  t +=
      R"("GR32": {"bits": 32, "spill_bytes": 4, "member": "EAX", "subs": {"sub_8bit": [[0, 0, 8]]}}, "GR8": {"bits": 8, "spill_bytes": 1, "member": "AL", "subs": {}}, )";
  t +=
      R"("VR": {"bits": 128, "spill_bytes": 16, "member": "V0", "subs": {"dsub": [[0, 0, 64]]}}, "VR64": {"bits": 64, "spill_bytes": 8, "member": "D0", "subs": {}}, )";
  t += R"("VV": {"bits": 256, "spill_bytes": 32, "member": "V0_V1", "subs": {"v0": [[0, 0, 128]], "v1": [[1, 0, 128]]}}}, )";
  return t + R"("masks": [["RAX", "EAX", "AL", "AH", "V0", "V1", "V2", "V0_V1", "EFLAGS"]]})";
}

struct Text {
  std::string vregs;  // "\"GR64\", ..."
  std::string insts;  // JSON objects
  std::string stack = "";
  std::string live_in = R"("RCX")";
};

inline std::string dump(const char* stage, const char* pass, const Text& t) {
  return fmt::format(
      R"({{"stage": "{}", "pass": "{}", "allocator": "greedy", "run": 0, "function": "f", "subreg_liveness": false, "reserved": ["EXEC"], "vregs": [{}], "stack": [{}], )"
      R"("blocks": [{{"n": 0, "succ": [], "livein": [{}], "insts": [{}]}}]}})",
      stage, pass, t.vregs, t.stack, t.live_in, t.insts);
}

// A file of one run: before, and after the rewriter.
inline std::string file(const Text& before, const Text& after) {
  return "{\"regduel_llvm\": 1, \"llvm\": \"19\", \"triple\": \"toy\", \"cpu\": \"\"}\n" + dump("before", "greedy", before) + "\n" +
         dump("after", "virtregrewriter", after) + "\n" + tables() + "\n";
}

// {"op": ..., "num": ..., "fl": ..., "ops": [...]}
inline std::string inst(int num, const std::string& op, const std::string& flags, const std::string& ops,
                        const std::string& more = "") {
  return fmt::format(R"({{"op": "{}", {}{} "fl": "{}", "ops": [{}]}})", op, num > 0 ? fmt::format("\"num\": {},", num) : "",
                     more.empty() ? "" : more + ",", flags, ops);
}

}  // namespace regduel::llvm::testing
