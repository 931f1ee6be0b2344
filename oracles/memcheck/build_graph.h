// Makes the graph of values of value_graph.h. Internal to the judge. Tested by value_graph_test.cpp and memcheck_test.cpp.
//
// Cells are numbered in the order of their first read. A cell that is never read has no number, and writes to it are left out: a
// call clobbers every register of the caller, of which a program reads few.
//
//   S(use) of the graph with all writes  =  S(use) of the graph with the writes of cells that are read
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/grouped.h"
#include "oracles/memcheck/dominators.h"
#include "oracles/memcheck/value_graph.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles {

class GraphBuilder {
 public:
  GraphBuilder(ValueGraph& graph, Definitions& defs, const GraphOptions& options);
  void run();

 private:
  using Cell = std::uint32_t;  // kNone = never read
  using Bytes = std::vector<ByteRef>;
  struct Write {
    Place place;
    Bytes value;
  };

  // --- the content of cells
  // Facts about each instruction and operand that step() needs.
  void decode();
  [[nodiscard]] const ir::Inst* source_of(std::uint32_t index) const;
  [[nodiscard]] bool is_early(const ir::Operand& op, const ir::Inst* source, std::size_t k) const;
  [[nodiscard]] Cell cell_at(const Place& place, std::uint32_t c) const { return number_[place.cell + c]; }
  [[nodiscard]] NodeId add(Node n);
  [[nodiscard]] NodeId add_leaf(LeafId leaf);
  [[nodiscard]] NodeId read(Cell cell);
  void set(Cell cell, NodeId n);
  [[nodiscard]] NodeId merged(ir::BlockId block, Cell cell);
  void group_outs();
  struct Writer {
    std::uint32_t order;              // of the block
    NodeId node;                      // what it leaves in the cell
    std::uint32_t end = 0;            // sparse graph: of the positions that the block dominates
    std::uint32_t dominator = kNone;  // sparse graph: the nearest writer of the cell that dominates it, by place among them
  };
  [[nodiscard]] static std::span<const Writer>::iterator first_from(std::span<const Writer> writers, std::uint32_t order);
  [[nodiscard]] NodeId outgoing(ir::BlockId block, Cell cell);
  [[nodiscard]] NodeId behind(ir::BlockId b, bool with_block, Cell cell);
  [[nodiscard]] NodeId above(std::uint32_t at, Cell cell, std::uint32_t place);
  void resolve_all();
  void resolve(NodeId n);

  // --- values
  [[nodiscard]] ByteRef flatten(NodeId n, std::uint32_t byte) const { return g_.content(n, static_cast<int>(byte)); }
  [[nodiscard]] NodeId join(std::span<const ByteRef> bytes, std::size_t wanted);  // bytes 0 to wanted - 1 as one node
  [[nodiscard]] Bytes value_at(const Place& place);
  [[nodiscard]] NodeId word_at(const Place& place);
  [[nodiscard]] Bytes leaf_value(Definitions::Defined defined, std::uint32_t size);
  [[nodiscard]] Bytes own_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] Bytes via(Bytes value, int operand);
  [[nodiscard]] NodeId destroyed();
  [[nodiscard]] NodeId phi(std::span<const NodeId> args, std::uint32_t block);
  [[nodiscard]] std::uint32_t unmoved(NodeId guard) const;
  [[nodiscard]] NodeId under_guard(NodeId n, bool holds);

  // --- instructions: effects.cpp
  void block(ir::BlockId b);
  void step(std::uint32_t index);
  void note_read(std::size_t operand);
  void leave_undefined(const ir::Inst& inst);
  void note_guard(const ir::Inst& inst, std::size_t k);
  void note_uses(const ir::Inst& inst);
  void note_uses_after_early_clobbers(const ir::Inst& inst);
  [[nodiscard]] const Place& place_of(const ir::Inst& inst, std::size_t k) const { return g_.places_[inst.first_operand + k]; }
  [[nodiscard]] Definitions::Defined own_definition(std::size_t k) const;
  [[nodiscard]] Bytes moved_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] Bytes phi_value(const ir::Inst& inst, std::uint32_t size);
  [[nodiscard]] Bytes pack_value(const ir::Inst& inst, std::size_t k);
  [[nodiscard]] Bytes extracted_value(const ir::Inst& inst, std::size_t k);
  [[nodiscard]] Bytes piece_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] Bytes remat_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] std::uint32_t move_whole_words(const ir::Inst& inst);
  [[nodiscard]] std::uint32_t write_whole_leaves(const Place& place, Definitions::Defined defined, bool several);
  void write(const Write& w, bool several);
  void clobber(const Place& place);
  void put(Cell cell, std::uint32_t mask, NodeId content, bool several);
  void note_overwritten(NodeId fresh, NodeId old);

  ValueGraph& g_;
  const ir::Function& f_;
  Definitions& defs_;
  const GraphOptions& options_;
  Cells cells_;
  bool is_after_ = false;
  bool has_packs_ = false;

  std::vector<char> has_early_;         // by instruction: it has an early-clobber def
  std::vector<Cell> number_;            // by Cells' number
  std::vector<std::uint32_t> cell_of_;  // Cells' number, by ours
  struct CellState {
    NodeId node = 0;
    std::uint32_t seen = 0;     // epoch of the block in which `node` was noted
    std::uint32_t written = 0;  // epoch of the block that wrote it last
    std::uint32_t stamp = 0;    // serial of the instruction that defined it last, and the bytes defined
    std::uint32_t mask = 0;
    std::uint32_t writers = 0;      // blocks before the one at hand that wrote it
    LeafId entry = kUninitialised;  // what it holds at entry
  };
  std::vector<CellState> state_;
  std::uint32_t epoch_ = 0, serial_ = 0;
  struct Out {
    Cell cell;
    std::uint32_t order;
    NodeId node;
  };
  std::vector<Out> outs_;                 // what each block leaves in the cells that it writes, block after block
  Grouped<Writer> writers_;               // the same by cell, ascending in each
  std::vector<ir::BlockId> order_;        // blocks as they are gone through
  std::vector<std::uint32_t> order_of_;   // by block
  std::optional<Dominators> dominators_;  // of a sparse graph: then the order is their preorder
  FlatMap merged_;
  std::vector<NodeId> args_;  // of the phi at hand
  struct Saved {
    Cell cell;
    LeafId leaf;
    ir::PReg unit;
  };
  std::vector<Saved> saved_;  // those that the program has numbers for, in ascending order of units
  std::vector<std::pair<NodeId, NodeId>> overwritten_;

  // the instruction at hand
  ir::BlockId block_;
  std::uint32_t index_ = 0;
  const ir::Inst* source_ =
      nullptr;  // what it is in the program before; null where that has no such instruction, or one with fewer operands
  std::uint32_t gate_ = kNone;
  NodeId destroyed_ = kNone;
  std::vector<Write> writes_;
  std::vector<Cell> clobbered_;  // by the instruction at hand, where there are packs
};

}  // namespace regduel::oracles
