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
  fill_worst();
  if (size() > kMatrixNodes) return;
  has_matrix_ = true;
  degree_.assign(size(), 0);
  is_there_.assign(row_begin(size()), 0);
  for (NodeId n = 0; n < size(); ++n) is_there_[row_begin(n) + n / 64] = std::uint64_t{1} << (n % 64);
}

void FileGraph::add_edges(NodeId a, std::span<const NodeId> bs) {
  NodeId* const first = found_.room(bs.size());
  NodeId* end = first;
  if (!has_matrix_) {
    end = std::remove_copy(bs.begin(), bs.end(), first, a);
    found_.take(a, static_cast<std::size_t>(end - first));
    if (found_.num_edges() > 2 * num_distinct_) drop_duplicates();
    return;
  }
  std::uint64_t* const row = is_there_.data() + row_begin(a);
  std::uint64_t* const column = is_there_.data() + a / 64;
  const std::uint64_t bit_of_a = std::uint64_t{1} << (a % 64);
  std::uint32_t* const degree = degree_.data();
  for (const NodeId b : bs) {
    std::uint64_t& word = b <= a ? row[b / 64] : column[row_begin(b)];
    const std::uint64_t seen = word, bit = b <= a ? std::uint64_t{1} << (b % 64) : bit_of_a;
    if (seen & bit) continue;
    word = seen | bit;
    *end++ = b;
    ++degree[b];
  }
  degree[a] += static_cast<std::uint32_t>(end - first);
  found_.take(a, static_cast<std::size_t>(end - first));
}

template <class Keep>
void FileGraph::FoundEdges::filter(Keep&& keep) {
  num_edges_ = 0;
  for (Piece& p : pieces_) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < p.size;) {
      const NodeId node = p.data[k], edges = p.data[k + 1];
      NodeId kept = 0;
      for (NodeId e = 0; e < edges; ++e)
        if (keep()) p.data[to + 2 + kept++] = p.data[k + 2 + e];
      k += edges + 2;
      if (kept == 0) continue;
      p.data[to] = node;
      p.data[to + 1] = kept;
      to += kept + 2;
      num_edges_ += kept;
    }
    p.size = to;
  }
}

// Keeps of each edge the first time that it was found. The list has at least doubled since the last call, so an edge costs constant
// time, and the list takes at most twice the memory of what is kept, besides the ends of its pieces.
void FileGraph::drop_duplicates() {
  struct Seen {
    NodeId to;
    std::uint32_t at;
  };
  Grouped<Seen> by_lower;
  by_lower.build(size(), [&](auto add) {
    std::uint32_t k = 0;
    found_.for_each([&](NodeId a, std::span<const NodeId> bs) {
      for (const NodeId b : bs) add(std::min(a, b), Seen{std::max(a, b), k++});
    });
  });
  std::vector<NodeId> seen_with(size(), kNoNode);
  std::vector<std::uint8_t> is_first(found_.num_edges(), 0);
  for (NodeId n = 0; n < size(); ++n)
    for (const Seen& s : by_lower[n]) is_first[s.at] = std::exchange(seen_with[s.to], n) != n;
  std::uint32_t k = 0;
  found_.filter([&] { return is_first[k++] != 0; });
  num_distinct_ = std::max(num_distinct_, found_.num_edges());
}

void FileGraph::finish() {
  gather_edges();
  find_squeezes();
  marked_for_.assign(size(), kNoNode);
  std::ranges::sort(copies_, [](const CopyPair& a, const CopyPair& b) {
    return a.weight != b.weight ? a.weight > b.weight : std::pair(a.a, a.b) < std::pair(b.a, b.b);
  });
  clique_units_ = clique_units(crowd_);
  crowd_ = std::vector<NodeId>();
}

