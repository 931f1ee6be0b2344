// A machine that executes a program over vregs on concrete values. What an operation computes is drawn from a hash of its opcode and of
// what it reads, but additions, subtractions, addresses and parameters are what they are. An undefined byte makes undefined what is
// computed of it. Effects are recorded with what they read. Tested by rewrite_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "oracles/rewrite/meaning.h"

namespace regduel::oracles::rewrite {

// The contents of an operand.
struct Datum {
  std::array<std::uint8_t, 32> bytes = {};
  std::uint32_t undefined = 0;  // a bit each byte
  std::uint8_t size = 0;        // 0 = an immediate, which has the width that is asked for
  bool is_number = false;       // the first 8 bytes are the number, sign-extended

  [[nodiscard]] std::uint64_t low(int width) const;  // the lowest `width` bytes, at most 8
};
// The same contents: of equal widths, or a number against the low bytes of a register.
[[nodiscard]] bool is_same(const Datum& a, const Datum& b);

// What an effect reads. An address of several operands is one.
struct Seen {
  std::uint16_t operand = 0;  // the first operand of the instruction that it is
  Datum datum;
};
struct Event {
  std::uint32_t inst = 0;  // position in Function::insts
  bool happens = true;
  bool is_open = false;     // whether it happens is undefined
  std::uint64_t state = 0;  // of memory, afterwards
  std::uint32_t first_seen = 0, num_seen = 0;
};

class Machine {
 public:
  //   widths_of   the program before, where `f` is the one after: a number that stands for a register of it has the register's width.
  //               Null = this is the program before
  Machine(const ir::Function& f, const ir::Function* widths_of);

  void start(std::uint64_t seed);
  // Executes a block that was entered from `from` (invalid at the start) up to its terminator. States of memory after each effect are
  // those of `follow` where there is one.
  void run(ir::BlockId b, ir::BlockId from, const std::vector<Event>* follow);
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const Seen& seen(std::uint32_t k) const { return seen_[k]; }
  [[nodiscard]] std::int64_t instructions() const { return instructions_; }

 private:
  struct Plan {
    Meaning meaning = Meaning::Function;
    bool is_effect = false;
    std::uint8_t address = 0;         // operands of an address
    std::uint64_t opcode = 0;         // hash of it
    std::vector<std::uint8_t> width;  // by use: of a number that stands for a register, else 0
  };

  [[nodiscard]] Datum read(const ir::Operand& op, int width_of_number) const;
  void write(const ir::Operand& op, const Datum& d);
  [[nodiscard]] Datum parameter(std::string_view name, std::int64_t offset, int size) const;
  [[nodiscard]] Datum drawn(std::uint64_t hash, int size, bool is_predicate, bool is_undefined) const;
  // Calls visit(number of the first operand, datum) for each use, an address as one.
  template <class Visit>
  void each_use(const ir::Inst& i, const Plan& plan, Visit&& visit) const;
  void step(std::uint32_t at, const std::vector<Event>* follow);
  void move(const ir::Inst& i);
  void compute(const ir::Inst& i, const Plan& plan, bool is_open);
  void make_undefined(const ir::Inst& i);
  void phis(ir::BlockId b, ir::BlockId from);

  const ir::Function& f_;
  std::vector<Plan> plans_;                // by instruction
  std::vector<std::uint32_t> first_byte_;  // by vreg: of its root
  std::vector<std::uint8_t> bytes_, undefined_;
  std::vector<Event> events_;
  std::vector<Seen> seen_;
  std::uint64_t seed_ = 0, state_ = 0, num_events_ = 0;
  std::int64_t instructions_ = 0;
};

}  // namespace regduel::oracles::rewrite
