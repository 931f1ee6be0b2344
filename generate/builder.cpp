// See builder.h. Every draw from the generator of random numbers is a statement of its own wherever the order of
// evaluation is open, since compilers choose differently there.
#include "generate/builder.h"

#include <algorithm>
#include <utility>

#include "base/check_macro.h"

namespace regduel::generate {
namespace {

using ir::Operand;
using ir::PReg;
using ir::RegClass;
using ir::RegFile;
using ir::Role;
using ir::VReg;
using ir::VRegId;

constexpr std::array<int, 8> kWidths = {1, 8, 16, 32, 64, 96, 128, 256};

std::uint32_t u32(std::size_t n) { return static_cast<std::uint32_t>(n); }

// Units that an item of so many units costs at most, when items are packed by falling alignment.
int padded(const VReg& v) { return (v.units() + v.alignment() - 1) / v.alignment() * v.alignment(); }

RegClass main_class(RegFile f) {
  switch (f) {
    case RegFile::R: return RegClass::R;
    case RegFile::P: return RegClass::P;
    case RegFile::B: return RegClass::B;
    case RegFile::UR: return RegClass::UR;
    case RegFile::UP: return RegClass::UP;
    case RegFile::UB: return RegClass::UB;
    case RegFile::Acc: return RegClass::Acc;
  }
  return RegClass::R;
}

}  // namespace

std::size_t Key::index() const {
  const auto at = std::find(kWidths.begin(), kWidths.end(), width);
  REGDUEL_CHECK(at != kWidths.end(), "no such width");
  return ir::index(file) * 8 + static_cast<std::size_t>(at - kWidths.begin());
}

Builder::Builder(ir::Function& function, const ir::Target& t, const Features& features, Random& r)
    : f(function), target(t), x(features), random(r) {
  // Caps of one instruction: mostly far below 24 units, now and then much more.
  const auto kind = random.below(100);
  const int big = kind < 60 ? 12 : kind < 90 ? 16 : kind < 98 ? 22 : 40;
  // A file too small for the widest value that an emitter may want is left alone.
  const auto set = [&](RegFile file, int cap) {
    int offered = 0;
    for (int unit = 0; unit < t.units[ir::index(file)]; ++unit) offered += t.is_reserved(f.abi, file, unit) ? 0 : 1;
    const int least = ir::is_predicate(file) || ir::is_barrier(file) ? 2 : 8;
    cap_[ir::index(file)] = offered / 2 < least ? 0 : std::min(cap, offered / 2);
  };
  set(RegFile::R, big);
  set(RegFile::P, kind < 90 ? 3 : 5);
  set(RegFile::UR, kind < 60 ? 8 : 14);
  set(RegFile::UP, kind < 90 ? 2 : 5);
  set(RegFile::Acc, 32);
  set(RegFile::B, kind < 90 ? 3 : 6);
  set(RegFile::UB, kind < 90 ? 2 : 5);
}

// --- scopes ---------------------------------------------------------------------------------------------------------

void Builder::enter_scope() {
  Scope& s = scopes_.emplace_back();
  for (std::size_t k = 0; k < Key::kCount; ++k) s.sizes[k] = u32(pools_[k].size());
  s.logged = log_.size();
  s.regions = regions.size();
}

void Builder::leave_scope() {
  const Scope& s = scopes_.back();
  for (std::size_t k = 0; k < Key::kCount; ++k) pools_[k].resize(s.sizes[k]);
  for (std::size_t i = s.logged; i < log_.size(); ++i) available_[log_[i].index()] = 0;
  log_.resize(s.logged);
  regions.resize(s.regions);
  scopes_.pop_back();
}

void Builder::mark_long_lived() {
  for (std::size_t k = 0; k < Key::kCount; ++k) long_lived_[k] = u32(pools_[k].size());
}

void Builder::make_available(VRegId v) {
  if (available_.size() < f.vregs.size()) available_.resize(f.vregs.size(), 0);
  if (available_[v.index()]) return;
  available_[v.index()] = 1;
  log_.push_back(v);
  const VReg& reg = f.vreg(v);
  if (!reg.fixed.is_valid()) pools_[Key{reg.file(), reg.width}.index()].push_back(v);
}

// --- values ---------------------------------------------------------------------------------------------------------

Key Builder::value_key() {
  int sum = 0;
  for (const int w : x.widths) sum += w;
  int at = static_cast<int>(random.below(u32(static_cast<std::size_t>(sum))));
  std::size_t k = 0;
  while (at >= x.widths[k]) at -= x.widths[k++];
  return {RegFile::R, kWidths[k + 1]};
}

VRegId Builder::pick(Key key) {
  const std::size_t k = key.index();
  if (x.undefined && random.chance(6)) {
    const auto& all = declared_[k];
    if (all.empty() || random.chance(20)) return new_vreg(key);
    return all[random.below(u32(all.size()))];
  }
  const auto& pool = pools_[k];
  if (pool.empty()) return materialise(key);
  const auto n = u32(pool.size());
  if (renew_ > 0 && key.index() != kWord.index() && random.chance(renew_)) return materialise(key);
  const auto r = static_cast<int>(random.below(100));
  if (long_lived_[k] > 0 && r < x.sequence) return pool[random.below(std::min(n, long_lived_[k]))];
  const int far = std::max(1, window_ * 32 / std::max(32, key.width) / (key.index() == kWord.index() ? 1 : 2));
  const auto reach = static_cast<std::uint32_t>(r < 60 ? std::min(4, far) : far);
  return pool[n - 1 - random.below(std::min(n, reach))];
}

VRegId Builder::pick_root(Key key) {
  for (int attempt = 0; attempt < 3; ++attempt)
    if (const VRegId v = pick(key); is_root(v)) return v;
  return materialise(key);
}

VRegId Builder::new_vreg(Key key, int align_log2) {
  VReg v;
  v.cls = main_class(key.file);
  v.width = static_cast<std::uint16_t>(key.width);
  if (random.chance(x.ralt)) v.cls = v.cls == RegClass::R ? RegClass::RAlt : v.cls == RegClass::UR ? RegClass::URExt : v.cls;
  constexpr ir::TypeKind kTypes[] = {ir::TypeKind::B, ir::TypeKind::S, ir::TypeKind::U, ir::TypeKind::F};
  v.type = ir::is_predicate(key.file) ? ir::TypeKind::Pred : kTypes[random.below(4)];
  const int natural = ir::natural_align_log2(key.width);
  const bool can_align = !ir::is_predicate(key.file) && !ir::is_barrier(key.file);
  v.align_log2 = static_cast<std::uint8_t>(natural);
  if (can_align && align_log2 >= 0) v.align_log2 = static_cast<std::uint8_t>(align_log2);
  else if (can_align && random.chance(x.odd_align))
    v.align_log2 = static_cast<std::uint8_t>(random.below(u32(static_cast<std::size_t>(std::min(natural + 2, 4)))));
  if (key.file == RegFile::UR || (key.file == RegFile::R && random.chance(5))) v.flags |= ir::kVRegUniform;
  const std::size_t k = key.index();
  if (random.chance(x.hint) && !pools_[k].empty()) v.hint = pools_[k].back();
  if (random.chance(1)) v.name = f.symbols.intern("value");
  const VRegId id = f.add_vreg(v);
  if (x.undefined) declared_[k].push_back(id);
  return id;
}

VRegId Builder::materialise(Key key, bool cheap) {
  Draft d;
  const auto r = random.below(100);
  const bool can_const = !ir::is_barrier(key.file) && key.file != RegFile::Acc && key.width <= 64;
  if (ir::is_barrier(key.file)) {
    d = named("bssy");
    imm(d, static_cast<std::int64_t>(random.below(16)));
  } else if (can_const && (cheap || r < 25)) {
    d = op(ir::Op::Const);
    if (random.chance(60)) d.inst.flags |= ir::kRematerialisable;
    if (key.width >= 32 && random.chance(10)) d.uses.push_back(Operand::of_symbol(f.symbols.intern("table")));
    else imm(d, static_cast<std::int64_t>(random.below(1000)) - 100);
  } else if (r < 45 && key.file != RegFile::Acc) {
    d = named("ld.param", ir::kMemRead | ir::kReadOnly);
    d.uses.push_back(Operand::of_symbol(f.symbols.intern("params")));
    imm(d, static_cast<std::int64_t>(random.below(64)) * 8);
    if (random.chance(60)) d.inst.flags |= ir::kRematerialisable;
  } else {
    d = named(ir::is_predicate(key.file) ? "isetp.mem" : key.file == RegFile::Acc ? "tcgen.zero" : "ld.global", ir::kMemRead);
    imm(d, static_cast<std::int64_t>(random.below(4096)));
  }
  const VRegId v = new_vreg(key);
  d.fresh.push_back(v);
  REGDUEL_CHECK(def(d, v), "a single def always fits");
  finish(std::move(d));
  return v;
}

bool Builder::is_offered(PReg r) const {
  if (!r.is_valid() || r.end() > target.units[ir::index(r.file)]) return false;
  for (int unit = r.begin(); unit < r.end(); ++unit)
    if (target.is_reserved(f.abi, r.file, unit)) return false;
  // What a function keeps for its caller and cannot save by itself.
  const ir::Abi& convention = target.abi(f.abi);
  if (f.kind == ir::FunctionKind::Device && convention.memory_through_r && r.file != RegFile::R &&
      std::ranges::any_of(convention.callee_saved, [&](PReg kept) { return kept.overlaps(r); }))
    return false;
  return std::none_of(architectural_.begin(), architectural_.end(), [&](VRegId v) { return f.vreg(v).fixed.overlaps(r); });
}

void Builder::add_architectural(int count) {
  for (; count > 0; --count) {
    const auto r = random.below(100);
    Key key = r < 50 ? kWord : r < 70 || !has(RegFile::UR) ? kPred : Key{RegFile::UR, 32};
    const int units = target.units[ir::index(key.file)];
    const int space = random.chance(50) ? units : std::min(units, ir::is_predicate(key.file) ? 4 : 16);
    const PReg place = {key.file, 1, static_cast<std::uint16_t>(random.below(u32(static_cast<std::size_t>(space))))};
    const auto takes = [&](VRegId v) { return f.vreg(v).fixed == place; };
    if (std::any_of(architectural_.begin(), architectural_.end(), takes)) continue;
    const VRegId v = new_vreg(key, 0);
    f.vregs[v.index()].fixed = place;
    f.vregs[v.index()].flags |= ir::kVRegArchitectural;
    architectural_.push_back(v);
  }
}

VRegId Builder::architectural(Key key) {
  if (architectural_.empty()) return {};
  const VRegId v = architectural_[random.below(u32(architectural_.size()))];
  return f.vreg(v).file() == key.file && f.vreg(v).width == key.width ? v : VRegId();
}

PReg Builder::random_fixed(VRegId root) {
  const VReg& v = f.vreg(root);
  const int space = ir::is_predicate(v.file()) || ir::is_barrier(v.file()) ? 4 : 16;
  const int places = (space - v.units()) / v.alignment() + 1;
  if (places < 1) return {};
  const int first = static_cast<int>(random.below(u32(static_cast<std::size_t>(places)))) * v.alignment();
  const PReg r = {v.file(), static_cast<std::uint8_t>(v.units()), static_cast<std::uint16_t>(first)};
  return is_offered(r) ? r : PReg{};
}

// --- drafts ---------------------------------------------------------------------------------------------------------

Draft Builder::named(std::string_view mnemonic, int flags) {
  Draft d;
  d.inst.op = ir::Op::Named;
  d.inst.flags = static_cast<std::uint16_t>(flags);
  d.inst.mnemonic = f.symbols.intern(mnemonic);
  return d;
}

Draft Builder::op(ir::Op o) {
  Draft d;
  d.inst.op = o;
  return d;
}

bool Builder::guard(Draft& d) {
  Key key = kPred;
  if (has(RegFile::UP) && any_available({RegFile::UP, 1}) && random.chance(10)) key.file = RegFile::UP;
  VRegId p = pick(key);
  if (const VRegId a = random.chance(10) ? architectural(key) : VRegId(); a.is_valid()) p = a;
  const bool negated = random.chance(40);
  return guard(d, p, negated);
}

bool Builder::guard(Draft& d, VRegId p, bool negated) {
  if (!use(d, p, {}, {}, negated)) return false;
  d.uses.back().role = Role::Guard;
  d.guards.push_back(d.uses.back());
  d.uses.pop_back();
  return true;
}

bool Builder::use(Draft& d, Key key) {
  if (key.width >= 8 && key.width <= 128 && key.width != 96 && random.chance(x.part)) {
    constexpr int kWide[] = {32, 64, 96, 128, 256};
    const Key wide = {key.file, kWide[random.below(5)]};
    if (wide.width > key.width && any_available(wide)) {
      const VRegId v = pick(wide);
      const auto element = static_cast<int>(random.below(static_cast<std::uint32_t>(wide.width / key.width)));
      if (const auto part = ir::Part::from_bytes(element * key.width / 8, key.width / 8)) return use(d, v, *part);
    }
  }
  VRegId v = pick(key);
  if (const VRegId a = random.chance(5) ? architectural(key) : VRegId(); a.is_valid()) v = a;
  const bool may_negate = ir::is_predicate(key.file) && d.inst.op == ir::Op::Named;
  const bool negated = may_negate && random.chance(30);
  return use(d, v, {}, {}, negated);
}

bool Builder::use(Draft& d, VRegId v, ir::Part part, PReg fixed, bool negated) {
  const VRegId root = f.root(v);
  const VReg& reg = f.vreg(root);
  const PReg home = fixed.is_valid() ? fixed : reg.fixed;
  bool counted = false;
  for (const Draft::Item& i : d.items) {
    if (i.root == root) {
      if (i.is_early) return false;
      if (i.at_writes && i.at_reads && i.fixed != home) return false;
      counted = counted || (i.at_reads && i.fixed == home);
    }
    if (i.at_reads && (i.root != root || i.fixed != home) && i.fixed.overlaps(home)) return false;
  }
  const std::size_t file = ir::index(reg.file());
  const int cost = counted ? 0 : padded(reg);
  if (d.read_units[file] + cost > cap_[file]) return false;
  d.read_units[file] += cost;
  d.items.push_back({root, home, true, false, true, false});
  Operand o = Operand::of_vreg(Role::Use, v, part);
  if (fixed.is_valid()) o.set_fixed(fixed);
  if (negated) o.flags |= ir::kNegated;
  d.uses.push_back(o);
  return true;
}

bool Builder::def(Draft& d, VRegId v, DefOptions options) {
  if (options.role == Role::Def && options.tied == ir::kNotTied && !options.early && random.chance(x.early)) {
    DefOptions early = options;
    early.early = true;
    if (place_def(d, v, early)) return true;
  }
  return place_def(d, v, options);
}

bool Builder::place_def(Draft& d, VRegId v, const DefOptions& options) {
  const VRegId root = f.root(v);
  const VReg& reg = f.vreg(root);
  Operand o = Operand::of_vreg(options.role, v, options.part);
  const ir::Storage s = f.storage(o);
  const bool both =
      d.is_guarded() || options.early || options.role == Role::DefUse || options.tied != ir::kNotTied || s.size != reg.bytes();
  PReg home = options.fixed.is_valid() ? options.fixed : reg.fixed;
  if (options.tied != ir::kNotTied) home = f.fixed_of(d.uses[options.tied]);
  bool counted = false;
  for (const Draft::Item& i : d.items) {
    const bool is_tied_use = options.tied != ir::kNotTied && i.root == f.root(d.uses[options.tied].vreg()) && i.fixed == home;
    if (i.root == root) {
      if (i.at_writes || (options.early && i.is_read)) return false;
      if (both && i.fixed != home) return false;
    }
    counted = counted || (both && i.at_reads && i.root == root);
    counted = counted || (both && is_tied_use);
    if (i.root != root && !is_tied_use && ((both && i.at_reads) || i.at_writes) && i.fixed.overlaps(home)) return false;
  }
  const std::size_t file = ir::index(reg.file());
  const int cost = padded(reg);
  const int read_cost = both && !counted ? cost : 0;
  if (d.write_units[file] + cost > cap_[file] || d.read_units[file] + read_cost > cap_[file]) return false;
  d.write_units[file] += cost;
  d.read_units[file] += read_cost;
  d.items.push_back({root, home, both, true, options.role == Role::DefUse, options.early});
  if (options.fixed.is_valid()) o.set_fixed(options.fixed);
  if (options.early) o.flags |= ir::kEarlyClobber;
  o.tied = options.tied;
  d.defs.push_back(o);
  return true;
}

VRegId Builder::def(Draft& d, Key key, DefOptions options) {
  const bool reads_old = d.is_guarded() || options.role == Role::DefUse || !options.part.is_whole();
  const bool redefine = random.chance(x.redefine);
  const bool wants_root = options.fixed.is_valid() || options.tied != ir::kNotTied;
  if (const VRegId a = !wants_root && options.part.is_whole() && random.chance(3) ? architectural(key) : VRegId(); a.is_valid())
    if (def(d, a, options)) return a;
  if (reads_old || (redefine && any_available(key))) {
    const VRegId old = wants_root ? pick_root(key) : pick(key);
    if (def(d, old, options)) {
      // In the profile undefined the vreg may not have been available; after a full def it is.
      if (x.undefined && !reads_old && is_root(old)) d.fresh.push_back(old);
      return old;
    }
    if (reads_old) return {};
  }
  const VRegId v = new_vreg(key);
  if (!def(d, v, options)) return {};
  d.fresh.push_back(v);
  return v;
}

void Builder::imm(Draft& d, std::int64_t value) { d.uses.push_back(Operand::of_imm(value)); }

void Builder::maybe_imm(Draft& d) {
  if (!random.chance(x.immediates)) return;
  const auto r = random.below(100);
  const std::uint64_t bits = random.next();
  if (r < 70) imm(d, static_cast<std::int64_t>(bits % 256));
  else if (r < 85) imm(d, -static_cast<std::int64_t>(bits % 65536));
  else if (r < 97) imm(d, static_cast<std::int64_t>(bits));
  else d.uses.push_back(Operand::of_symbol(f.symbols.intern("label")));
}

void Builder::clobber(Draft& d, PReg r) {
  const auto add = [&](int begin, int end) {
    if (begin < end)
      d.clobbers.push_back(
          Operand::of_preg(Role::Clobber, {r.file, static_cast<std::uint8_t>(end - begin), static_cast<std::uint16_t>(begin)}));
  };
  int begin = r.begin();
  for (int unit = r.begin(); unit < r.end(); ++unit) {
    const PReg one = {r.file, 1, static_cast<std::uint16_t>(unit)};
    if (std::none_of(architectural_.begin(), architectural_.end(), [&](VRegId v) { return f.vreg(v).fixed.overlaps(one); }))
      continue;
    add(begin, unit);
    begin = unit + 1;
  }
  add(begin, r.end());
}

// Few enough that a program still fits small limits; never where a fixed def is, as that may keep bytes.
void Builder::destroy_some(Draft& d) {
  const int ranges = random.between(1, 3);
  for (int i = 0; i < ranges; ++i) {
    const auto k = random.below(100);
    const RegFile file = k < 75 ? RegFile::R : k < 90 || !has(RegFile::UR) ? RegFile::P : RegFile::UR;
    const int space = std::min(target.units[ir::index(file)], ir::is_predicate(file) ? 7 : 40);
    const int count = std::min(space, ir::is_predicate(file) ? random.between(1, 2) : random.between(1, 8));
    const auto first = random.below(u32(static_cast<std::size_t>(space - count + 1)));
    const PReg r = {file, static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(first)};
    if (std::none_of(d.items.begin(), d.items.end(), [&](const Draft::Item& o) { return o.at_writes && o.fixed.overlaps(r); }))
      clobber(d, r);
  }
}

void Builder::finish(Draft&& d) {
  if (random.chance(x.clobbers) && !d.inst.has(ir::kRematerialisable)) destroy_some(d);
  Proto p;
  p.inst = d.inst;
  for (Operand& o : d.defs)
    if (o.is_tied()) o.tied = static_cast<std::uint16_t>(o.tied + d.defs.size());
  p.ops.insert(p.ops.end(), d.defs.begin(), d.defs.end());
  p.ops.insert(p.ops.end(), d.uses.begin(), d.uses.end());
  p.ops.insert(p.ops.end(), d.guards.begin(), d.guards.end());
  p.ops.insert(p.ops.end(), d.clobbers.begin(), d.clobbers.end());
  body->push_back(std::move(p));
  for (const VRegId v : d.fresh) make_available(v);
}

}  // namespace regduel::generate
