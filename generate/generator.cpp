// See generator.h. In order: draw the features (blend for `mix`), the size, the shape; fill the blocks along the dominator
// tree; then write everything out in block order.
//
// At a join, two more kinds of values appear. A *phi* takes one available value from each predecessor; a *merge* is a
// vreg that every predecessor defines at its end. Phis and merges are obligations of the predecessors, known before
// any block is filled, so that back edges need no second pass.
#include "generate/generator.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check_macro.h"
#include "base/random.h"
#include "generate/builder.h"
#include "generate/draw.h"
#include "generate/emit.h"
#include "generate/features.h"
#include "generate/shape.h"

namespace regduel::generate {
namespace {

using ir::Op;
using ir::RegFile;
using ir::VRegId;

constexpr int kMaxJoinValues = 4;  // phis, and merges, at one join

int default_size(Random& random) {
  const auto r = random.below(100);
  if (r < 10) return random.between(6, 60);
  if (r < 33) return random.between(60, 130);
  if (r < 72) return random.between(130, 400);
  if (r < 86) return random.between(400, 1000);
  return random.between(1050, 2600);
}

Features draw_features(Profile p, Random& random) {
  if (p != Profile::Mix) return features_of(p);
  const auto any = [&] {
    const auto k = random.below(kNumProfiles - 2);  // neither Undefined nor Mix
    return static_cast<Profile>(k < static_cast<std::uint32_t>(Profile::Undefined) ? k : k + 1);
  };
  const Profile first = any();
  if (random.chance(50)) return features_of(first);
  const Profile second = any();
  return blend(features_of(first), features_of(second));
}

struct Phi {
  VRegId def;
  Key key;
  std::vector<std::pair<int, VRegId>> incoming;  // predecessor, value
};
struct Obligation {
  int join = -1;  // with `phi`: give a value to this phi of this block
  std::size_t phi = 0;
  VRegId merge;  // else: define this
};
struct Body {
  std::vector<Phi> phis;
  std::vector<VRegId> merges;  // available from the start
  std::vector<Obligation> obligations;
  std::vector<Proto> insts;
  Proto terminator;
};

constexpr std::uint64_t kVariableStream = 0x6C6F63616C;  // keeps the numbers of own variables apart from the program's

class Generator {
 public:
  Generator(const GeneratorOptions& options, const ir::Target& target)
      : target_(target), random_(hash_combine(options.seed, static_cast<std::uint64_t>(options.profile))),
        features_(draw_features(options.profile, random_)), size_(options.size > 0 ? options.size : default_size(random_)) {
    f_.name = "generated";
    f_.target = target.name;
    f_.predicate_halves = target.predicate_halves;
    constexpr std::array<std::uint32_t, 4> kThreads = {32, 128, 256, 1024};
    f_.threads = any_of(random_, kThreads);
    if (random_.chance(features_.device)) f_.kind = ir::FunctionKind::Device;
    if (random_.chance(50)) f_.abi = ir::AbiName::Cuda;
    // Variables of its own in local memory, which no instruction names: a stream of its own, so that they change nothing else.
    if (Random own(hash_combine(options.seed, kVariableStream)); own.chance(20))
      f_.local_frame = static_cast<std::uint32_t>(4 * own.between(1, 12));
  }

  ir::Function run() {
    make_blocks();
    Builder b(f_, target_, features_, random_);
    if (random_.chance(features_.architectural)) b.add_architectural(random_.between(1, 3));
    make_joins(b);
    fill_all(b);
    write();
    return std::move(f_);
  }

 private:
  void make_blocks() {
    ShapeOptions options = features_.shape;
    if (features_.block_size == 0) {
      options.blocks = 1;
    } else {
      const int most = size_ / features_.block_size + 1;
      options.blocks = random_.between((most + 2) / 3, most);
    }
    shape_ = make_shape(random_, options);
    preds_ = shape_.predecessors();
    bodies_.resize(shape_.blocks.size());
  }

  void make_joins(Builder& b) {
    for (std::size_t block = 1; block < bodies_.size(); ++block) {
      const auto& preds = preds_[block];
      if (preds.empty()) continue;
      const bool join = preds.size() > 1;
      for (int i = 0; i < kMaxJoinValues && random_.chance(join ? features_.phis : features_.phis / 8); ++i) {
        const Key key = join_key(b);
        Phi phi = {b.new_vreg(key), key, {}};
        for (const int p : preds) {
          phi.incoming.emplace_back(p, VRegId{});
          bodies_[static_cast<std::size_t>(p)].obligations.push_back({static_cast<int>(block), bodies_[block].phis.size(), {}});
        }
        bodies_[block].phis.push_back(std::move(phi));
      }
      for (int i = 0; join && i < kMaxJoinValues && random_.chance(features_.merges); ++i) {
        const VRegId v = b.new_vreg(join_key(b));
        for (const int p : preds) bodies_[static_cast<std::size_t>(p)].obligations.push_back({-1, 0, v});
        bodies_[block].merges.push_back(v);
      }
    }
  }

