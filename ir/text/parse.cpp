// The reader of RIR text: a recursive-descent parser over one line at a time (scanner.h), in one pass. print.cpp is its inverse;
// FORMAT.md has the grammar. The first fault ends the parse, with line and column. Tested by text_test.cpp and by the fuzz target
// rir_text.

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/check.h"
#include "ir/text/scanner.h"
#include "ir/text/text.h"

namespace regduel::ir {
namespace {

constexpr std::uint32_t kMaxInstId = 0x7FFFFFFF;
constexpr std::uint32_t kMaxLine = 0x7FFFFFFF;

class Parser : Scanner {
 public:
  explicit Parser(std::string_view text) : Scanner(text) {}

  Module run() {
    bool versioned = false;
    while (next_line()) {
      if (!versioned) {
        expect_word("rir", "the file to begin with \"rir 1\"");
        skip_space();
        const std::size_t at = pos_;
        const auto version = integer("a format version");
        if (version < 1 || version > kTextVersion)
          fail_at(at, fmt::format("format version {} is not known (this program reads up to {})", version, kTextVersion));
        end_line();
        versioned = true;
        continue;
      }
      const std::size_t at = pos_;
      const std::string_view word = identifier();
      if (word == "func") {
        finish_function();
        func_line();
      } else if (!in_function_) {
        fail_at(at, fmt::format("expected \"func\", found {}", shown(at)));
      } else if (word == "vreg") {
        vreg_line(at);
      } else if (word == "slot") {
        slot_line(at);
      } else if (word == "frame") {
        frame_line();
      } else if (word == "block") {
        block_line();
      } else if (word.empty() && (peek() == '#' || peek() == '+')) {
        inst_line();
      } else {
        fail_at(at, fmt::format("expected func, vreg, slot, frame, block or an instruction (#N or +N), found {}", shown(at)));
      }
    }
    if (!versioned) throw Fault{1, 1, "expected the file to begin with \"rir 1\", found the end of the file"};
    finish_function();
    return std::move(module_);
  }

 private:
  // --- registers ------------------------------------------------------------------------------------------------
  // One register, or half of one.
  std::optional<PReg> accept_one() {
    skip_space();
    std::size_t at = pos_;
    while (at < end_ && text_[at] >= 'A' && text_[at] <= 'Z') ++at;
    const auto file = file_from_name(text_.substr(pos_, at - pos_));
    if (!file || at >= end_ || !is_digit(text_[at])) return std::nullopt;
    int number = 0;
    const auto [stop, error] = std::from_chars(text_.data() + at, text_.data() + end_, number);
    const auto after = static_cast<std::size_t>(stop - text_.data());
    if (after < end_ && (is_letter(text_[after]))) return std::nullopt;
    const bool fits = error == std::errc() && number < kMaxUnits;
    PReg r = register_of(*file, fits ? number : 0, f_.predicate_halves);
    if (!fits || r.end() > kMaxUnits) fail_at(pos_, fmt::format("no register file has more than {} units", kMaxUnits));
    pos_ = after;
    const std::string_view part = text_.substr(pos_, std::min<std::size_t>(3, end_ - pos_));
    if (r.count == 2 && (part == ".lo" || part == ".hi")) {
      r = PReg{*file, 1, static_cast<std::uint16_t>(r.first + (part == ".hi" ? 1 : 0))};
      pos_ += 3;
    }
    return r;
  }
  std::optional<PReg> accept_preg() {
    const std::size_t start = pos_;
    const auto first = accept_one();
    if (!first || peek() != ':') return first;
    ++pos_;
    const auto last = accept_one();
    if (!last || last->file != first->file || last->first < first->first)
      fail_at(start, "expected a range like R4:R7, in one file and ascending");
    if (last->end() - first->first > 255) fail_at(start, "a range has at most 255 units");
    return PReg{first->file, static_cast<std::uint8_t>(last->end() - first->first), first->first};
  }
  PReg preg(std::string_view what) {
    skip_space();
    const auto r = accept_preg();
    if (!r) expected(what);
    return *r;
  }
  VRegId vreg_ref() {
    skip_space();
    const std::size_t at = pos_;
    expect('%', "a vreg (%N)");
    const std::uint32_t v = number("a vreg number", 0, 0xFFFFFFF);
    if (v >= f_.vregs.size()) fail_at(at, fmt::format("%{} is not declared", v));
    return VRegId(v);
  }
  // A part, if one stands here (no space before it).
  Part accept_part(int width_bytes) {
    if (peek() != '.') return {};
    const std::size_t at = pos_++;
    const std::string_view word = identifier();
    std::optional<Part> part;
    if (word == "lo" || word == "hi") {
      part = Part::from_bytes(word == "hi" ? width_bytes / 2 : 0, width_bytes / 2);
    } else if (word.size() >= 2) {
      const std::size_t log2 = std::string_view("bhwdq").find(word[0]);
      int element = -1;
      const auto [stop, error] = std::from_chars(word.data() + 1, word.data() + word.size(), element);
      if (log2 != std::string_view::npos && error == std::errc() && stop == word.data() + word.size() && element < 32)
        part = Part::of(static_cast<int>(log2), element);
    }
    if (!part) fail_at(at, "expected a part: .lo .hi .bN .hN .wN .dN .qN");
    if (part->offset_bytes() + part->size_bytes() > width_bytes)
      fail_at(at, fmt::format("the part lies outside the register, which has {} bytes", width_bytes));
    return *part;
  }

