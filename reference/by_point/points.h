// What is around each instruction, at the head and the end of each block and on each edge, with the elements that say what is in registers
// and in memory there. model.h says what the elements mean.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/exact/relaxation.h"
#include "reference/program/code.h"
#include "reference/program/problem.h"

namespace regduel::reference {

using Element = std::uint32_t;
inline constexpr Element kNoElement = 0xFFFFFFFFu;
inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFFu;

// In one block.
struct Content {
  TempId temp = kNoTemp;             // one of those that hold it first
  bool is_again = false;             // computed again where it is needed; or undefined
  std::uint32_t again = kNoSource;   // what computes it; none: it is undefined
  Element memory = kNoElement;       // none where is_again
  std::uint32_t begin = 0, end = 0;  // instructions: after the one that begins it, to the last one that reads it
  // Where an instruction writes a part of another content, that one, and the bytes that are written.
  std::uint32_t part_of = kNoIndex;
  ByteMask part = 0;
};

// A content around one instruction.
struct Held {
  std::uint32_t content = 0;
  TempId temp = kNoTemp;            // the least aligned one that holds it
  Element before = kNoElement;      // out before it; none where is_again
  Element after = kNoElement;       // out after it
  std::uint32_t again = kNoSource;  // as of the content
  int align_log2 = 0;               // the strictest of those that the instruction reads, or what one of the temps asks for
  bool is_read = false;             // by the instruction, so that it is in a register
  ByteMask part = 0;                // where is_read: the bytes that are read, and refilled alone where it does not stay
  bool lives_on = false;
};

// What an instruction asks of one temp.
struct PointOperand {
  TempId temp = kNoTemp;
  bool at_reads = false, at_writes = false, partial = false, keeps = false;
  std::uint32_t held = kNoIndex;     // what it reads; none where that is undefined
  std::uint32_t content = kNoIndex;  // what it writes and what lives on
  Element after = kNoElement;        // out of that
  Element no_whole = kNoElement;     // taken: its register has only the part that is written
};

struct Point {
  std::uint32_t block = 0, inst = 0;
  bool is_move = false;  // of a part, or across files: its operands may be in memory
  std::vector<Held> held;
  std::vector<PointOperand> operands;
};

struct BlockModel {
  std::vector<Content> contents;
  // What is live at the head: `head` before any store there, `out` after it.
  struct AtHead {
    std::uint32_t content = 0;
    Element head = kNoElement, head_memory = kNoElement, out = kNoElement;
    std::vector<TempId> temps;  // the least aligned one first
  };
  struct AtEnd {
    std::uint32_t content = 0;
    Element out = kNoElement;
    std::vector<TempId> temps;
  };
  std::vector<AtHead> head;
  std::vector<AtEnd> end;
  std::vector<std::uint32_t> points;  // into ByPointModel::points
};

// From an end to a head.
struct EdgeModel {
  std::uint32_t from = 0, to = 0;
  struct Pair {
    std::uint32_t end = 0, head = 0;  // into BlockModel::end and head
  };
  std::vector<Pair> pairs;
};

struct ByPointModel {
  SetQuestion question;
  std::vector<Point> points;
  std::vector<BlockModel> blocks;  // by block of the code
  std::vector<EdgeModel> edges;
  struct Saved {
    ir::RegFile file;
    int unit;
    Element element;
  };
  std::vector<Saved> saved;   // callee-saved units that cost
  ir::PerFile<UnitSet> free;  // units that cost nothing
  std::int64_t constant = 0;  // saves that are there in any case
  std::size_t values = 0;     // temps that may live across instructions
  bool is_loose = false;      // contents overlap in a way that no allocation can follow; the set is a bound all the same
  bool is_bounded = true;     // false: the program has what the model does not have: moves from or to architectural
      // registers, a copy to another file that names a value twice, a copy with clobbers, or too much to know which contents are equal
};

}  // namespace regduel::reference
