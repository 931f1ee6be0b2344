// See spill_statistics.h.

#include "oracles/quality/spill_statistics.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace regduel::oracles {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;

// The number behind the letter of "v4" or "u32"; 0 where it is none.
std::int64_t number_behind_letter(std::string_view word) {
  std::int64_t n = 0;
  if (word.size() < 2) return 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), n);
  return error == std::errc() && end == word.data() + word.size() && n <= 1024 ? n : 0;
}

// An access to local memory by the program itself: "ld.volatile.local.v2.f32" loads 8 bytes. 0 bytes = it is none.
struct OwnAccess {
  bool is_store = false;
  std::int64_t bytes = 0;
};
OwnAccess own_access(std::string_view mnemonic) {
  OwnAccess access;
  bool is_local = false;
  std::int64_t elements = 1, bits = 0;
  for (std::size_t at = 0; at <= mnemonic.size();) {
    const std::size_t dot = std::min(mnemonic.find('.', at), mnemonic.size());
    const std::string_view word = mnemonic.substr(at, dot - at);
    if (at == 0) {
      if (word != "ld" && word != "st") return {};
      access.is_store = word == "st";
    } else if (word == "local") {
      is_local = true;
    } else if (const std::int64_t n = number_behind_letter(word); n > 0 && word[0] == 'v') {
      elements = n;
    } else if (n > 0 && std::string_view("bsuf").find(word[0]) != std::string_view::npos) {
      bits = n;
    }
    at = dot + 1;
  }
  access.bytes = is_local ? elements * bits / 8 : 0;
  return access;
}

class Counting {
 public:
  explicit Counting(const Function& f) : f_(f) {}

  void inst(const Inst& i) {
    if (i.is_deleted()) return;
    const auto ops = f_.operands_of(i);
    if (ir::is_slot_move(i.op)) {
      if (ops.size() < 2 || !ops[0].is_preg() || !ops[1].is_slot() || ops[1].slot().index() >= f_.slots.size()) return;
      const bool is_shared = f_.slots[ops[1].slot().index()].space == ir::MemSpace::Shared;
      auto& sum = i.op == Op::Spill ? (is_shared ? s_.shared_spill_bytes : s_.local_spill_bytes)
                                    : (is_shared ? s_.shared_refill_bytes : s_.local_refill_bytes);
      sum += f_.operand_bytes(ops[0]);
      return;
    }
    const Inst* of = i.op == Op::Remat ? original(i.ref) : &i;
    if (of == nullptr || of->op != Op::Named) return;
    const OwnAccess access = own_access(f_.mnemonic(*of));
    if (access.bytes == 0) return;
    (access.is_store ? s_.local_own_store_bytes : s_.local_own_load_bytes) += access.bytes;
  }

  SpillStatistics result(const Function& before) {
    for (const ir::Slot& slot : f_.slots) s_.low_local_size += slot.space == ir::MemSpace::Local ? slot.size : 0;
    s_.own_size = before.local_frame;
    s_.frame_local_size = f_.local_frame - std::min(f_.local_frame, before.local_frame);
    return s_;
  }

 private:
  [[nodiscard]] const Inst* original(ir::InstId id) {
    if (by_id_.empty()) {
      for (const Inst& i : f_.insts) by_id_.push_back(&i);
      std::ranges::sort(by_id_, {}, &Inst::id);
    }
    const auto at = std::ranges::lower_bound(by_id_, id, {}, &Inst::id);
    return at != by_id_.end() && (*at)->id == id ? *at : nullptr;
  }

  const Function& f_;
  std::vector<const Inst*> by_id_;  // empty until it is needed
  SpillStatistics s_;
};

}  // namespace

SpillStatistics spill_statistics(const Measures& measures, const Function& before, const Function& after) {
  Counting counting(after);
  for (const Inst& i : after.insts) counting.inst(i);
  SpillStatistics s = counting.result(before);
  s.estimated_latency = measures.estimated_latency;
  return s;
}

std::string report_lines(const SpillStatistics& s) {
  return fmt::format(
      "# [est latency = {}] [LSpillB={}] [LRefillB={}], [SSpillB={}], [SRefillB={}], [LowLmemSpillSize={}] "
      "[FrameLmemSpillSize={}]\n# [LNonSpillB={}] [LNonRefillB={}], [NonSpillSize={}]\n",
      s.estimated_latency ? std::to_string(*s.estimated_latency) : "saturated", s.local_spill_bytes, s.local_refill_bytes,
      s.shared_spill_bytes, s.shared_refill_bytes, s.low_local_size, s.frame_local_size, s.local_own_store_bytes,
      s.local_own_load_bytes, s.own_size);
}

std::string function_properties(std::string_view function, const SpillStatistics& s, std::int64_t stack_bytes) {
  return fmt::format("Function properties for {}\n    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads", function,
                     stack_bytes, s.local_spill_bytes, s.local_refill_bytes);
}

std::optional<std::string> spill_warning(std::string_view function, const SpillStatistics& s) {
  if (s.local_spill_bytes == 0 && s.local_refill_bytes == 0) return std::nullopt;
  return fmt::format("Registers are spilled to local memory in function '{}', {} bytes spill stores, {} bytes spill loads",
                     function, s.local_spill_bytes, s.local_refill_bytes);
}

}  // namespace regduel::oracles
