// Makes the graph of values of reaching.h. Internal to the judge. Tested by reaching_test.cpp and memcheck_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "oracles/memcheck/reaching.h"
#include "oracles/memcheck/reaching_dominators.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles {

class ReachBuilder {
 public:
  ReachBuilder(ReachGraph& graph, Definitions& defs, std::span<const ir::PReg> callee_saved, std::span<const ir::InstId> doubtful,
               Detail detail);
  void run(const std::optional<std::vector<ir::InstId>>& asked);

 private:
  using Bytes = std::vector<ByteRef>;
  struct Write {
    Place place;
    Bytes value;
    int operand = -1;  // -1 = a clobber
  };

  // --- the content of cells
  [[nodiscard]] NodeId add(Node n);
  [[nodiscard]] NodeId add_leaf(LeafId leaf);
  [[nodiscard]] NodeId read(std::uint32_t cell);
  void set(std::uint32_t cell, NodeId n);
  [[nodiscard]] NodeId merged(ir::BlockId block, std::uint32_t cell);
  void group_outs();
  struct Writer {
    std::uint32_t order;              // of the block
    NodeId node;                      // what it leaves in the cell
    std::uint32_t end = 0;            // sparse graph: of the positions that the block dominates
    std::uint32_t dominator = kNone;  // sparse graph: the nearest writer of the cell that dominates it, by place among them
  };
  [[nodiscard]] std::span<const Writer> writers_of(std::uint32_t cell) const;
  [[nodiscard]] static std::span<const Writer>::iterator first_from(std::span<const Writer> writers, std::uint32_t order);
  [[nodiscard]] NodeId outgoing(ir::BlockId block, std::uint32_t cell);
  [[nodiscard]] NodeId behind(ir::BlockId b, bool with_block, std::uint32_t cell);
  [[nodiscard]] NodeId above(std::uint32_t at, std::uint32_t cell, std::uint32_t place);
  [[nodiscard]] NodeId at_entry(std::uint32_t cell);
  void resolve(const std::optional<std::vector<ir::InstId>>& asked);
  void resolve(NodeId n);

  // --- values
  [[nodiscard]] ByteRef flatten(NodeId n, std::uint32_t byte) const;
  [[nodiscard]] NodeId join(std::span<const ByteRef> bytes, std::size_t wanted);  // bytes 0 to wanted - 1 as one node
  [[nodiscard]] Bytes value_at(const Place& place);
  [[nodiscard]] NodeId word_at(const Place& place);
  [[nodiscard]] Bytes leaf_value(LeafId first, std::uint32_t bytes, std::uint32_t size);
  [[nodiscard]] Bytes own_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] Bytes via(Bytes value, int operand);
  [[nodiscard]] NodeId destroyed();
  [[nodiscard]] NodeId phi(std::span<const NodeId> args, std::uint32_t block);
  [[nodiscard]] std::uint32_t unmoved(NodeId guard) const;
  [[nodiscard]] NodeId under_guard(NodeId n, bool holds);

  // --- instructions
  void block(ir::BlockId b);
  void step(std::uint32_t index);
  void note_read(std::size_t operand);
  [[nodiscard]] bool is_early(const ir::Inst& inst, std::size_t k) const;
  void note_reads(const ir::Inst& inst);
  void effects(const ir::Inst& inst);
  [[nodiscard]] Bytes moved_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  [[nodiscard]] Bytes phi_value(const ir::Inst& inst, std::uint32_t size);
  [[nodiscard]] Bytes pack_value(const ir::Inst& inst, std::size_t k);
  [[nodiscard]] Bytes extracted_value(const ir::Inst& inst, std::size_t k);
  [[nodiscard]] Bytes remat_value(const ir::Inst& inst, std::size_t k, std::uint32_t size);
  void write(const Write& w, bool several);
  void put(std::uint32_t cell, std::uint32_t mask, NodeId content, bool is_def, bool several);
  [[nodiscard]] std::uint32_t move_at_once(const ir::Inst& inst);
  [[nodiscard]] std::uint32_t write_leaf_at_once(const ir::Inst& inst, std::size_t k, const Place& place, bool several);
  [[nodiscard]] const ir::Operand* source_operand(const ir::Inst& inst, std::size_t k) const;

  ReachGraph& g_;
  const ir::Function& f_;
  Definitions& defs_;
  Cells cells_;
  std::span<const ir::InstId> doubtful_;
  bool is_after_ = false;
  bool has_packs_ = false;

  struct CellState {
    NodeId node = 0;
    std::uint32_t seen = 0;     // epoch of the block in which `node` was noted
    std::uint32_t written = 0;  // epoch of the block that wrote it last
    std::uint32_t stamp = 0;    // serial of the instruction that defined it last, and the bytes defined
    std::uint32_t mask = 0;
    std::uint32_t writers = 0;  // blocks before the one at hand that wrote it
  };
  std::vector<CellState> state_;
  std::vector<char> ever_written_;
  std::uint32_t epoch_ = 0, serial_ = 0;
  struct Out {
    std::uint32_t cell, order;
    NodeId node;
  };
  std::vector<Out> outs_;                   // what each block leaves in the cells that it writes, block after block
  std::vector<Writer> writers_;             // the same, cell after cell, ascending in each
  std::vector<std::uint32_t> group_begin_;  // by cell, and one more
  std::vector<ir::BlockId> order_;          // blocks as they are gone through
  std::vector<std::uint32_t> order_of_;     // by block
  std::optional<Dominators> dominators_;    // of a sparse graph: then the order is their preorder
  FlatMap merged_{1024};
  std::vector<NodeId> args_;  // of the phi at hand
  struct Saved {
    std::uint32_t cell;
    LeafId leaf;
    ir::PReg unit;
  };
  std::vector<Saved> saved_;  // by cell, ascending
  std::vector<std::pair<NodeId, NodeId>> overwritten_;

  // the instruction at hand
  ir::BlockId block_;
  std::uint32_t index_ = 0;
  std::uint32_t source_ = kNone;  // its index in the program before
  std::uint32_t gate_ = kNone;
  NodeId destroyed_ = kNone;
  std::vector<Write> writes_;
};

}  // namespace regduel::oracles
