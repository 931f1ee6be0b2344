#include "passes/nvptx/nvptx.h"

#include "passes/nvptx/coalescer.h"
#include "passes/nvptx/rewrite.h"

namespace regduel::passes {
namespace {

constexpr ir::KnobRange kLimit = {-1, 1'000'000'000};

const ir::KnobTable<nvptx::Options>& table() {
  using nvptx::Options;
  static const ir::KnobTable<Options> knobs(
      "nvptx",
      {
          {{.name = "nvptx-copy-limit",
            .type = "int, -1 = none",
            .source = "source 004, copy_limit",
            .help = "so many copies and phis are considered, in program order",
            .samples = {"0", "1", "10", "100"}},
           [](Options& o) -> auto& { return o.candidates.copy_limit; },
           kLimit},
          {{.name = "nvptx-coalesce-limit",
            .type = "int, -1 = none",
            .source = "source 004, coalesce_limit",
            .help = "so many merges, then all is left as it is",
            .samples = {"0", "1", "10", "100"}},
           &Options::coalesce_limit,
           kLimit},
          {ir::knob("nvptx-block-frequency", "source 004, block frequency flag", "blocks and copies that run often come first",
                    {"0", "1"}),
           &Options::block_frequency},
          {ir::knob("nvptx-block-level", "source 004, block-level coalescing", "what lives in one block is coalesced first",
                    {"0", "1"}),
           &Options::block_level},
          {ir::knob("nvptx-cross-block", "source 004, phase 4", "copies between vregs that live across blocks are coalesced",
                    {"0", "1"}),
           &Options::cross_block},
          {ir::knob("nvptx-wide", "source 004, sub-register handling", "what is wider than 64 bits is coalesced by its pieces",
                    {"0", "1"}),
           [](Options& o) -> auto& { return o.candidates.wide; }},
          {ir::knob("nvptx-parameters", "source 004, families of .param copies", "copies of parameters are coalesced", {"0", "1"}),
           [](Options& o) -> auto& { return o.candidates.parameters; }},
          {ir::knob("nvptx-phis", "source 004, copies of phi elimination", "uses of phis are coalesced with their defs",
                    {"0", "1"}),
           [](Options& o) -> auto& { return o.candidates.phis; }},
          {ir::knob("nvptx-guarded", "ours", "copies under a guard are coalesced too"),
           [](Options& o) -> auto& { return o.candidates.guarded; }},
          {ir::knob("nvptx-verify", "source 004, equivalence verification",
                    "after each merge, the interval is compared with what its parts were, and the trace says so", {"0", "1"}),
           &Options::verify},
      });
  return knobs;
}

class Nvptx final : public Pass {
 public:
  std::string_view name() const override { return "nvptx"; }
  std::string_view what_it_does() const override {
    return "copies within a type class go where live intervals do not overlap, as in the coalescer for NVPTX";
  }
  std::span<const ir::KnobInfo> knobs() const override { return table().infos(); }
  std::expected<ir::Function, std::string> run(const ir::Function& program, const ir::Target&,
                                               const PassOptions& options) const override {
    auto settings = table().parse(options.knobs);
    if (!settings) return std::unexpected(settings.error());
    nvptx::Options& o = *settings;
    o.fuel = options.fuel;
    o.trace = options.trace;
    nvptx::Coalescer coalescer(program, o);
    coalescer.run();
    return nvptx::rewrite(program, coalescer, o.fuel);
  }
};

}  // namespace

const Pass& nvptx_coalescer() {
  static const Nvptx pass;
  return pass;
}

}  // namespace regduel::passes
