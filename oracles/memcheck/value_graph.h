// A graph of the values of one program, before or after allocation: the nodes from which each read may get its value.
//
// The machine state is a set of *cells*: four bytes of a root vreg's storage, a unit of a register file (a predicate is a cell
// of one byte), four bytes of the local or the shared frame. Slots are pieces of the frame, so overlapping slots share cells.
// Within a block each cell's content is a node; at the head of a block it is an *incoming* node that, on demand, becomes a link to
// what the nearest block with a single way to it left there, or to a phi where ways meet (after Braun et al., "Simple and Efficient
// Construction of Static Single Assignment Form", CC 2013, without its simplification: a set does not care about redundant phis).
// Only what a checked read depends on is resolved, so the graph is near-linear in instructions plus live-in cells.
//
// That is the detailed graph (Detail::EveryJoin): its phis tell a walk which joins it goes back through. The fast check asks for
// sets alone, and for those the sparse graph (Detail::Sparse) suffices: it looks through moves, and has a phi only at a join J
// where a block of region(J), between J and its dominator, may write the cell (dominators.h). Most vregs and most slots
// have one writer, so that most reads take one step, however large the program.
//
//   S(use) in the sparse graph  =  S(use) in the detailed graph  =  the fixpoint over all blocks
//
// of which a guarded program's graphs may keep less (GraphBuilder::under_guard). ValueGraph.AgreesWithThePlainDataflow checks it.
//
// A node is one of
//   leaf        four bytes that an instruction defines, or an undefined or otherwise initial content
//   link        what another node is: the content of a cell that came from another block
//   via         the same value, moved by a copy, phi, refill or remat (kept for the report: sets look through)
//   phi         one of several values, by path
//   gated       a guarded write: the new value where the guard holds, else the old one
//   compose     four bytes from four places (parts, narrow and misaligned accesses)
//   packed      a predicate pack with some bits replaced (p2r, bit_spill)
//   extracted   bit k of a pack as a predicate (r2p, bit_refill)
//
// Effects follow FORMAT.md, "Instruction": guard, early-clobber defs destroy, uses, clobbers, defs. Two defs of one instruction in
// one place leave either of the two there.
//
// Source: source 000 "Post-Allocation Verification" (def-use chains before and after). Deviates: chains are sets of bytes, looked
// through every move, instead of a list of instructions. Tested by value_graph_test.cpp and memcheck_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/cfg.h"
#include "ir/program.h"
#include "ir/target.h"
#include "oracles/memcheck/definitions.h"
#include "oracles/pair/cells.h"

namespace regduel::oracles {

using NodeId = std::uint32_t;

struct ByteRef {
  NodeId node = 0;
  int byte = 0;

  friend bool operator==(const ByteRef&, const ByteRef&) = default;
};

enum class NodeKind : std::uint8_t { Leaf, Incoming, Outgoing, Link, Via, Phi, Gated, Compose, Packed, Extracted, Merged };

struct Node {
  NodeKind kind = NodeKind::Leaf;
  bool is_resolved = false;  // something that is read depends on it
  std::uint32_t a = kNone;  // Leaf: leaf. Link, Via, Packed, Extracted: source. Gated: new. Phi, Compose: first argument. Incoming:
                            // writers before
  std::uint32_t b = 0;      // Gated: old. Phi, Packed: number of arguments. Extracted: bit. Incoming, Outgoing, Merged: cell
  std::uint32_t c =
      kNone;  // Phi: its block, kNone = within an instruction. Gated: guard. Packed: first argument. Incoming …: block
  std::uint32_t inst = kNone;  // index into the program's instructions of what made it
  std::int32_t operand = -1;   // the def operand of that instruction
};

// A node of a sparse graph that is a leaf needs no memory: the leaf's number follows this bit.
inline constexpr NodeId kLeafNode = 1u << 29;
[[nodiscard]] constexpr bool is_leaf_node(NodeId n) { return (n & kLeafNode) != 0; }

// Bit `bit` of a pack was replaced by this predicate.
struct PackedBit {
  std::uint32_t bit = 0;
  ByteRef predicate;
};

struct GuardRef {
  NodeId node = 0;
  bool negated = false;
};

struct RetRead {
  std::uint32_t inst = 0;  // index of the `ret`
  LeafId saved = 0;        // what the register must hold
  NodeId node = 0;         // what it holds
  ir::PReg unit;
};

enum class Detail { EveryJoin, Sparse };

struct GraphOptions {
  Detail detail = Detail::EveryJoin;
  // Registers that hold their entry value at each `ret`, sorted: empty for kernels and for the program before.
  std::span<const ir::PReg> callee_saved = {};
  // Original instructions whose guard may be undefined before, sorted. Nothing is known of such a guard, not even that it is the
  // same value as another one.
  std::span<const ir::InstId> doubtful = {};
  // Those of them whose guard is undefined on every path, sorted: of the program before alone. What they may write is undefined.
  std::span<const ir::InstId> undefined = {};
  // Instructions, sorted: then only of what these read, and of the guards on the way there, is known where it comes from. Null:
  // all.
  const std::vector<ir::InstId>* asked = nullptr;
};

class ValueGraph {
 public:
  // `program` is defs.before() itself or its allocation, `cfg` its control flow graph; both outlive this. Requires: well-formed.
  // Cost: near-linear. A sparse graph does not know what was overwritten.
  ValueGraph(const ir::Function& program, const ir::Cfg& cfg, Definitions& defs, const GraphOptions& options = {});

