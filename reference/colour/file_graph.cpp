#include "reference/colour/file_graph.h"

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {

NodeId FileGraph::add_node(TempId temp, const Temp& t) {
  const auto n = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.temp = temp,
                    .units = t.units,
                    .align_log2 = t.align_log2,
                    .shape = shape_of(t.units, t.align_log2),
                    .fixed = t.fixed,
                    .merged_into = n,
                    .next_member = n});
  forbidden_.emplace_back();
  is_absent_.push_back(t.fixed.is_valid());
  return n;
}

void FileGraph::finish_nodes() {
  if (size() > kMatrixNodes) return;
  row_words_ = (size() + 63) / 64;
  is_there_.assign(size() * row_words_, 0);
}

// The list doubles unless duplicates were half of it: dropping them takes constant time an edge, and the list at most twice the
// memory of what is kept.
void FileGraph::make_room() {
  if (row_words_ == 0) drop_duplicates();
  if (2 * num_found_ >= found_.size()) found_.resize(std::max<std::size_t>(1024, 2 * found_.size()));
}

// Keeps of each edge the first time that it was found.
void FileGraph::drop_duplicates() {
  struct Seen {
    NodeId to;
    std::uint32_t at;
  };
  Grouped<Seen> by_lower;
  by_lower.build(size(), [&](auto add) {
    for (std::uint32_t k = 0; k < num_found_; ++k)
      add(std::min(found_[k].a, found_[k].b), Seen{std::max(found_[k].a, found_[k].b), k});
  });
  std::vector<NodeId> seen_with(size(), kNoNode);
  for (NodeId n = 0; n < size(); ++n)
    for (const Seen& s : by_lower[n]) {
      if (seen_with[s.to] == n) found_[s.at].a = kNoNode;
      seen_with[s.to] = n;
    }
  const auto end = found_.begin() + static_cast<std::ptrdiff_t>(num_found_);
  num_found_ =
      static_cast<std::size_t>(std::remove_if(found_.begin(), end, [](const Edge& e) { return e.a == kNoNode; }) - found_.begin());
}

void FileGraph::finish() {
  if (row_words_ == 0) drop_duplicates();
  is_there_ = {};
  auto edges = std::make_shared<Grouped<NodeId>>();
  edges->build(size(), [&](auto add) {
    for (std::size_t k = 0; k < num_found_; ++k) {
      add(found_[k].a, found_[k].b);
      add(found_[k].b, found_[k].a);
    }
  });
  edges_ = std::move(edges);
  found_ = {};
  marked_for_.assign(size(), kNoNode);
  std::ranges::sort(copies_, [](const CopyPair& a, const CopyPair& b) {
    return a.weight != b.weight ? a.weight > b.weight : std::pair(a.a, a.b) < std::pair(b.a, b.b);
  });
  std::vector<std::uint8_t> shapes(size());
  for (NodeId n = 0; n < size(); ++n) shapes[n] = nodes_[n].shape;
  for (NodeId n = 0; n < size(); ++n) {
    int squeeze = 0;
    for (const NodeId m : (*edges_)[n]) squeeze += worst_by(shapes[m])[shapes[n]];
    nodes_[n].squeeze = squeeze;
  }
  find_clique();
}

// Of the crowd, in turn, each node that interferes with all that were taken before it.
void FileGraph::find_clique() {
  std::vector<std::uint32_t> edges_to_clique(size(), 0);
  std::uint32_t taken = 0;
  for (const NodeId n : crowd_) {
    if (is_fixed(n) || edges_to_clique[n] != taken) continue;
    for (const NodeId m : (*edges_)[n]) ++edges_to_clique[m];
    clique_units_ += units(n);
    ++taken;
  }
  crowd_ = {};
}

int FileGraph::added_up_squeeze(NodeId n) const {
  int sum = 0;
  for_neighbours(n, [&](NodeId m) { sum += worst(n, m); });
  return sum;
}

bool FileGraph::has_edge(NodeId a, NodeId b) const {
  // Either both list each other or neither does.
  if ((*edges_)[a].size() > (*edges_)[b].size()) std::swap(a, b);
  if (std::ranges::find((*edges_)[a], b) != (*edges_)[a].end()) return true;
  for (std::uint32_t e = nodes_[a].first_added; e != kNoEdge; e = added_[e].next)
    if (added_[e].to == b) return true;
  return false;
}