  std::optional<Operand> accept_register(Role role) {
    skip_space();
    Operand op;
    int bytes = 0;
    if (peek() == '%') {
      const VRegId v = vreg_ref();
      op = Operand::of_vreg(role, v);
      bytes = f_.vreg(v).bytes();
    } else {
      const auto r = accept_preg();
      if (!r) return std::nullopt;
      op = Operand::of_preg(role, *r);
      bytes = r->count * unit_bytes(r->file);
    }
    op.part = accept_part(bytes);
    if (peek() == '{') {
      ++pos_;
      do {
        skip_space();
        const std::size_t at = pos_;
        if (accept('=')) {
          const PReg fixed = preg("a physical register");
          if (!op.is_vreg()) fail_at(at, "only a vreg can be fixed to a register");
          op.set_fixed(fixed);
        } else if (accept_word("early")) {
          op.flags |= kEarlyClobber;
        } else if (accept_word("inout")) {
          if (role != Role::Def) fail_at(at, "'inout' stands among the defs");
          op.role = Role::DefUse;
        } else if (accept_word("tied")) {
          op.tied = static_cast<std::uint16_t>(number("an operand number", 0, kMaxOperands - 1));
        } else {
          expected("an attribute: =REGISTER, early, inout or tied K");
        }
      } while (accept(','));
      expect('}', "',' or '}'");
    }
    return op;
  }

  // --- lines ----------------------------------------------------------------------------------------------------
  void func_line() {
    f_ = Function();
    in_function_ = true;
    seen_ids_.clear();
    source_lines_.clear();
    decl_lines_.clear();
    block_lines_.clear();
    func_line_ = line_;
    expect('@', "'@' and the function's name");
    f_.name = name_or_string("the function's name");
    skip_space();
    if (accept_word("device")) f_.kind = FunctionKind::Device;
    else expect_word("kernel", "kernel or device");
    expect_word("target", "target");
    f_.target = name_or_string("a target's name");
    expect_word("threads", "threads");
    f_.threads = number("threads a block", 1, 1u << 20);
    if (accept_word("abi")) {
      if (accept_word("cuda")) f_.abi = AbiName::Cuda;
      else expect_word("seed", "seed or cuda");
    }
    f_.predicate_halves = accept_word("predicate_halves");
    if (accept_word("allocated")) f_.phase = Phase::Allocated;
    end_line();
  }

  void frame_line() {
    if (!f_.blocks.empty()) fail_at(pos_, "frame stands before the blocks");
    expect_word("local", "local");
    f_.local_frame = number("bytes", 0, 1u << 30);
    expect_word("shared", "shared");
    f_.shared_frame = number("bytes", 0, 1u << 30);
    end_line();
  }

