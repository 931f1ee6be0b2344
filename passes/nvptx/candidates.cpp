#include "passes/nvptx/candidates.h"

#include <utility>

#include "passes/nvptx/copy_families.h"

namespace regduel::passes::nvptx {
namespace {

using ir::Function;
using ir::Inst;
using ir::Operand;
using ir::Storage;
using ir::VRegId;

class Collector {
 public:
  Collector(const Function& f, std::span<const char> takes_part, const Origins& origins, const CandidateOptions& options)
      : f_(f), takes_part_(takes_part), origins_(origins), options_(options) {}

  std::vector<Candidate> run() {
    find_parameters();
    std::int64_t considered = 0;
    for (std::size_t b = 0; b < f_.blocks.size(); ++b)
      for (const Inst& i : f_.insts_of(ir::BlockId(b))) {
        const int opcode = copy_opcode(i.op);
        if (opcode == kNoCopy) continue;
        if (options_.copy_limit >= 0 && considered == options_.copy_limit) return std::move(found_);
        ++considered;
        opcode == kPhiOpcode ? phi(i) : copy(ir::BlockId(b), i);
      }
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint32_t number(const Inst& i) const { return static_cast<std::uint32_t>(&i - f_.insts.data()); }

  void find_parameters() {
    is_argument_.assign(f_.vregs.size(), 0);
    is_result_.assign(f_.vregs.size(), 0);
    for (const Inst& i : f_.insts) {
      if (i.op != ir::Op::Call && i.op != ir::Op::Ret && f_.mnemonic(i) != "abi.entry") continue;
      for (const Operand& op : f_.operands_of(i))
        if (op.is_vreg() && f_.fixed_of(op).is_valid()) (op.writes() ? is_result_ : is_argument_)[f_.root(op.vreg()).index()] = 1;
    }
  }
  void copy(ir::BlockId b, const Inst& i) {
    const std::uint32_t n = number(i);
    const ir::CopyPairs pairs(f_.operands_of(i));
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const Storage def = f_.storage(pairs[k].def), use = f_.storage(pairs[k].use), origin = origins_.of(n, k);
      if (!origin.root.is_valid()) continue;
      Kind kind = f_.is_whole(def) ? Kind::Copy : Kind::Subreg;
      int family = nvptx::family(type_class(f_.vreg(origin.root)), type_class(f_.vreg(def.root)));
      if (origins_.is_through(n, k)) kind = f_.is_whole(def) && !f_.is_whole(use) ? Kind::Extract : Kind::Insert;
      if (kind == Kind::Copy && (is_argument_[def.root.index()] != 0 || is_result_[use.root.index()] != 0)) {
        kind = Kind::Parameter;
        if (family < kFirstCrossClass) family = is_argument_[def.root.index()] != 0 ? kParameterIn : kParameterOut;
      }
      add(kind, family, def.root, origin.root, b, n, k);
    }
  }
  void phi(const Inst& i) {
    if (!options_.phis) return;
    const auto ops = f_.operands_of(i);
    const auto from = f_.targets_of(i);
    const Storage def = f_.storage(ops[0]);
    for (std::size_t k = 1; k < ops.size(); ++k) {
      const Storage use = f_.storage(ops[k]);
      if (!f_.is_whole(def) || !f_.is_whole(use) || !may_become_one(f_.vreg(def.root), f_.vreg(use.root))) continue;
      add(Kind::Phi, nvptx::family(type_class(f_.vreg(use.root)), type_class(f_.vreg(def.root))), def.root, use.root, from[k - 1],
          number(i), k - 1);
    }
  }
  void add(Kind kind, int family, VRegId def, VRegId source, ir::BlockId b, std::uint32_t inst, std::size_t pair) {
    if (def == source || takes_part_[def.index()] == 0 || takes_part_[source.index()] == 0) return;
    if (kind == Kind::Parameter && !options_.parameters) return;
    const ir::VReg& root = f_.vreg(def);
    const int pieces = num_pieces(root);
    if (pieces > 1 && !options_.wide) return;
    Candidate c;
    c.kind = kind;
    c.family = static_cast<std::uint16_t>(family);
    c.def = def;
    c.source = source;
    c.block = b;
    c.inst = inst;
    c.pair = static_cast<std::uint16_t>(pair);
    for (int k = 0; k < pieces; ++k) {
      // A piece has the participation bit that its whole has not.
      if ((operand_type(piece(root, k)).flags & kParticipates) == 0) return;
      c.sub_operands.push_back(
          {k == 0 ? c.family : static_cast<std::uint16_t>(kFurtherPiece), static_cast<std::uint8_t>(k), k > 0});
    }
    found_.push_back(c);
  }

  const Function& f_;
  std::span<const char> takes_part_;
  const Origins& origins_;
  const CandidateOptions& options_;
  std::vector<char> is_argument_, is_result_;  // by root
  std::vector<Candidate> found_;
};

}  // namespace

std::string_view name(Kind k) {
  switch (k) {
    case Kind::Copy: return "copy";
    case Kind::Subreg: return "subreg";
    case Kind::Extract: return "extract";
    case Kind::Insert: return "insert";
    case Kind::Parameter: return "parameter";
    case Kind::Phi: return "phi";
  }
  return "";
}

std::vector<char> participants(const Function& f) {
  std::vector<char> takes_part(f.vregs.size(), 0);
  for (std::size_t v = 0; v < f.vregs.size(); ++v)
    takes_part[v] = f.vregs[v].alias.is_valid() || f.vregs[v].is_architectural() ? 0 : 1;
  std::vector<std::uint32_t> written_in(f.vregs.size(), 0);  // by root: 1 + the last block with a phi of it
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (const Inst& i : f.phis_of(ir::BlockId(b)))
      for (const Operand& op : f.operands_of(i)) {
        const Storage s = f.storage(op);
        if (!f.is_whole(s)) takes_part[s.root.index()] = 0;
        if (op.writes() && std::exchange(written_in[s.root.index()], b + 1) == b + 1) takes_part[s.root.index()] = 0;
      }
  return takes_part;
}

std::vector<Candidate> collect_candidates(const Function& f, std::span<const char> participants, const Origins& origins,
                                          const CandidateOptions& options) {
  return Collector(f, participants, origins, options).run();
}

}  // namespace regduel::passes::nvptx
