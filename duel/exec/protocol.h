// The protocol between us and an external allocator (docs/own-allocator.md has it by example). Tested by protocol_test.cpp.
//
// A frame is a line of three words, and as many bytes as the last one says:
//
//   hello VERSION LENGTH      from the child, once: who it is (Hello)
//   allocate NUMBER LENGTH    from us: a program (request_text)
//   allocated NUMBER LENGTH   from the child, with the number of the request: the same program over physical registers
//   impossible ...            likewise: some instruction needs more than the limit, and why
//   unsupported ...           likewise: what it is that the allocator does not do
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/allocator.h"

namespace regduel::duel {

inline constexpr std::uint64_t kProtocolVersion = 1;
inline constexpr std::size_t kLargestFrame = std::size_t{64} << 20;  // bytes, of what a child says

struct Frame {
  std::string_view word;
  std::uint64_t number = 0;
  std::string_view payload;
  std::size_t size = 0;  // of all of it
};
[[nodiscard]] std::string frame_text(std::string_view word, std::uint64_t number, std::string_view payload);

enum class FrameState {
  Begun,     // there may be more to come
  Complete,  // a frame, and perhaps more behind it
  Garbage,   // no frame begins so
  TooLarge,  // it says that it is larger than kLargestFrame
};
// Looks at what stands at the beginning of `bytes`. `frame` is filled where it is complete, and refers to them. Cost: O(1).
[[nodiscard]] FrameState look_at_frame(std::string_view bytes, Frame& frame);

// The payload of hello, a line each:
//   name: linear-scan                                      one word
//   version: 1.0                                           one word
//   fuel: yes                                              or no, as where nothing is said
//   knob: NAME TYPE DEFAULT SAMPLES WHAT IT DOES           SAMPLES: legal values worth trying, comma-separated; - = none
struct Hello {
  std::string name, version;
  bool has_fuel = false;
  std::vector<ir::KnobInfo> knobs;
};
[[nodiscard]] std::expected<Hello, std::string> parse_hello(std::string_view payload);

// The payload of allocate, and the input file of the files protocol: a case file (duel/case_file.h) with two or three lines
// more:
//   // registers: R0:R23 P0:P6 ...    the units that may be used, a stretch a word
//   // callee-saved: R24:R31          in a device function
//   // fuel: N                        where fuel is limited
// Source lines (!line) are not sent: an instruction of the answer takes those of the one with its number.
[[nodiscard]] std::string request_text(const ir::Function& program, const ir::Target& target, const ir::AllocOptions& options);

// The comments before the program of an answer.
struct AnswerHead {
  std::optional<std::int64_t> spent;  // spent: N
  std::string refused;                // refused: KIND, the first decision that there was no fuel for
};
[[nodiscard]] AnswerHead answer_head(std::string_view text);

// Text of an unknown program in one line of printable ASCII: line breaks become " | ", other bytes \xHH. Of more than `most` bytes
// the last are taken.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

}  // namespace regduel::duel