  void vreg_line(std::size_t line_at) {
    if (!f_.blocks.empty()) fail_at(line_at, "vregs are declared before the blocks");
    skip_space();
    const std::size_t at = pos_;
    expect('%', "a vreg (%N)");
    const std::uint32_t id = number("a vreg number", 0, 0xFFFFFFF);
    if (id < f_.vregs.size()) fail_at(at, fmt::format("%{} is declared twice", id));
    if (id > f_.vregs.size())
      fail_at(at, fmt::format("expected %{} (vregs are numbered in order, without gaps), found %{}", f_.vregs.size(), id));
    VReg v;
    skip_space();
    const std::size_t class_at = pos_;
    const auto cls = class_from_name(identifier());
    if (!cls) {
      pos_ = class_at;
      expected("a register class (R, Ralt, UR, URext, P, UP, ACC, B, UB)");
    }
    v.cls = *cls;
    parse_type(v);
    v.align_log2 = static_cast<std::uint8_t>(natural_align_log2(v.width));
    for (;;) {
      skip_space();
      const std::size_t word_at = pos_;
      const std::string_view word = identifier();
      if (word == "align") {
        const std::uint32_t a = number("an alignment in units", 1, 256);
        if ((a & (a - 1)) != 0) fail_at(word_at, "an alignment is a power of two");
        v.align_log2 = static_cast<std::uint8_t>(std::countr_zero(a));
      } else if (word == "alias") {
        v.alias = vreg_ref();
        v.alias_part = accept_part(f_.vreg(v.alias).bytes());
      } else if (word == "fixed") {
        v.fixed = preg("a physical register");
      } else if (word == "hint") {
        expect('%', "a vreg (%N)");
        v.hint = VRegId(number("a vreg number", 0, 0xFFFFFFF));  // may point forward: check() looks at it
      } else if (word == "uniform") {
        v.flags |= kVRegUniform;
      } else if (word == "architectural") {
        v.flags |= kVRegArchitectural;
      } else if (word == "name") {
        v.name = f_.symbols.intern(string_literal());
      } else {
        pos_ = word_at;
        break;
      }
    }
    end_line();
    f_.add_vreg(v);
    decl_lines_.push_back(line_);
  }

  void parse_type(VReg& v) {
    skip_space();
    const std::size_t at = pos_;
    const std::string_view word = identifier();
    if (word == "pred") {
      v.type = TypeKind::Pred;
      v.width = 1;
      return;
    }
    int width = 0;
    const std::size_t kind = word.empty() ? std::string_view::npos : std::string_view("bsuf").find(word[0]);
    if (kind != std::string_view::npos) {
      const auto [stop, error] = std::from_chars(word.data() + 1, word.data() + word.size(), width);
      if (error != std::errc() || stop != word.data() + word.size()) width = 0;
    }
    static constexpr int kWidths[] = {8, 16, 32, 64, 96, 128, 256};
    if (std::find(std::begin(kWidths), std::end(kWidths), width) == std::end(kWidths)) {
      pos_ = at;
      expected("a type (b, s, u or f with 8, 16, 32, 64, 96, 128 or 256; or pred)");
    }
    v.type = static_cast<TypeKind>(kind);
    v.width = static_cast<std::uint16_t>(width);
  }

  void slot_line(std::size_t line_at) {
    if (!f_.blocks.empty()) fail_at(line_at, "slots are declared before the blocks");
    skip_space();
    const std::size_t at = pos_;
    const std::uint32_t id = number("a slot number", 0, 0xFFFFFFF);
    if (id < f_.slots.size()) fail_at(at, fmt::format("slot {} is declared twice", id));
    if (id > f_.slots.size())
      fail_at(at, fmt::format("expected slot {} (slots are numbered in order, without gaps)", f_.slots.size()));
    Slot s;
    if (accept_word("shared")) s.space = MemSpace::Shared;
    else expect_word("local", "local or shared");
    expect_word("size", "size");
    s.size = number("bytes", 1, 1u << 30);
    expect_word("align", "align");
    s.align = number("bytes", 1, 1u << 20);
    expect_word("offset", "offset");
    s.offset = number("bytes", 0, 1u << 30);
    end_line();
    f_.add_slot(s);
  }

  BlockId block_ref() {
    skip_space();
    const std::size_t at = pos_;
    const std::string_view word = identifier();
    std::uint32_t id = 0;
    if (word.size() >= 2 && word[0] == 'b') {
      const auto [stop, error] = std::from_chars(word.data() + 1, word.data() + word.size(), id);
      if (error == std::errc() && stop == word.data() + word.size()) return BlockId(id);
    }
    pos_ = at;
    expected("a block (bN)");
  }

