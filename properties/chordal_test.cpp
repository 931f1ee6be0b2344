// Where theory says what the answer is: a chordal interference graph of unconstrained scalars needs as many registers as its
// largest clique (Hack, Grund, Goos 2006). briggs without coalescing finds it, since some node always has fewer neighbours; exact
// proves it.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "duel/allocators.h"
#include "ir/text/text.h"
#include "oracles/judge.h"
#include "reference/colour/interference_graph.h"
#include "reference/exact/fewest_units.h"
#include "reference/program/liveness.h"
#include "reference/program/lower.h"
#include "reference/program/plan.h"
#include "reference/program/problem.h"

namespace regduel::properties {
namespace {

// Nested branches and loops over scalars. Each vreg has one def, which comes before all its uses, but for those that are defined
// again, so that some graphs are not chordal.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    begin_block();
    for (int k = 0; k < 3; ++k) define();
    body(2);
    for (int k = 0; k < 3; ++k) use();
    line("exit");
    std::string text = "rir 1\nfunc @f kernel target sm_90 threads 32\n";
    for (int v = 0; v < num_vregs_; ++v) text += fmt::format("  vreg %{} R b32\n", v);
    text += fmt::format("  vreg %{} P pred\n", num_vregs_);
    for (std::size_t at = 0; (at = body_.find("%p", at)) != std::string::npos;)
      body_.replace(at, 2, fmt::format("%{}", num_vregs_));
    return text + body_;
  }

 private:
  void body(int depth) {
    for (std::uint32_t k = 2 + random_.below(6); k > 0; --k) {
      const std::uint32_t what = random_.below(depth > 0 ? 10 : 8);
      if (what < 4) define();
      else if (what < 6) use();
      else if (what < 8) again();
      else if (what == 8) branch(depth - 1);
      else loop(depth - 1);
    }
  }
  void branch(int depth) {
    line("%p = setp");
    const std::string mark = fmt::format("<{}>", marks_++), join = fmt::format("<{}>", marks_++);
    const int then = num_blocks_;
    line(fmt::format("cbra %p -> b{}, b{}", then, mark));
    const std::size_t visible = visible_.size();
    begin_block();
    body(depth);
    line("bra -> b" + join);
    visible_.resize(visible);
    resolve(mark);
    begin_block();
    body(depth);
    visible_.resize(visible);
    resolve(join);
    line(fmt::format("bra -> b{}", num_blocks_));
    begin_block();
  }
  void loop(int depth) {
    const int head = num_blocks_;
    line(fmt::format("bra -> b{}", head));
    begin_block();
    const std::size_t visible = visible_.size();
    body(depth);
    line("%p = setp");
    line(fmt::format("cbra %p -> b{}, b{}", head, num_blocks_));
    visible_.resize(visible);
    begin_block();
  }
  void define() {
    const std::string from = visible_.empty() ? "1" : fmt::format("%{}, %{}", any(), any());
    line(fmt::format("%{} = add {}", num_vregs_, from));
    visible_.push_back(num_vregs_++);
  }
  void again() { line(fmt::format("%{} = add %{}, 1", any(), any())); }
  void use() { line(fmt::format("st %{}, %{} !write", any(), any())); }
  int any() { return visible_[random_.below(static_cast<std::uint32_t>(visible_.size()))]; }

  void begin_block() { body_ += fmt::format("  block b{}\n", num_blocks_++); }
  void line(const std::string& text) { body_ += fmt::format("    #{} {}\n", num_insts_++, text); }
  // The mark is the block that begins next.
  void resolve(const std::string& mark) { body_.replace(body_.find(mark), mark.size(), fmt::format("{}", num_blocks_)); }

  Random random_;
  std::string body_;
  std::vector<int> visible_;  // defined wherever control comes from
  int num_vregs_ = 0, num_blocks_ = 0, num_insts_ = 0, marks_ = 0;
};

// By maximum cardinality search (Tarjan, Yannakakis 1984): the size of the largest clique, 0 where the graph is not chordal.
int largest_clique_if_chordal(const reference::FileGraph& g) {
  std::vector<int> place(g.size(), -1), weight(g.size(), 0);
  int largest = 1;
  for (int at = 0; at < static_cast<int>(g.size()); ++at) {
    reference::NodeId next = reference::kNoNode;
    for (reference::NodeId n = 0; n < g.size(); ++n)
      if (place[n] < 0 && (next == reference::kNoNode || weight[n] > weight[next])) next = n;
    place[next] = at;
    std::vector<reference::NodeId> earlier;
    g.for_neighbours(next, [&](reference::NodeId m) {
      if (place[m] >= 0) earlier.push_back(m);
      else ++weight[m];
    });
    largest = std::max(largest, static_cast<int>(earlier.size()) + 1);
    if (earlier.empty()) continue;
    const reference::NodeId last =
        *std::max_element(earlier.begin(), earlier.end(), [&](auto a, auto b) { return place[a] < place[b]; });
    for (const reference::NodeId m : earlier)
      if (m != last && !g.has_edge(m, last)) return 0;
  }
  return largest;
}

TEST(Chordal, TheLargestCliqueIsEnough) {
  constexpr int kPrograms = 10'000;
  const ir::Target& target = ir::default_target();
  int chordal = 0, others = 0;
  for (std::uint64_t seed = 0; chordal < kPrograms; ++seed) {
    ASSERT_LT(seed, 4u * kPrograms) << "too few graphs are chordal: " << chordal;
    const auto module = ir::parse(Writer(seed).write(), "generated");
    ASSERT_TRUE(module.has_value()) << to_string(module.error());
    const ir::Function& f = module->functions[0];
    ir::AllocOptions options;
    options.limits = ir::Limits::of(target);
    const ir::Cfg cfg(f);
    const reference::Problem problem(f, cfg, target, options.limits, 10);
    const reference::Code code = reference::lower(problem, problem.all_in_registers());
    reference::Liveness liveness(code);
    const auto graphs = reference::build_interference_graphs(problem, code, liveness);
    const reference::FileGraph& graph = graphs.files[ir::index(ir::RegFile::R)];
    const int clique = largest_clique_if_chordal(graph);
    if (clique == 0) {
      ++others;
      continue;
    }
    ++chordal;
    const auto fewest = reference::fewest_units(graph, problem.allocatable()[ir::index(ir::RegFile::R)]);
    ASSERT_TRUE(fewest.is_proved()) << "seed " << seed;
    ASSERT_EQ(fewest.at_most, clique) << "seed " << seed;
    options.limits = ir::Limits::of(target, clique);
    options.knobs = {{"briggs-coalesce", "0"}};
    const auto allocation = duel::find_allocator("briggs")->allocate(f, target, options);
    ASSERT_TRUE(allocation.has_value()) << "seed " << seed << ": " << allocation.error().message;
    ASSERT_EQ(allocation->claims.spill_store_bytes + allocation->claims.spill_load_bytes, 0) << "seed " << seed;
    ASSERT_TRUE(std::none_of(allocation->program.insts.begin(), allocation->program.insts.end(),
                             [](const ir::Inst& i) { return i.op == ir::Op::Remat || ir::is_slot_move(i.op); }))
        << "seed " << seed;
  }
  EXPECT_GT(others, 20) << "the search can tell";
  RecordProperty("not_chordal", others);
}

}  // namespace
}  // namespace regduel::properties
