#include "llvm/random/webs.h"

namespace regduel::llvm {
namespace {

void step_back(const MirOperation& o, std::set<int>& live) {
  for (const MirItem& i : o.items)
    if (i.is_def() && i.sub.empty()) live.erase(i.vreg);
  for (const MirItem& i : o.items)
    if (i.vreg >= 0 && (!i.is_def() || !i.sub.empty())) live.insert(i.vreg);
}

class Webs {
 public:
  explicit Webs(MirFunction& f) : f_(f), live_(live_in(f)) {}

  void run() {
    for (const MirBlock& b : f_.blocks)
      for (const int v : live_[b.number]) at_entry_[{b.number, v}] = add(v);
    for (MirBlock& b : f_.blocks) map_block(b);
    // Names are given in the order in which the webs are met.
    std::vector<std::string> classes;
    std::map<int, int> names;
    for (MirItem* i : items_) {
      const auto [it, is_new] = names.emplace(find(i->vreg), static_cast<int>(classes.size()));
      if (is_new) classes.push_back(f_.classes[static_cast<std::size_t>(vreg_[static_cast<std::size_t>(i->vreg)])]);
      i->vreg = it->second;
    }
    f_.classes = std::move(classes);
  }

 private:
  int add(int v) {
    parent_.push_back(static_cast<int>(parent_.size()));
    vreg_.push_back(v);
    return parent_.back();
  }
  int find(int n) {
    while (parent_[static_cast<std::size_t>(n)] != n) n = parent_[static_cast<std::size_t>(n)];
    return n;
  }
  void unite(int a, int b) { parent_[static_cast<std::size_t>(find(b))] = find(a); }

  // Items name values from here on, until run() names them.
  void map_block(MirBlock& b) {
    std::map<int, int> now;
    for (const int v : live_[b.number]) now[v] = at_entry_.at({b.number, v});
    for (MirOperation& o : b.operations) {
      std::map<int, int> then = now;
      for (MirItem& i : o.items)
        if (i.is_def() && i.vreg >= 0 && i.sub.empty()) then[i.vreg] = add(i.vreg);
      for (MirItem& i : o.items) {
        if (i.vreg < 0) continue;
        const int v = i.vreg;
        i.vreg = i.is_def() ? then.at(v) : now.at(v);
        if (i.kind == MirItem::Kind::TiedUse) unite(now.at(v), then.at(v));
        items_.push_back(&i);
      }
      now = std::move(then);
    }
    for (const int s : b.successors)
      for (const int v : live_[s]) unite(now.at(v), at_entry_.at({s, v}));
  }

  MirFunction& f_;
  std::map<int, std::set<int>> live_;
  std::map<std::pair<int, int>, int> at_entry_;  // block and vreg: value
  std::vector<int> parent_, vreg_;               // by value
  std::vector<MirItem*> items_;
};

}  // namespace

std::map<int, std::set<int>> live_in(const MirFunction& f) {
  std::map<int, std::set<int>> in;
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t k = f.blocks.size(); k-- > 0;) {
      const MirBlock& b = f.blocks[k];
      std::set<int> live;
      for (const int s : b.successors) live.insert(in[s].begin(), in[s].end());
      for (std::size_t n = b.operations.size(); n-- > 0;) step_back(b.operations[n], live);
      if (live != in[b.number]) in[b.number] = std::move(live), changes = true;
    }
  }
  return in;
}

void split_into_webs(MirFunction& f) { Webs(f).run(); }

void read_in_a_second_block(MirFunction& f) {
  std::map<int, std::set<int>> read;  // vreg: blocks
  std::map<int, std::size_t> at;
  for (std::size_t k = 0; k < f.blocks.size(); ++k) {
    at[f.blocks[k].number] = k;
    for (const MirOperation& o : f.blocks[k].operations)
      for (const MirItem& i : o.items)
        if (i.vreg >= 0 && !i.is_def()) read[i.vreg].insert(f.blocks[k].number);
  }
  std::map<int, std::set<int>> live = live_in(f);
  for (const auto& [v, blocks] : read) {
    const int b = *blocks.begin();
    if (blocks.size() > 1 || !live[b].contains(v)) continue;
    for (const int s : f.blocks[at.at(b)].successors)
      if (s != b && live[s].contains(v)) {
        auto& operations = f.blocks[at.at(s)].operations;
        operations.insert(operations.begin(), {.items = {{.kind = MirItem::Kind::Use, .vreg = v}}});
        break;
      }
  }
}

}  // namespace regduel::llvm