  void block_line() {
    skip_space();
    const std::size_t at = pos_;
    const BlockId id = block_ref();
    if (id.index() < f_.blocks.size()) fail_at(at, fmt::format("b{} is declared twice", id.value));
    if (id.index() > f_.blocks.size())
      fail_at(at, fmt::format("expected b{} (blocks are numbered in order, without gaps), found b{}", f_.blocks.size(), id.value));
    Block b;
    for (;;) {
      skip_space();
      const std::size_t word_at = pos_;
      const std::string_view word = identifier();
      if (word == "depth") {
        b.depth = static_cast<std::int32_t>(number("a loop depth", 0, 1000));
      } else if (word == "freq") {
        skip_space();
        const std::size_t freq_at = pos_;
        const std::int64_t freq = integer("a frequency");
        if (freq < 1) fail_at(freq_at, "a frequency is at least 1");
        b.freq = static_cast<std::uint64_t>(freq);
      } else if (word == "edge") {
        b.edge_from = block_ref();
        if (!accept_arrow()) expected("'->'");
        b.edge_to = block_ref();
      } else if (word == "name") {
        b.name = f_.symbols.intern(string_literal());
      } else {
        pos_ = word_at;
        break;
      }
    }
    end_line();
    f_.begin_block(b);
    block_lines_.push_back(line_);
  }

  void inst_line() {
    const std::size_t line_at = pos_;
    if (f_.blocks.empty()) fail_at(line_at, "an instruction stands in a block: expected \"block b0\"");
    Inst inst;
    if (text_[pos_++] == '+') inst.flags |= kInserted;
    inst.id = InstId(number("an instruction number", 0, kMaxInstId));
    if (!seen_ids_.emplace(inst.id.value, line_).second)
      fail_at(line_at, fmt::format("instruction {} is there twice (first in line {})", inst.id.value, seen_ids_[inst.id.value]));

    std::vector<Operand>& ops = ops_;
    ops.clear();
    targets_.clear();
    std::optional<Operand> guard;
    if (accept('@')) {
      const bool negated = accept('!');
      guard = accept_register(Role::Guard);
      if (!guard) expected("a predicate");
      if (negated) guard->flags |= kNegated;
    }
    // A register here begins the defs; anything else is the operation.
    while (auto def = accept_register(Role::Def)) {
      ops.push_back(*def);
      if (accept(',')) continue;
      expect('=', "',' or '='");
      break;
    }
    operation(inst);
    if (inst.op == Op::Remat) {
      expect('#', "'#' and the number of the instruction to repeat");
      inst.ref = InstId(number("an instruction number", 0, kMaxInstId));
    }
    uses(inst, ops);
    if (guard) ops.push_back(*guard);
    if (accept_word("clobbers")) {
      do {
        ops.push_back(Operand::of_preg(Role::Clobber, preg("a physical register")));
      } while (accept(','));
    }
    if (accept_arrow()) {
      if (inst.is_phi()) fail_at(pos_, "a phi names its predecessors with its uses (bN: %N)");
      do {
        targets_.push_back(block_ref());
      } while (accept(','));
    }
    while (accept('!')) flag(inst);
    end_line();
    if (ops.size() > kMaxOperands || targets_.size() > kMaxOperands) fail_at(line_at, "too many operands");
    f_.append(inst, ops, targets_);
  }