void FileGraph::gather_edges() {
  // Not = {}, which would keep the memory.
  is_there_ = LargeVector<std::uint64_t>();
  if (!has_matrix_) {
    degree_.assign(size(), 0);
    found_.for_each([&](NodeId a, std::span<const NodeId> bs) {
      degree_[a] += static_cast<std::uint32_t>(bs.size());
      for (const NodeId b : bs) ++degree_[b];
    });
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
  found_.for_each([&](NodeId a, std::span<const NodeId> bs) {
    NodeId* mine = to + at[a];
    at[a] += static_cast<std::uint32_t>(bs.size());
    for (const NodeId b : bs) {
      *mine++ = b;
      to[at[b]++] = a;
    }
  });
  found_ = FoundEdges();
  degree_ = std::vector<std::uint32_t>();
  if (!has_matrix_) edges->drop_duplicates();
  edges_ = std::move(edges);
}

void FileGraph::Edges::drop_duplicates() {
  std::vector<NodeId> seen_with(begin.size() - 1, kNoNode);
  std::uint32_t end = 0;
  for (NodeId n = 0; n < seen_with.size(); ++n) {
    const auto listed = of(n);
    begin[n] = end;
    for (const NodeId m : listed) {
      to[end] = m;
      end += std::exchange(seen_with[m], n) != n;
    }
  }
  begin.back() = end;
}

void FileGraph::find_squeezes() {
  if (worst_.empty()) fill_worst();
  const std::size_t num = shapes_.size();
  std::vector<std::uint8_t> shapes(size());
  for (NodeId n = 0; n < size(); ++n) shapes[n] = nodes_[n].shape;
  std::vector<int> blocked(num * num);  // by the shape that is blocked, then by the one that blocks
  for (std::size_t by = 0; by < num; ++by)
    for (std::size_t s = 0; s < num; ++s) blocked[s * num + by] = worst_by(by)[s];
  for (NodeId n = 0; n < size(); ++n) {
    const int* const row = &blocked[shapes[n] * num];
    int squeeze = 0;
    for (const NodeId m : edges_->of(n)) squeeze += row[shapes[m]];
    nodes_[n].squeeze = squeeze;
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
    if ((forbidden(n) - forbidden(m)).none()) crowd.push_back(m);
  return clique_units(crowd);
}

int FileGraph::added_up_squeeze(NodeId n) const {
  int sum = 0;
  for_neighbours(n, [&](NodeId m) { sum += worst(n, m); });
  return sum;
}

bool FileGraph::has_edge(NodeId a, NodeId b) const {
  // If one lists the other, both do, so the shorter list answers.
  if (edges_->of(a).size() > edges_->of(b).size()) std::swap(a, b);
  const auto listed = edges_->of(a);
  if (std::ranges::find(listed, b) != listed.end()) return true;
  for (std::uint32_t e = nodes_[a].first_added; e != kNoEdge; e = added_[e].next)
    if (std::ranges::find(added_[e].nodes(), b) != added_[e].nodes().end()) return true;
  return false;
}

void FileGraph::append(NodeId n, NodeId to) {
  Node& node = nodes_[n];
  if (node.last_added != kNoEdge && added_[node.last_added].size < added_[node.last_added].to.size()) {
    AddedEdges& last = added_[node.last_added];
    last.to[last.size++] = to;
    return;
  }
  const auto at = static_cast<std::uint32_t>(added_.size());
  added_.push_back({.to = {to}, .size = 1, .next = kNoEdge});
  (node.last_added == kNoEdge ? node.first_added : added_[node.last_added].next) = at;
  node.last_added = at;
}

std::vector<int> FileGraph::free_positions(const UnitSet& available) const {
  std::vector<int> count;
  for (const Shape& s : shapes_) count.push_back(available.positions(s.units, s.align_log2).count());
  return count;
}

int FileGraph::count_restricted_positions(NodeId n, const UnitSet& available) const { return positions(n, available).count(); }

std::uint8_t FileGraph::shape_of(int units, int align_log2) {
  std::uint8_t& shape = shape_plus_1_[static_cast<std::size_t>((units - 1) * kAlignments + align_log2)];
  if (shape == 0) {
    REGDUEL_CHECK(shapes_.size() < 255, "too many shapes of registers");
    shapes_.push_back({units, align_log2});
    shape = static_cast<std::uint8_t>(shapes_.size());
  }
  return static_cast<std::uint8_t>(shape - 1);
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
  if (is_fixed(a)) return forbidden(b).intersects(units_of(fixed(a)));
  if (is_fixed(b)) return forbidden(a).intersects(units_of(fixed(b)));
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
    if (worst_.size() < shapes_.size() * shapes_.size()) fill_worst();
  }
  if (is_fixed(kept) || is_fixed(gone)) {
    const NodeId free = is_fixed(kept) ? gone : kept;
    if (is_fixed(gone)) k.fixed = g.fixed;
    is_absent_[kept] = is_absent_[gone] = 1;
    const UnitSet units = units_of(k.fixed);
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
  // Neighbours of both nodes have one neighbour in their place; neighbours of the gone node alone get the kept one.
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

void FileGraph::flatten() {
  for (NodeId n = 0; n < size(); ++n)
    if (!is_merged(n)) for_members(n, [&](NodeId m) { nodes_[m].merged_into = n; });
}

}  // namespace regduel::reference
