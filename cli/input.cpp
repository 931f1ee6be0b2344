#include "cli/input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/io.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/show/parse_errors.h"
#include "duel/allocators.h"
#include "duel/case_file.h"
#include "ir/ptx/ptx.h"
#include "ir/text/binary.h"
#include "ir/text/text.h"
#include "passes/rewriting/shared_arguments.h"

namespace regduel::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin UTF-8 with it

// PTX begins with comments and then .version; RIR with "rir".
bool looks_like_ptx(std::string_view path, std::string_view text) {
  if (path.ends_with(".ptx")) return true;
  if (path.ends_with(".rir")) return false;
  const std::size_t directive = text.find(".version");
  const std::size_t rir = text.find("rir ");
  return directive != std::string_view::npos && (rir == std::string_view::npos || directive < rir);
}

}  // namespace

std::vector<Program> load(const std::string& path, ir::AbiName abi, ir::ParamCopies param_copies) {
  auto text = read_file(path);
  if (!text) throw BadInput(fmt::format("error: {}", text.error()));
  if (text->starts_with(kByteOrderMark)) text->erase(0, kByteOrderMark.size());
  const std::string name = path == "-" ? "<stdin>" : path;
  std::vector<Program> programs;
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text->data()), text->size());
  if (ir::looks_binary(bytes)) {
    auto f = ir::decode(bytes);
    if (!f) throw BadInput(fmt::format("{}: error: {}", name, f.error()));
    programs.push_back({name, std::move(*f), nullptr});
    return programs;
  }
  if (looks_like_ptx(path, *text)) {
    auto module = ir::parse_ptx(*text, name, abi, param_copies);
    if (!module) throw BadInput(with_line(module.error(), *text));
    std::vector<char> are_private;
    for (const ir::PtxDeclarations& d : module->declarations) are_private.push_back(d.is_visible ? 0 : 1);
    passes::mark_shared_arguments(module->functions, are_private);
    for (std::size_t k = 0; k < module->functions.size(); ++k)
      programs.push_back({name, std::move(module->functions[k]), nullptr, module->declarations[k]});
    return programs;
  }
  auto module = ir::parse(*text, name);
  if (!module)
    throw BadInput(all_parse_errors(module.error(), *text, [&](const std::string& t) -> std::optional<SourceError> {
      auto again = ir::parse(t, name);
      return again ? std::nullopt : std::optional(std::move(again.error()));
    }));
  const auto shared = std::make_shared<const std::string>(std::move(*text));
  for (ir::Function& f : module->functions) programs.push_back({name, std::move(f), shared});
  return programs;
}

namespace {

constexpr std::string_view kAnswer = ".after.rir";

}  // namespace

std::vector<std::string> files_below(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string(), name = it->path().string();
    if (it->is_regular_file(error) && (extension == ".rir" || extension == ".ptx") && !name.ends_with(kAnswer))
      files.push_back(name);
  }
  if (error) throw BadInput(fmt::format("error: {}: {}", path, error.message()));
  std::sort(files.begin(), files.end());
  if (files.empty()) throw BadInput(fmt::format("error: {}: no .rir or .ptx file in this directory", path));
  return files;
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::vector<Program> load_all(const std::vector<std::string>& paths, ir::AbiName abi, std::vector<std::string>* unreadable,
                              ir::ParamCopies param_copies) {
  std::vector<Program> programs;
  for (const std::string& path : paths) {
    const bool is_tree = is_directory(path);
    for (const std::string& file : is_tree ? files_below(path) : std::vector<std::string>{path}) try {
        for (Program& p : load(file, abi, param_copies)) programs.push_back(std::move(p));
      } catch (const BadInput& e) {
        if (!is_tree || unreadable == nullptr) throw;
        unreadable->emplace_back(e.what());
      }
  }
  return programs;
}

duel::Case load_case(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw BadInput(fmt::format("error: {}", text.error()));
  if (text->starts_with("RDF")) return duel::decode_case({reinterpret_cast<const std::uint8_t*>(text->data()), text->size()});
  auto c = duel::parse_case(*text, path == "-" ? "<stdin>" : path);
  if (!c) throw BadInput(to_string(c.error()));
  if (!c->knobs.empty()) {
    for (const ir::Allocator* a : duel::all_duelists()) require_knob_values(path + ": error", *a, c->knobs);
    for (const std::string& name : duel::names_on_request())
      require_knob_values(path + ": error", *duel::find_allocator(name), c->knobs);
  }
  return std::move(*c);
}

std::vector<duel::Case> load_seeds(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return {load_case(path)};
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) files.push_back(entry.path().string());
  if (error) throw BadInput(fmt::format("error: {}: {}", path, error.message()));
  std::sort(files.begin(), files.end());
  std::vector<duel::Case> seeds;
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file, error) || file.ends_with(kAnswer)) continue;
    const auto bytes = read_file(file);
    if (file.ends_with(".rir") || (bytes && bytes->starts_with("RDF"))) seeds.push_back(load_case(file));
  }
  if (seeds.empty()) throw BadInput(fmt::format("error: {}: there is no .rir file and no input of the fuzz corpus in it", path));
  return seeds;
}

void require_phase(const std::vector<Program>& programs, ir::Phase phase) {
  for (const Program& p : programs)
    if (p.function.phase != phase)
      throw BadInput(fmt::format("{}: error: @{} is {}", p.file, p.function.name,
                                 phase == ir::Phase::Virtual ? "allocated already: expected a program over vregs"
                                                             : "not allocated: expected \"allocated\" in its func line"));
}

void require_different_names(const std::vector<Program>& programs) {
  std::set<std::string_view> names;
  for (const Program& p : programs)
    if (!names.insert(p.function.name).second)
      throw BadInput(fmt::format("{}: error: @{} is there twice", p.file, p.function.name));
}

void save(const std::string& path, std::string_view bytes) {
  if (const auto written = write_file(path, bytes); !written) throw BadInput(fmt::format("error: {}", written.error()));
}

void require_directory_possible(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there, error))
    throw BadInput(fmt::format("error: {}: {} is no directory", path, there.string()));
  if (::access(there.c_str(), W_OK | X_OK) != 0) throw BadInput(fmt::format("error: {}: {}", path, std::strerror(errno)));
}

void require_file_possible(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw BadInput(fmt::format("error: {}: is a directory", path));
  if (std::filesystem::exists(path, error)) return;
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  if (!std::filesystem::is_directory(folder, error)) throw BadInput(fmt::format("error: {}: no such directory", path));
}

void require_other_file(const std::string& output, const std::string& input) {
  std::error_code error;
  if (std::filesystem::equivalent(output, input, error)) throw BadInput(fmt::format("error: {}: is what is read", output));
}

}  // namespace regduel::cli