  Key join_key(Builder& b) {
    const auto r = random_.below(100);
    if (r < 10) return kPred;
    if (r < 15 && b.has(RegFile::UR)) return kUniform;
    return b.value_key();
  }

  // Blocks in preorder of the dominator tree, each with the scope of its dominators.
  void fill_all(Builder& b) {
    const std::vector<int> parent = shape_.dominators();
    std::vector<std::vector<int>> children(bodies_.size());
    for (std::size_t i = bodies_.size(); i-- > 1;) children[static_cast<std::size_t>(parent[i])].push_back(static_cast<int>(i));
    const int spent = fill_entry(b);
    mean_ = std::max(0, size_ - spent) / static_cast<int>(bodies_.size());
    std::vector<int> stack = {0};  // a negative number closes the scope of ~number
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      if (at < 0) {
        b.leave_scope();
        continue;
      }
      b.enter_scope();
      fill(b, static_cast<std::size_t>(at));
      stack.push_back(~at);
      for (const int child : children[static_cast<std::size_t>(at)]) stack.push_back(child);
    }
  }

  // Begins the entry block with the arguments and the values that stay alive to the end. Returns the number of instructions.
  int fill_entry(Builder& b) {
    Body& body = bodies_[0];
    b.body = &body.insts;
    const bool low = random_.chance(features_.low_pressure);
    const int window = low ? random_.between(2, 6) : random_.between(3, 20);
    b.set_locality(window, low ? 60 : 10);
    if (f_.kind == ir::FunctionKind::Device && (preds_[0].empty() || random_.chance(50))) emit_abi_entry(b);
    for (const RegFile file : ir::kAllFiles) {
      if (!b.has(file)) continue;
      const std::size_t k = ir::index(file);
      int units = features_.live_high[k] == 0 ? 0 : random_.between(features_.live_low[k], features_.live_high[k]);
      if (low) units /= 6;
      const auto most = static_cast<std::size_t>(size_ * 2 / 5 + 1);
      while (units > 0 && body.insts.size() < most) {
        const VRegId v = b.materialise(live_key(b, file));
        long_lived_.push_back(v);
        units -= f_.vreg(v).units();
      }
    }
    shuffle(random_, long_lived_);
    b.mark_long_lived();
    return static_cast<int>(body.insts.size() + long_lived_.size() / 2);
  }

  Key live_key(Builder& b, RegFile file) {
    if (ir::is_predicate(file)) return {file, 1};
    if (ir::is_barrier(file)) return {file, 32};
    if (file == RegFile::R) return b.value_key();
    const auto r = random_.below(100);
    if (file == RegFile::Acc) return {file, r < 40 ? 128 : r < 80 ? 256 : 64};
    return {file, r < 75 ? 32 : r < 95 ? 64 : 128};
  }

  void fill(Builder& b, std::size_t at) {
    Body& body = bodies_[at];
    b.body = &body.insts;
    for (const Phi& phi : body.phis) b.make_available(phi.def);
    for (const VRegId v : body.merges) b.make_available(v);
    const std::size_t room =
        bodies_.size() == 1 ? static_cast<std::size_t>(mean_) : static_cast<std::size_t>(below(random_, 2 * mean_ + 1));
    const std::size_t until = body.insts.size() + room;
    while (body.insts.size() < until) {
      b.room = static_cast<int>(until - body.insts.size());
      emit(b);
    }
    meet_obligations(b, body, at);
    end(b, body, shape_.blocks[at]);
  }

  void meet_obligations(Builder& b, Body& body, std::size_t at) {
    for (const Obligation& o : body.obligations) {
      if (o.join < 0) {
        emit_def_of(b, o.merge);
        continue;
      }
      Phi& phi = bodies_[static_cast<std::size_t>(o.join)].phis[o.phi];
      VRegId value = b.pick_root(phi.key);
      // Around a loop: now and then another phi of the same head, so that they swap, or the phi itself.
      const auto& siblings = bodies_[static_cast<std::size_t>(o.join)].phis;
      if (random_.chance(30)) {
        const Phi& other = any_of(random_, siblings);
        if (other.key.index() == phi.key.index() && b.is_available(other.def)) value = other.def;
      }
      for (auto& [pred, incoming] : phi.incoming)
        if (pred == static_cast<int>(at)) incoming = value;
    }
  }

