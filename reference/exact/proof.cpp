// See proof.h.

#include "reference/exact/proof.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <cadical.hpp>

#include "base/bad_input.h"
#include "base/io.h"

namespace regduel::reference {
namespace {

constexpr const char *kFormula = ".cnf", *kTrace = ".drat";

[[noreturn]] void fail(const std::string& path, int error) { throw BadInput(fmt::format("{}: {}", path, std::strerror(error))); }

// The solver does not say whether the disk was full.
bool is_whole_formula(const std::string& bytes) {
  const std::size_t header = bytes.find("p cnf ");
  if (header == std::string::npos || !bytes.ends_with("0\n")) return false;
  long variables = 0, clauses = 0, lines = 0;
  if (std::sscanf(bytes.c_str() + header, "p cnf %ld %ld", &variables, &clauses) != 2) return false;
  for (std::size_t at = bytes.find('\n', header); at != std::string::npos; at = bytes.find('\n', at + 1)) ++lines;
  return lines == clauses + 1;
}

}  // namespace

Proof::Proof(CaDiCaL::Solver& solver, std::string path) : solver_(solver), path_(std::move(path)) {
  if (path_.empty()) return;
  trace_name_ = temporary(kTrace);
  trace_ = std::fopen(trace_name_.c_str(), "w");
  if (trace_ == nullptr) fail(file(kTrace), errno);
  solver_.set("binary", 0);
  solver_.trace_proof(trace_, trace_name_.c_str());
}

Proof::~Proof() {
  if (path_.empty()) return;
  if (trace_ != nullptr) {
    solver_.close_proof_trace();
    std::fclose(trace_);
  }
  for (const char* ending : {kFormula, kTrace}) ::unlink(temporary(ending).c_str());
}

std::string Proof::temporary(const char* ending) const { return fmt::format("{}{}.tmp.{}", path_, ending, ::getpid()); }

void Proof::write_formula(int num_variables) {
  if (path_.empty()) return;
  const std::string name = temporary(kFormula);
  if (const char* reason = solver_.write_dimacs(name.c_str(), num_variables))
    throw BadInput(fmt::format("{}: {}", file(kFormula), reason));
  const auto bytes = read_file(name);
  if (!bytes || !is_whole_formula(*bytes)) fail(file(kFormula), ENOSPC);
}

void Proof::end(bool is_refuted) {
  if (path_.empty()) return;
  solver_.close_proof_trace();
  const bool is_whole = std::fflush(trace_) == 0 && std::ferror(trace_) == 0;
  const int error = errno;
  std::fclose(std::exchange(trace_, nullptr));
  if (!is_refuted) return;
  if (!is_whole) fail(file(kTrace), error);
  for (const char* ending : {kFormula, kTrace})
    if (std::rename(temporary(ending).c_str(), file(ending).c_str()) != 0) fail(file(ending), errno);
}

}  // namespace regduel::reference
