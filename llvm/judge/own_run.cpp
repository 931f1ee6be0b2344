#include "llvm/judge/own_run.h"

#include "ir/check.h"
#include "ir/text/text.h"

namespace regduel::llvm {

std::expected<ir::OwnRun, Refusal> own_run(std::shared_ptr<const RirPair> pair, std::shared_ptr<const Tables> tables) {
  auto target = ir::parse_target(pair->target, "target");
  auto before = ir::parse(pair->before, "before.rir"), after = ir::parse(pair->after, "after.rir");
  const std::string fault = !target   ? to_string(target.error())
                            : !before ? to_string(before.error())
                            : !after  ? to_string(after.error())
                                      : "";
  if (!fault.empty()) return std::unexpected(Refusal{"ill-formed", fault});
  ir::OwnRun run{.target = std::move(*target), .before = std::move(before->functions[0]), .after = std::move(after->functions[0])};
  for (const ir::Function* f : {&run.before, &run.after})
    if (const auto faults = ir::check(*f, run.target, 1); !faults.empty())
      return std::unexpected(Refusal{"ill-formed", ir::to_string(*f, faults[0])});
  for (const auto& [file, n] : pair->counts.registers) run.registers += n;
  run.words = std::make_shared<MirWords>(std::move(pair), std::move(tables));
  return run;
}

}  // namespace regduel::llvm
