// See proof.h.

#include "reference/exact/proof.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <cadical.hpp>

#include "base/bad_input.h"
#include "base/io.h"

namespace regduel::reference {
namespace {

constexpr const char *kFormula = ".cnf", *kTrace = ".drat";

[[noreturn]] void fail(const std::string& path, int error) { throw BadInput(fmt::format("{}: {}", path, std::strerror(error))); }

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

void Proof::add(int literal) {
  solver_.add(literal);
  if (path_.empty()) return;
  fmt::format_to(std::back_inserter(clauses_), "{}{}", literal, literal == 0 ? '\n' : ' ');
  num_clauses_ += literal == 0;
}

void Proof::comment(std::string_view text) {
  if (!path_.empty()) comments_ += fmt::format("c {}\n", text);
}

void Proof::write_formula(int num_variables) {
  if (path_.empty()) return;
  const auto written =
      write_file(temporary(kFormula), fmt::format("{}p cnf {} {}\n{}", comments_, num_variables, num_clauses_, clauses_));
  if (!written) throw BadInput(written.error());
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
