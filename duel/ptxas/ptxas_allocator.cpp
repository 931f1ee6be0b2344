#include "duel/ptxas/ptxas_allocator.h"

#include <stdlib.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/io.h"
#include "duel/ptxas/ptxas.h"
#include "ir/ptx/print/print.h"

namespace regduel::duel {
namespace {

std::string ptx_of(const ir::Function& program) {
  const ir::PtxFunction one{&program, nullptr, ir::ptx_style(program)};
  return ir::print_ptx({&one, 1});
}

// What the text is for: "sm_90a". The oldest that ptxas 13 knows is sm_75.
std::string target_in(std::string_view ptx) {
  constexpr std::string_view kWord = ".target ";
  const std::size_t begin = ptx.find(kWord) + kWord.size();
  const std::string target(ptx.substr(begin, ptx.find_first_of(",\n", begin) - begin));
  return target == "sm_70" ? "sm_75" : target;
}

// With functions that are elsewhere it keeps to the calling convention, which costs registers.
bool is_whole(std::string_view ptx) { return ptx.find("\n.extern ") == std::string_view::npos; }

std::string unsupported_because(const ir::Target& target, const ir::Limits& limits) {
  if (!target.name.starts_with("sm_")) return "a target that is no SM";
  if (target.units[ir::index(ir::RegFile::R)] < 255) return "a target of fewer registers than ptxas has";
  if (limits.of(ir::RegFile::R) < kLeastRegistersOfPtxas)
    return fmt::format("ptxas takes {} registers at least", kLeastRegistersOfPtxas);
  for (const ir::RegFile file : ir::kAllFiles)
    if (file != ir::RegFile::R && limits.of(file) < target.units[ir::index(file)])
      return fmt::format("ptxas has no limit of {}", ir::name(file));
  return "";
}

ir::AllocFailure failure_of(const PtxasRun& run) {
  using Kind = ir::AllocFailure::Kind;
  if (run.error.find("C7602") != std::string::npos) {
    constexpr std::string_view kTarget = "register target of ";
    const std::size_t at = run.error.find(kTarget);
    const std::string needed = at == std::string::npos ? "" : run.error.substr(at + kTarget.size());
    return {Kind::Unsupported,
            fmt::format("ptxas needs {} registers for one instruction (C7602)", needed.substr(0, needed.find(' ')))};
  }
  const std::string category = run.signal == "SIGXCPU" || run.signal == "SIGKILL" ? "hang"
                               : !run.signal.empty()                              ? "crash-" + run.signal
                               : run.error.find("nternal") != std::string::npos   ? "internal-error"
                                                                                  : "refused";
  return {Kind::Broken, fmt::format("ptxas: {}", run.error), category};
}

}  // namespace

std::expected<OwnFigures, ir::AllocFailure> PtxasAllocator::figures(const ir::Function& program, const ir::Target& target,
                                                                    const ir::AllocOptions& options) const {
  if (const std::string why = unsupported_because(target, options.limits); !why.empty())
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, why});
  char folder[] = "/tmp/regduel-ptxas-XXXXXX";
  if (::mkdtemp(folder) == nullptr)
    return std::unexpected(ir::AllocFailure{ir::AllocFailure::Kind::Unsupported, "no temporary directory"});
  const std::string text = ptx_of(program), path = std::string(folder) + "/program.ptx";
  PtxasRun run;
  if (const auto written = write_file(path, text); !written) run.error = written.error();
  else
    run = run_ptxas(program_, path, target_in(text),
                    {.limit = options.limits.of(ir::RegFile::R), .level = 3, .is_whole = is_whole(text), .seconds = kPtxasSeconds});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!run.error.empty()) return std::unexpected(failure_of(run));
  OwnFigures sum;
  // A device function has no registers of its own, and the functions of a file are not here.
  for (const PtxasFigures& f : run.functions) {
    sum.registers = std::max(sum.registers, f.registers);
    sum.store_bytes += f.store_bytes;
    sum.load_bytes += f.load_bytes;
    sum.frame_bytes += f.stack_bytes;
  }
  return sum;
}

std::vector<ir::OwnFile> PtxasAllocator::own_files(const ir::Function& program, const ir::Target& /*target*/,
                                                   const ir::AllocOptions& options, const std::string& path,
                                                   const std::string& words) const {
  const std::string text = ptx_of(program);
  return {{".ptx",
           fmt::format("// {}\n// ptxas -v{} -arch={} -O3 --maxrregcount={} -o /dev/null {}.ptx\n{}", words,
                       is_whole(text) ? "" : " --compile-only", target_in(text), options.limits.of(ir::RegFile::R), path, text)}};
}

std::unique_ptr<PtxasAllocator> make_ptxas() {
  std::string program = ptxas_program();
  return program.empty() ? nullptr : std::make_unique<PtxasAllocator>(std::move(program));
}

}  // namespace regduel::duel