  [[nodiscard]] const ir::Function& program() const { return f_; }
  [[nodiscard]] const ir::Cfg& cfg() const { return cfg_; }
  [[nodiscard]] Node node(NodeId n) const { return is_leaf_node(n) ? Node{.a = n & ~kLeafNode} : nodes_[n]; }
  [[nodiscard]] NodeKind kind(NodeId n) const { return is_leaf_node(n) ? NodeKind::Leaf : nodes_[n].kind; }
  // Those with memory: their numbers are below this.
  [[nodiscard]] std::size_t num_nodes() const { return nodes_.size(); }
  // Phi: the nodes merged.
  [[nodiscard]] std::span<const NodeId> phi_args(const Node& n) const { return {args_.data() + n.a, n.b}; }
  // Compose: where byte k comes from.
  [[nodiscard]] ByteRef compose_arg(const Node& n, int k) const { return unpack(args_[n.a + static_cast<std::uint32_t>(k)]); }
  // Byte `byte` of a node, looked for behind a compose.
  [[nodiscard]] ByteRef content(NodeId n, int byte) const {
    return kind(n) == NodeKind::Compose ? compose_arg(nodes_[n], byte) : ByteRef{n, byte};
  }
  [[nodiscard]] std::span<const PackedBit> packed_bits(const Node& n) const { return {packed_.data() + n.c, n.b}; }
  [[nodiscard]] const GuardRef& guard(const Node& n) const { return guards_[n.c]; }
  [[nodiscard]] bool has_gates() const { return !guards_.empty(); }
  [[nodiscard]] std::span<const GuardRef> guards() const { return guards_; }

  // Byte i of what a register operand (an index into program().operands) reads. Requires: is_read(operand). Noted for guards, and
  // for the uses of everything but moves.
  [[nodiscard]] bool is_read(std::size_t operand) const { return first_read_[operand] != kNone; }
  [[nodiscard]] ByteRef read_byte(std::size_t operand, int i) const {
    const int at = static_cast<int>(places_[operand].offset) + i;
    return content(read_word(operand, at / 4), at % 4);
  }
  // The w-th cell that is read, as one node: bytes 4 * w and following where read_is_aligned(operand).
  [[nodiscard]] NodeId read_word(std::size_t operand, int w) const {
    return read_nodes_[first_read_[operand] + static_cast<std::uint32_t>(w)];
  }
  // True where each cell that is read starts at a multiple of four bytes of the operand.
  [[nodiscard]] bool read_is_aligned(std::size_t operand) const { return places_[operand].offset == 0; }
  [[nodiscard]] int read_bytes(std::size_t operand) const { return is_read(operand) ? static_cast<int>(places_[operand].size) : 0; }
  [[nodiscard]] std::span<const RetRead> ret_reads() const { return ret_reads_; }
  // What a pack held before the write that made this node; kNone where that is not known.
  [[nodiscard]] NodeId overwritten(NodeId n) const { return n < overwritten_.size() ? overwritten_[n] : kNone; }

  [[nodiscard]] bool is_reachable(std::uint32_t inst) const { return cfg_.is_reachable(block_of_[inst]); }
  [[nodiscard]] ir::BlockId block_of(std::uint32_t inst) const { return block_of_[inst]; }
  // Index into program().insts, kNone where there is none. The first answer costs O(instructions).
  [[nodiscard]] std::uint32_t index_of(ir::InstId id) const {
    if (!ids_) ids_.emplace(f_);
    return ids_->find(id);
  }
  // Made with Detail::Sparse.
  [[nodiscard]] bool is_sparse() const { return is_sparse_; }

 private:
  friend class GraphBuilder;
  static std::uint32_t pack(ByteRef r) { return r.node << 2 | static_cast<std::uint32_t>(r.byte); }
  static ByteRef unpack(std::uint32_t v) { return {v >> 2, static_cast<int>(v & 3)}; }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> args_;
  std::vector<PackedBit> packed_;
  std::vector<GuardRef> guards_;
  std::vector<Place> places_;              // by operand: of a register or, in a spill or a refill, of a slot
  std::vector<std::uint32_t> first_read_;  // by operand: where its cells begin in read_nodes_; kNone = not read
  std::vector<NodeId> read_nodes_;
  std::vector<RetRead> ret_reads_;
  std::vector<NodeId> overwritten_;    // by node; only where the program has predicate packs
  std::vector<ir::BlockId> block_of_;  // by instruction
  bool is_sparse_;
  mutable std::optional<IdIndex> ids_;
};

}  // namespace regduel::oracles
