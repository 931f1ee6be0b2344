#include "reference/colour/file_graph.h"

#include <utility>

#include "base/check_macro.h"
#include "base/planted.h"

namespace regduel::reference {

void FileGraph::reserve_nodes(std::size_t nodes) {
  nodes_.reserve(nodes);
  is_absent_.reserve(nodes);
}

NodeId FileGraph::add_node(TempId temp, const Temp& t) {
  const auto n = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.temp = temp,
                    .units = t.units,
                    .align_log2 = t.align_log2,
                    .shape = shape_of(t.units, t.align_log2),
                    .fixed = t.fixed,
                    .merged_into = n,
                    .next_member = n});
  is_absent_.push_back(t.fixed.is_valid());
  return n;
}

void FileGraph::finish_nodes() {
  if (size() > kMatrixNodes) return;
  has_matrix_ = true;
  row_begin_.resize(size());
  degree_.assign(size(), 0);
  std::uint32_t words = 0;
  for (NodeId n = 0; n < size(); ++n) {
    row_begin_[n] = words;
    words += n / 64 + 1;
  }
  is_there_.assign(words, 0);
  for (NodeId n = 0; n < size(); ++n) is_there_[row_begin_[n] + n / 64] = std::uint64_t{1} << (n % 64);
}

// The list doubles unless duplicates were half of it: dropping them takes constant time an edge, and the list at most twice the
// memory of what is kept.
void FileGraph::make_room(std::size_t most) {
  if (!has_matrix_) drop_duplicates();
  if (2 * num_found_ + most < room_) return;
  room_ = std::max<std::size_t>(1024, 2 * room_) + most;
  const std::shared_ptr<Edge[]> more(new Edge[room_]);
  std::copy_n(found_.get(), num_found_, more.get());
  found_ = more;
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
  Edge* const begin = found_.get();
  num_found_ =
      static_cast<std::size_t>(std::remove_if(begin, begin + num_found_, [](const Edge& e) { return e.a == kNoNode; }) - begin);
}

void FileGraph::finish() {
  gather_edges();
  find_squeezes();
  marked_for_.assign(size(), kNoNode);
  std::ranges::sort(copies_, [](const CopyPair& a, const CopyPair& b) {
    return a.weight != b.weight ? a.weight > b.weight : std::pair(a.a, a.b) < std::pair(b.a, b.b);
  });
  clique_units_ = clique_units(crowd_);
  crowd_ = {};
}

void FileGraph::gather_edges() {
  const std::span<const Edge> found(found_.get(), num_found_);
  if (!has_matrix_) {
    drop_duplicates();
    degree_.assign(size(), 0);
    for (const Edge& e : found.first(num_found_)) {
      ++degree_[e.a];
      ++degree_[e.b];
    }
  }
  auto edges = std::make_shared<Edges>();
  edges->begin.resize(size() + 1);
  std::uint32_t sum = 0;
  for (NodeId n = 0; n < size(); ++n) {
    edges->begin[n] = sum;
    sum += std::exchange(degree_[n], sum);
  }
  edges->begin[size()] = sum;
  edges->to.resize(sum);
  // degree_[n] runs from the first neighbour of n to the first of the next node.
  std::uint32_t* const at = degree_.data();
  NodeId* const to = edges->to.data();
  for (const Edge& e : found.first(num_found_)) {
    to[at[e.a]++] = e.b;
    to[at[e.b]++] = e.a;
  }
  edges_ = std::move(edges);
  found_ = {};
  is_there_ = {};
  row_begin_ = {};
  degree_ = {};
}

void FileGraph::find_squeezes() {
  const std::size_t num = shapes_.size();
  std::vector<std::uint8_t> shapes(size());
  for (NodeId n = 0; n < size(); ++n) shapes[n] = nodes_[n].shape;
  std::vector<int> blocked(num);  // of the shape at hand, by the shape of a neighbour
  for (std::size_t s = 0; s < num; ++s) {
    for (std::size_t by = 0; by < num; ++by) blocked[by] = worst_by(by)[s];
    for (NodeId n = 0; n < size(); ++n) {
      if (shapes[n] != s) continue;
      int squeeze = 0;
      for (const NodeId m : edges_->of(n)) squeeze += blocked[shapes[m]];
      nodes_[n].squeeze = squeeze;
    }
  }
}

// Of the crowd, in turn, each node that interferes with all that were taken before it.
int FileGraph::clique_units(std::span<const NodeId> crowd) const {
  std::vector<std::uint32_t> edges_to_clique(size(), 0);
  std::uint32_t taken = 0;
  int sum = 0;
  for (const NodeId n : crowd) {
    if (is_fixed(n) || edges_to_clique[n] != taken) continue;
    for (const NodeId m : edges_->of(n)) ++edges_to_clique[m];
    sum += units(n);
    ++taken;
  }
  return sum;
}

int FileGraph::confined_clique_units(NodeId n) const {
  std::vector<NodeId> crowd = {n};
  for (const NodeId m : edges_->of(n))
    if ((forbidden(n) - forbidden(m)).is_empty()) crowd.push_back(m);
  return clique_units(crowd);
}

int FileGraph::added_up_squeeze(NodeId n) const {
  int sum = 0;
  for_neighbours(n, [&](NodeId m) { sum += worst(n, m); });
  return sum;
}

bool FileGraph::has_edge(NodeId a, NodeId b) const {
  // Either both list each other or neither does.
  if (edges_->of(a).size() > edges_->of(b).size()) std::swap(a, b);
  const auto listed = edges_->of(a);
  if (std::ranges::find(listed, b) != listed.end()) return true;
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
  // Mostly that of the node before.
  if (!nodes_.empty() && nodes_.back().units == units && nodes_.back().align_log2 == align_log2) return nodes_.back().shape;
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
  if (is_fixed(a)) return forbidden(b).intersects(fixed(a));
  if (is_fixed(b)) return forbidden(a).intersects(fixed(b));
  return has_edge(a, b);
}

void FileGraph::merge(NodeId kept, NodeId gone) {
  Node &k = nodes_[kept], &g = nodes_[gone];
  REGDUEL_CHECK(!is_merged(kept) && !is_merged(gone) && kept != gone && k.units == g.units, "these nodes cannot become one");
  g.merged_into = kept;
  std::swap(k.next_member, g.next_member);
  k.cost = std::min(kInfiniteCost - 1, k.cost + g.cost);
  k.is_spillable |= g.is_spillable;
  if (is_restricted(gone) && !REGDUEL_PLANTED("briggs-merge-forgets-clobbers")) forbid(kept, UnitSet(forbidden(gone)));
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