  void operation(Inst& inst) {
    skip_space();
    const std::size_t at = pos_;
    std::string word;
    bool quoted = false;
    if (peek() == '"') {
      word = string_literal();
      quoted = true;
    } else {
      if (!is_letter(peek())) expected("an operation");
      while (pos_ < end_ && (is_letter(text_[pos_]) || is_digit(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == ':')) ++pos_;
      word = std::string(text_.substr(at, pos_ - at));
    }
    inst.op = quoted ? Op::Named : op_of_keyword(word).value_or(Op::Named);
    if (inst.op == Op::Named) {
      if (word.empty()) fail_at(at, "an operation has a name");
      inst.mnemonic = f_.symbols.intern(word);
    } else if (peek() == '<') {
      ++pos_;
      skip_space();
      std::string mnemonic;
      if (peek() == '"') {
        mnemonic = string_literal();
      } else {
        const std::size_t start = pos_;
        while (pos_ < end_ && (is_letter(text_[pos_]) || is_digit(text_[pos_]) || text_[pos_] == '.' || text_[pos_] == ':')) ++pos_;
        if (pos_ == start) expected("a mnemonic");
        mnemonic = std::string(text_.substr(start, pos_ - start));
      }
      inst.mnemonic = f_.symbols.intern(mnemonic);
      expect('>', "'>'");
    }
  }

  void uses(const Inst& inst, std::vector<Operand>& ops) {
    bool first = true;
    for (;;) {
      skip_space();
      if (first) {
        // Without a use the line goes on with clobbers, an arrow or a flag, or ends.
        const std::string_view rest = text_.substr(pos_, end_ - pos_);
        const bool negated_use = rest.starts_with("!%") || (rest.size() > 1 && rest[0] == '!' && rest[1] >= 'A' && rest[1] <= 'Z');
        if (rest.empty() || rest.starts_with("clobbers") || rest.starts_with("->") || (rest[0] == '!' && !negated_use)) return;
      }
      first = false;
      ops.push_back(use(inst.is_phi()));
      if (!accept(',')) return;
    }
  }

  Operand use(bool is_phi) {
    if (is_phi) {
      targets_.push_back(block_ref());
      expect(':', "':' and the value from that block");
    }
    skip_space();
    if (peek() == '"') return Operand::of_symbol(f_.symbols.intern(string_literal()));
    if (is_digit(peek()) || peek() == '-') return Operand::of_imm(integer("a number"));
    if (accept_word("slot")) {
      const std::size_t at = pos_;
      const std::uint32_t id = number("a slot number", 0, 0xFFFFFFF);
      if (id >= f_.slots.size()) fail_at(at + 1, fmt::format("slot {} is not declared", id));
      std::uint32_t offset = 0;
      if (accept('+')) offset = number("bytes", 0, 1u << 30);
      return Operand::of_slot(SlotId(id), offset);
    }
    const bool negated = accept('!');
    auto op = accept_register(Role::Use);
    if (!op) expected("an operand");
    if (negated) op->flags |= kNegated;
    return *op;
  }

  void flag(Inst& inst) {
    skip_space();
    const std::size_t at = pos_;
    const std::string_view word = identifier();
    for (const auto& [bit, text] : kFlagKeywords)
      if (word == text) {
        inst.flags |= bit;
        return;
      }
    if (word == "line") {
      inst.line = source_line();
      return;
    }
    pos_ = at;
    expected("a flag: read, write, readonly, barrier, remat, commutative, convergent, deleted or line");
  }
  SourceLineId source_line() {
    SourceLine l;
    l.file = f_.symbols.intern(string_literal());
    l.line = number("a line", 1, kMaxLine);
    if (accept(':')) l.column = number("a column", 1, kMaxLine);
    const auto [it, is_new] = source_lines_.try_emplace(l);
    if (is_new) it->second = f_.add_source_line(l);
    return it->second;
  }

  // Well-formedness, with the line of the instruction or declaration that is at fault.
  void finish_function() {
    if (!in_function_) return;
    const std::vector<Diagnostic> faults = check(f_, 1);
    if (!faults.empty()) {
      const Diagnostic& d = faults[0];
      int line = func_line_;
      if (d.inst.is_valid() && seen_ids_.contains(d.inst.value)) line = seen_ids_[d.inst.value];
      else if (d.vreg.is_valid() && d.vreg.index() < decl_lines_.size()) line = decl_lines_[d.vreg.index()];
      else if (d.block.is_valid() && d.block.index() < block_lines_.size()) line = block_lines_[d.block.index()];
      throw Fault{line, first_column(line), to_string(f_, d)};
    }
    module_.functions.push_back(std::move(f_));
    in_function_ = false;
  }

  int func_line_ = 0;
  bool in_function_ = false;
  Module module_;
  Function f_;
  std::map<SourceLine, SourceLineId> source_lines_;
  std::unordered_map<std::uint32_t, int> seen_ids_;
  std::vector<int> decl_lines_, block_lines_;
  std::vector<Operand> ops_;
  std::vector<BlockId> targets_;
};

}  // namespace

Parsed<Module> parse(std::string_view text, std::string_view file_name) {
  try {
    return Parser(text).run();
  } catch (const Fault& fault) {
    return std::unexpected(SourceError{std::string(file_name), fault.line, fault.column, fault.message});
  }
}

}  // namespace regduel::ir
