// The targets that read: rir_text, rir_binary, ptx. On any bytes a reader ends with a program or with a place in the bytes.
#include <algorithm>

#include <fmt/format.h>

#include "ir/check.h"
#include "ir/ptx/ptx.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "targets/targets.h"

namespace regduel::targets {
namespace {

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The place that an error names is one of the text.
std::optional<std::string> look_at(const SourceError& e, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  if (e.message.empty()) return "an error without a message";
  if (e.line < 0 || e.line > lines + 1) return fmt::format("an error at line {} of {}: {}", e.line, lines, e.message);
  if (e.message.find('\n') != std::string::npos) return fmt::format("an error of more than one line: {}", e.message);
  return std::nullopt;
}

// Text is printed as what it parses to, and again.
std::optional<std::string> look_at(const ir::Module& m) {
  for (const ir::Function& f : m.functions)
    if (const auto faults = ir::check(f, 1); !faults.empty())
      return fmt::format("what was read is not well-formed: {}", ir::to_string(f, faults[0]));
  const std::string printed = ir::print(m);
  const auto again = ir::parse(printed);
  if (!again) return fmt::format("what is printed does not parse: {}\n{}", to_string(again.error()), printed);
  if (ir::print(*again) != printed) return fmt::format("printed, parsed and printed again it is another text:\n{}", printed);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> try_rir_text(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  const auto module = ir::parse(text);
  return module ? look_at(*module) : look_at(module.error(), text);
}

std::optional<std::string> try_ptx(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  const auto module = ir::parse_ptx(text);
  return module ? look_at(*module) : look_at(module.error(), text);
}

std::optional<std::string> try_rir_binary(Bytes bytes) {
  const auto f = ir::decode(bytes);
  if (!f) return f.error().empty() ? std::optional<std::string>("an error without a message") : std::nullopt;
  if (const auto faults = ir::check(*f, 1); !faults.empty())
    return fmt::format("what was decoded is not well-formed: {}", ir::to_string(*f, faults[0]));
  const auto again = ir::decode(ir::encode(*f));
  if (!again) return fmt::format("what is encoded does not decode: {}", again.error());
  if (ir::print(*again) != ir::print(*f)) return "encoded and decoded it is another program:\n" + ir::print(*f);
  return std::nullopt;
}

}  // namespace regduel::targets
