// ptxas as a duelist, "ptxas": it compiles what print_ptx() makes of the program, and says registers and spill bytes.
//
// Unsupported: what ptxas says nothing comparable of. That is a limit below 24 registers, a limit of other files, a target that is no SM, and
// a program of which it says that an instruction needs more registers (C7602). Broken, with a category:
//
//   crash-SIGNAL      it ended by a signal
//   hang              it took longer than kPtxasSeconds of the processor
//   internal-error    it says so
//   refused           it refuses the PTX: a defect of the printer, as a rule
#pragma once

#include <memory>
#include <string>

#include "duel/figures_only.h"

namespace regduel::duel {

inline constexpr std::string_view kPtxas = "ptxas";
inline constexpr int kLeastRegistersOfPtxas = 24;
inline constexpr int kPtxasSeconds = 20;

class PtxasAllocator final : public FiguresOnly {
 public:
  explicit PtxasAllocator(std::string program) : program_(std::move(program)) {}
  [[nodiscard]] std::string_view name() const override { return kPtxas; }
  [[nodiscard]] std::expected<OwnFigures, ir::AllocFailure> figures(const ir::Function& program, const ir::Target& target,
                                                                    const ir::AllocOptions& options) const override;
  // PATH.ptx, whose head is the command.
  [[nodiscard]] std::vector<ir::OwnFile> own_files(const ir::Function& program, const ir::Target& target,
                                                   const ir::AllocOptions& options, const std::string& path,
                                                   const std::string& words) const override;

 private:
  std::string program_;
};

// Null where there is no ptxas ($PTXAS, on the path, or of /usr/local/cuda).
[[nodiscard]] std::unique_ptr<PtxasAllocator> make_ptxas();

}  // namespace regduel::duel
