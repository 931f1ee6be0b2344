// The builder, on which the emitters of the generator stand: it offers values that may be read at this place, instructions under
// construction that can never become ill-formed, and new vregs of a wanted kind.
//
// *Definedness*. A vreg is *available* where its root is wholly defined on every path. Availability is scoped: blocks are
// filled along a dominator tree, and what a block makes available ends with the subtree below it.
//
// *Demand*. Operands are added to a draft only while the units that they hold stay under a cap per file, so that single
// instructions fit usual limits. An operand that does not fit, or would contradict another one, is refused: the emitter
// then does without it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "base/random.h"
#include "generate/features.h"
#include "ir/program.h"
#include "ir/target.h"

namespace regduel::generate {

// The kind of a value, as far as an emitter cares.
struct Key {
  ir::RegFile file = ir::RegFile::R;
  int width = 32;

  [[nodiscard]] std::size_t index() const;
  static constexpr std::size_t kCount = static_cast<std::size_t>(ir::kNumFiles) * 8;
};
inline constexpr Key kWord = {ir::RegFile::R, 32};
inline constexpr Key kPair = {ir::RegFile::R, 64};
inline constexpr Key kQuad = {ir::RegFile::R, 128};
inline constexpr Key kPred = {ir::RegFile::P, 1};
inline constexpr Key kUniform = {ir::RegFile::UR, 32};
inline constexpr Key kUniformPred = {ir::RegFile::UP, 1};

struct Draft {
  struct Item {  // one register operand, as far as conflicts go
    ir::VRegId root;
    ir::PReg fixed;
    bool at_reads, at_writes, is_read, is_early;
  };
  ir::Inst inst;
  // Operand::tied counts the uses from 0 until finish().
  boost::container::small_vector<ir::Operand, 4> defs, uses;
  boost::container::small_vector<ir::Operand, 1> guards, clobbers;
  boost::container::small_vector<Item, 6> items;
  boost::container::small_vector<ir::VRegId, 2> fresh;  // become available when the draft is finished
  ir::PerFile<int> read_units = {}, write_units = {};

  [[nodiscard]] bool is_guarded() const { return !guards.empty(); }
};
// A finished instruction of a block body: `ops` in the order of FORMAT.md.
struct Proto {
  ir::Inst inst;
  boost::container::small_vector<ir::Operand, 5> ops;
};

// The state that runs of guarded instructions share: a predicate that only they read, and the vregs that they defined under it,
// which may be read under the same guard alone.
struct GuardedRegion {
  ir::VRegId predicate;
  std::array<std::vector<ir::VRegId>, 2> values;  // where it does not hold, where it holds
};

struct DefOptions {
  ir::Role role = ir::Role::Def;
  ir::Part part = {};
  ir::PReg fixed = {};
  std::uint16_t tied = ir::kNotTied;
  bool early = false;
};

class Builder {
 public:
  Builder(ir::Function& function, const ir::Target& target, const Features& features, Random& random);

  ir::Function& f;
  const ir::Target& target;
  const Features& x;
  Random& random;
  std::vector<Proto>* body = nullptr;  // of the block that is being filled
  int room = 0;                        // instructions that this block should still get, about
  std::vector<GuardedRegion> regions;  // of the open scopes, the newest last

  [[nodiscard]] const ir::Abi& abi() const { return target.abi(f.abi); }

  // --- scopes
  void enter_scope();
  void leave_scope();
  // How far back pick() reaches among the values of one kind, and in how many of 100 cases it makes a new value instead of
  // reading an old one of a rare kind, whose range would be long.
  void set_locality(int window, int renew) {
    window_ = window < 2 ? 2 : window;
    renew_ = renew;
  }
  // The values that are available now are the oldest ones: pick() returns to them.
  void mark_long_lived();

  // --- values
  [[nodiscard]] bool has(ir::RegFile file) const {
    if (x.plain && file != ir::RegFile::R && file != ir::RegFile::P) return false;
    return target.has(file) && cap_[ir::index(file)] > 0;
  }
  [[nodiscard]] Key value_key();                // in R, by the widths of the profile
  [[nodiscard]] ir::VRegId pick(Key key);       // available (profile undefined: or not); defines one where there is none
  [[nodiscard]] ir::VRegId pick_root(Key key);  // the same, no alias and not precoloured
  [[nodiscard]] bool any_available(Key key) const { return !pools_[key.index()].empty(); }
  [[nodiscard]] ir::VRegId new_vreg(Key key, int align_log2 = -1);  // not available yet; -1 = natural, seldom odd
  void make_available(ir::VRegId v);
  [[nodiscard]] bool is_available(ir::VRegId v) const { return v.index() < available_.size() && available_[v.index()] != 0; }
  ir::VRegId materialise(Key key, bool cheap = false);  // a new value from nothing; cheap: can be computed again
  [[nodiscard]] bool is_root(ir::VRegId v) const { return !f.vreg(v).alias.is_valid() && !f.vreg(v).fixed.is_valid(); }
  // A register of the file for a value of so many units, in the lower 16 (predicates: 4) units; invalid if none is there.
  [[nodiscard]] ir::PReg random_fixed(ir::VRegId root);
  [[nodiscard]] bool is_offered(ir::PReg r) const;  // and not that of an architectural vreg
  // Declares up to so many architectural vregs, in allocatable and in reserved registers. Before anything is fixed or clobbered.
  void add_architectural(int count);

  // --- drafts
  [[nodiscard]] Draft named(std::string_view mnemonic, int flags = 0);
  [[nodiscard]] Draft op(ir::Op op);
  bool maybe_guard(Draft& d) { return random.chance(x.guard) && guard(d); }
  bool guard(Draft& d);
  bool guard(Draft& d, ir::VRegId predicate, bool negated);
  bool use(Draft& d, Key key);  // a picked value, perhaps a part of a wider one, perhaps negated
  bool use(Draft& d, ir::VRegId v, ir::Part part = {}, ir::PReg fixed = {}, bool negated = false);
  bool def(Draft& d, ir::VRegId v, DefOptions options = {});
  // A def of an old value (under a guard always) or of a new one. Invalid where it was refused.
  ir::VRegId def(Draft& d, Key key, DefOptions options = {});
  void imm(Draft& d, std::int64_t value);
  void maybe_imm(Draft& d);
  void clobber(Draft& d, ir::PReg r);  // without the units of architectural vregs
  void finish(Draft&& d);

 private:
  struct Scope {
    std::array<std::uint32_t, Key::kCount> sizes;
    std::size_t logged, regions;
  };
  [[nodiscard]] ir::VRegId architectural(Key key);  // one of that file and width; invalid where there is none
  bool place_def(Draft& d, ir::VRegId v, const DefOptions& options);
  void destroy_some(Draft& d);
  ir::PerFile<int> cap_ = {};
  std::array<std::vector<ir::VRegId>, Key::kCount> pools_, declared_;
  std::array<std::uint32_t, Key::kCount> long_lived_ = {};
  std::vector<char> available_;
  std::vector<ir::VRegId> log_;
  std::vector<Scope> scopes_;
  std::vector<ir::VRegId> architectural_;
  int window_ = 32;
  int renew_ = 0;
};

}  // namespace regduel::generate