void FileGraph::append(NodeId n, NodeId to) {
  const auto at = static_cast<std::uint32_t>(added_.size());
  added_.push_back({to, kNoEdge});
  (nodes_[n].last_added == kNoEdge ? nodes_[n].first_added : added_[nodes_[n].last_added].next) = at;
  nodes_[n].last_added = at;
}

std::vector<int> FileGraph::free_positions(const UnitSet& available) const {
  std::vector<int> count;
  for (const Shape& s : shapes_) count.push_back(available.positions(s.units, s.align_log2).count());
  return count;
}

std::uint8_t FileGraph::shape_of(int units, int align_log2) {
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (shapes_[s].units == units && shapes_[s].align_log2 == align_log2) return static_cast<std::uint8_t>(s);
  REGDUEL_CHECK(shapes_.size() < 256, "too many shapes of registers");
  shapes_.push_back({units, align_log2});
  fill_worst();
  return static_cast<std::uint8_t>(shapes_.size() - 1);
}

void FileGraph::fill_worst() {
  const std::size_t n = shapes_.size();
  worst_.assign(n * n, 0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      // Positions y of a (multiples of its alignment) with [y, y + ua) overlapping [x, x + ub), for the worst x that b may have.
      const int ua = shapes_[a].units, ub = shapes_[b].units;
      const int step_a = 1 << shapes_[a].align_log2, step_b = 1 << shapes_[b].align_log2;
      int most = 0;
      for (int x = 512; x < 512 + std::max(step_a, step_b); x += step_b) {
        const int low = x - ua + 1, high = x + ub - 1;  // y in [low, high]
        most = std::max(most, high / step_a - (low - 1) / step_a);
      }
      worst_[b * n + a] = most;
    }
}

bool FileGraph::interferes(NodeId a, NodeId b) const {
  if (is_fixed(a) && is_fixed(b)) return true;
  if (is_fixed(a)) return forbidden_[b].intersects(fixed(a));
  if (is_fixed(b)) return forbidden_[a].intersects(fixed(b));
  return has_edge(a, b);
}

void FileGraph::merge(NodeId kept, NodeId gone) {
  Node &k = nodes_[kept], &g = nodes_[gone];
  REGDUEL_CHECK(!is_merged(kept) && !is_merged(gone) && kept != gone && k.units == g.units, "these nodes cannot become one");
  g.merged_into = kept;
  std::swap(k.next_member, g.next_member);
  k.cost = std::min(kInfiniteCost - 1, k.cost + g.cost);
  k.is_spillable |= g.is_spillable;
  UnitSet forbidden = forbidden_[gone];
  if (REGDUEL_PLANTED("briggs-merge-forgets-clobbers")) forbidden = {};
  forbidden_[kept] |= forbidden;
  k.is_restricted |= g.is_restricted;
  const std::uint8_t old_shape = k.shape;
  if (g.align_log2 > k.align_log2) {
    k.align_log2 = g.align_log2;
    k.shape = shape_of(k.units, k.align_log2);
  }
  if (is_fixed(kept) || is_fixed(gone)) {
    const NodeId free = is_fixed(kept) ? gone : kept;
    if (is_fixed(gone)) k.fixed = g.fixed;
    is_absent_[kept] = is_absent_[gone] = 1;
    const UnitSet units = UnitSet::of(k.fixed);
    const int* worst = worst_by(free == kept ? old_shape : g.shape);
    for_neighbours(free, [&](NodeId m) {
      forbid(m, units);
      nodes_[m].squeeze -= worst[nodes_[m].shape];
    });
    return;
  }
  is_absent_[gone] = 1;
  const int *before = worst_by(old_shape), *after = worst_by(k.shape), *of_gone = worst_by(g.shape);
  for_neighbours(kept, [&](NodeId m) {
    marked_for_[m] = gone;
    nodes_[m].squeeze += after[nodes_[m].shape] - before[nodes_[m].shape];
  });
  // Those of both see one node where there were two; those of the one that is gone see the other.
  for_neighbours(gone, [&](NodeId m) {
    nodes_[m].squeeze -= of_gone[nodes_[m].shape];
    if (marked_for_[m] == gone) return;
    nodes_[m].squeeze += after[nodes_[m].shape];
    k.squeeze += worst(kept, m);
    append(kept, m);
    append(m, kept);
  });
  if (k.shape != old_shape) k.squeeze = added_up_squeeze(kept);
}

}  // namespace regduel::reference