  void end(Builder& b, Body& body, const ShapeBlock& shape) {
    if (shape.terminator == Op::Exit && !long_lived_.empty()) {
      // The first two exits use everything that lives long, the others a little of it.
      if (sinks_++ < 2) emit_sink(b, long_lived_);
      else emit_sink(b, std::span(long_lived_).first(std::min<std::size_t>(4, long_lived_.size())));
    }
    Draft d = b.op(shape.terminator);
    if (shape.terminator == Op::Exit && f_.kind == ir::FunctionKind::Device && random_.chance(90)) d = make_ret(b);
    if (shape.terminator == Op::CBra) {
      const bool uniform = b.has(RegFile::UP) && b.any_available(kUniformPred) && random_.chance(15);
      const VRegId p = b.pick(uniform ? kUniformPred : kPred);
      const bool negated = random_.chance(30);
      b.use(d, p, {}, {}, negated);
    }
    if (shape.terminator == Op::MBra) {
      const bool uniform = b.has(RegFile::UR) && random_.chance(20);
      b.use(d, uniform ? kUniform : kWord);
    }
    b.finish(std::move(d));
    body.terminator = std::move(body.insts.back());
    body.insts.pop_back();
  }

  // Instruction numbers: in order, with gaps, or in no order at all.
  std::vector<std::uint32_t> draw_ids(std::size_t count) {
    std::vector<std::uint32_t> ids(count);
    const auto r = random_.below(100);
    std::uint32_t next = 0;
    for (auto& id : ids) {
      if (r >= 90) next += random_.below(5);
      id = next++;
    }
    if (r >= 95) shuffle(random_, ids);
    return ids;
  }

  void write() {
    std::size_t count = 0;
    for (const Body& body : bodies_) count += body.phis.size() + body.insts.size() + 1;
    const std::vector<std::uint32_t> ids = draw_ids(count);
    const bool depths = random_.chance(60), frequencies = random_.chance(10), names = random_.chance(10);
    std::size_t next = 0;
    std::vector<ir::Operand> ops;
    std::vector<ir::BlockId> targets;
    for (std::size_t at = 0; at < bodies_.size(); ++at) {
      const Body& body = bodies_[at];
      ir::Block attributes;
      if (depths) attributes.depth = shape_.blocks[at].depth;
      if (frequencies) attributes.freq = 1 + random_.below(1000);
      if (names && random_.chance(50)) attributes.name = f_.symbols.intern("block");
      f_.begin_block(attributes);
      for (const Phi& phi : body.phis) {
        ops.assign(1, ir::Operand::of_vreg(ir::Role::Def, phi.def));
        targets.clear();
        for (const auto& [pred, value] : phi.incoming) {
          ops.push_back(ir::Operand::of_vreg(ir::Role::Use, value));
          targets.push_back(ir::BlockId(pred));
        }
        ir::Inst inst;
        inst.op = Op::Phi;
        inst.id = ir::InstId(ids[next++]);
        f_.append(inst, ops, targets);
      }
      for (const Proto& p : body.insts) {
        ir::Inst inst = p.inst;
        inst.id = ir::InstId(ids[next++]);
        f_.append(inst, {p.ops.data(), p.ops.size()});
      }
      targets.clear();
      for (const int t : shape_.blocks[at].targets) targets.push_back(ir::BlockId(t));
      ir::Inst last = body.terminator.inst;
      last.id = ir::InstId(ids[next++]);
      f_.append(last, {body.terminator.ops.data(), body.terminator.ops.size()}, targets);
    }
  }

  const ir::Target& target_;
  Random random_;
  Features features_;
  int size_;
  ir::Function f_;
  Shape shape_;
  std::vector<std::vector<int>> preds_;
  std::vector<Body> bodies_;
  std::vector<VRegId> long_lived_;
  int mean_ = 0;
  int sinks_ = 0;
};

}  // namespace

ir::Function generate(const GeneratorOptions& options) {
  const ir::Target* target = ir::find_target(options.target);
  REGDUEL_CHECK(target != nullptr, "no target " + options.target);
  return generate(options, *target);
}

ir::Function generate(const GeneratorOptions& options, const ir::Target& target) { return Generator(options, target).run(); }

}  // namespace regduel::generate
