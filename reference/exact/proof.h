// A formula for the solver and its proof that nothing satisfies it, as two files for a checker such as `drat-trim PATH.cnf
// PATH.drat`: PATH.cnf (DIMACS) and PATH.drat (DRAT, as text).
//
// The files are written under temporary names beside their own, which they get when the proof is finished and whole. So an
// interrupt, a full disk or an effort that does not suffice leaves no file that looks like a proof. Tested by proof_test.cpp.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace CaDiCaL {
class Solver;
}

namespace regduel::reference {

class Proof {
 public:
  // Before the first clause. An empty path: nothing is written. Throws BadInput where a file cannot be written, as all of this
  // does.
  Proof(CaDiCaL::Solver& solver, std::string path);
  ~Proof();
  Proof(const Proof&) = delete;
  Proof& operator=(const Proof&) = delete;

  // Gives a literal to the solver, or 0 at the end of a clause, and keeps it for the file. The solver's own clauses would not do:
  // it simplifies while clauses come in, and the proof begins before that.
  void add(int literal);
  // A line "c TEXT" at the head of the formula.
  void comment(std::string_view text);
  [[nodiscard]] bool is_written() const { return !path_.empty(); }
  // All clauses are there.
  void write_formula(int num_variables);
  // The solver has answered. The files stay if it refuted the formula.
  void end(bool is_refuted);

 private:
  [[nodiscard]] std::string temporary(const char* ending) const;
  [[nodiscard]] std::string file(const char* ending) const { return path_ + ending; }

  CaDiCaL::Solver& solver_;
  std::string path_;
  std::string comments_, clauses_;
  std::size_t num_clauses_ = 0;
  std::string trace_name_;  // the solver keeps a pointer to it
  std::FILE* trace_ = nullptr;
};

}  // namespace regduel::reference
