#include "ir/ptx/print/lines.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regduel::ir::ptx {
namespace {

// The type of a register that holds so many bytes. One byte is in a register of two.
std::string type_of(int bytes) { return bytes == 0 ? "pred" : fmt::format("b{}", std::max(bytes, 2) * 8); }

}  // namespace

std::string braced(std::span<const std::string> names) { return fmt::format("{{{}}}", fmt::join(names, ", ")); }

Lines::Lines(const Function& f, std::vector<std::uint8_t> element_bytes) : f_(f), element_bytes_(std::move(element_bytes)) {}

void Lines::add(std::string_view instruction) {
  text_ += '\t';
  if (!guard_.empty()) text_ += fmt::format("@{} ", guard_);
  text_ += instruction;
  text_ += ";\n";
}

void Lines::add_bare(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

std::string Lines::temp(int bytes) {
  auto& all = temps_[static_cast<std::size_t>(bytes)];
  return all.emplace_back(fmt::format("%t{}_{}", bytes, all.size()));
}

std::string Lines::name(VRegId root, int element) const {
  const VReg& v = f_.vreg(root);
  const int bytes = element_bytes_[root.index()];
  return bytes == 0 || bytes >= v.bytes() ? fmt::format("%v{}", root.value) : fmt::format("%v{}_{}", root.value, element);
}

std::string Lines::predicate(const Operand& op) const { return (op.is_negated() ? "!" : "") + name(f_.root(op.vreg()), 0); }

std::vector<std::string> Lines::split(const std::string& whole, int whole_bytes, int bytes) {
  std::vector<std::string> pieces;
  if (bytes == 1 && whole_bytes > 8) {
    for (const std::string& half : split(whole, whole_bytes, 8))
      for (std::string& piece : split(half, 8, 1)) pieces.push_back(std::move(piece));
    return pieces;
  }
  for (int k = 0; k < whole_bytes / bytes; ++k) pieces.push_back(temp(bytes));
  if (bytes > 1) {
    add(fmt::format("mov.b{} {}, {}", whole_bytes * 8, braced(pieces), whole));
    return pieces;
  }
  for (int k = 0; k < whole_bytes; ++k) {
    const std::string shifted = temp(whole_bytes);
    add(fmt::format("shr.u{} {}, {}, {}", whole_bytes * 8, shifted, whole, k * 8));
    add(whole_bytes == 2 ? fmt::format("mov.b16 {}, {}", pieces[static_cast<std::size_t>(k)], shifted)
                         : fmt::format("cvt.u16.u{} {}, {}", whole_bytes * 8, pieces[static_cast<std::size_t>(k)], shifted));
  }
  return pieces;
}

std::string Lines::joined(std::span<const std::string> pieces, int bytes, int whole_bytes) {
  if (pieces.size() == 1) return pieces[0];
  if (bytes > 1) {
    std::string whole = temp(whole_bytes);
    add(fmt::format("mov.b{} {}, {}", whole_bytes * 8, whole, braced(pieces)));
    return whole;
  }
  if (whole_bytes > 8) {
    const std::string halves[] = {joined(pieces.first(8), 1, 8), joined(pieces.subspan(8), 1, 8)};
    return joined(halves, 8, 16);
  }
  std::string sum;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    std::string wide = temp(whole_bytes), shifted = temp(whole_bytes);
    if (whole_bytes == 2) add(fmt::format("and.b16 {}, {}, 255", wide, pieces[k]));
    else add(fmt::format("cvt.u{}.u8 {}, {}", whole_bytes * 8, wide, pieces[k]));
    add(fmt::format("shl.b{} {}, {}, {}", whole_bytes * 8, shifted, wide, k * 8));
    if (k == 0) {
      sum = std::move(shifted);
      continue;
    }
    std::string next = temp(whole_bytes);
    add(fmt::format("or.b{} {}, {}, {}", whole_bytes * 8, next, sum, shifted));
    sum = std::move(next);
  }
  return sum;
}

int Lines::piece_bytes(const Storage& s) const {
  const int own = element_bytes(s.root);
  return own == 0 ? 0 : std::gcd(own, std::gcd<int>(s.size, s.offset));
}

std::vector<std::string> Lines::read(const Storage& s, int bytes) {
  std::vector<std::string> names;
  const int own = element_bytes(s.root);
  if (own == 0) return {name(s.root, 0)};
  const int first = s.offset, end = s.offset + s.size;
  if (bytes <= own) {
    for (int e = first / own; e * own < end; ++e) {
      const auto pieces = bytes == own ? std::vector{name(s.root, e)} : split(name(s.root, e), own, bytes);
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        const int at = e * own + static_cast<int>(k) * bytes;
        if (at >= first && at < end) names.push_back(pieces[k]);
      }
    }
    return names;
  }
  for (int at = first; at < end; at += bytes) {
    std::vector<std::string> pieces;
    for (int k = 0; k < bytes / own; ++k) pieces.push_back(name(s.root, at / own + k));
    names.push_back(joined(pieces, own, bytes));
  }
  return names;
}

void Lines::write(const Storage& s, const std::vector<std::string>& names, int bytes) {
  const int own = element_bytes(s.root);
  if (own == 0) {
    if (names[0] != name(s.root, 0)) add(fmt::format("mov.pred {}, {}", name(s.root, 0), names[0]));
    return;
  }
  if (bytes >= own) {
    for (std::size_t n = 0; n < names.size(); ++n) {
      const int at = (s.offset + static_cast<int>(n) * bytes) / own;
      const auto pieces = bytes == own ? std::vector{names[n]} : split(names[n], bytes, own);
      for (std::size_t k = 0; k < pieces.size(); ++k)
        if (const std::string to = name(s.root, at + static_cast<int>(k)); to != pieces[k])
          add(fmt::format("mov.b{} {}, {}", std::max(own, 2) * 8, to, pieces[k]));
    }
    return;
  }
  std::size_t next = 0;
  for (int e = s.offset / own; e * own < s.offset + s.size; ++e) {
    const bool is_whole = s.offset <= e * own && (e + 1) * own <= s.offset + s.size;
    std::vector<std::string> pieces(static_cast<std::size_t>(own / bytes));
    if (!is_whole) pieces = split(name(s.root, e), own, bytes);
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const int at = e * own + static_cast<int>(k) * bytes;
      if (at >= s.offset && at < s.offset + s.size) pieces[k] = names[next++];
    }
    if (bytes > 1) add(fmt::format("mov.b{} {}, {}", own * 8, name(s.root, e), braced(pieces)));
    else add(fmt::format("mov.b{} {}, {}", own * 8, name(s.root, e), joined(pieces, bytes, own)));
  }
}

std::vector<std::string> Lines::destination(const Storage& s, int bytes) {
  const int own = element_bytes(s.root);
  if (own == 0) return {name(s.root, 0)};
  std::vector<std::string> names;
  if (bytes == own) {
    for (int at = s.offset; at < s.offset + s.size; at += bytes) names.push_back(name(s.root, at / own));
    return names;
  }
  for (int at = 0; at < s.size; at += bytes) names.push_back(temp(bytes));
  unsettled_.push_back({s, names, bytes});
  return names;
}

void Lines::settle() {
  for (const Unsettled& u : unsettled_) write(u.storage, u.names, u.bytes);
  unsettled_.clear();
}

void Lines::move(std::span<const Operand> defs, std::span<const Operand> uses) {
  int bytes = 16;
  bool overlap = false;
  for (const auto& side : {defs, uses})
    for (const Operand& op : side) {
      if (const int piece = piece_bytes(f_.storage(op)); piece != 0) bytes = std::gcd(bytes, piece);
    }
  for (const Operand& d : defs)
    for (const Operand& u : uses) overlap = overlap || f_.root(d.vreg()) == f_.root(u.vreg());
  // What needs no piece of a register moves whole.
  std::vector<std::string> names;
  for (const Operand& op : uses) {
    const Storage s = f_.storage(op);
    if (element_bytes(s.root) == 0) {
      std::string n = predicate(op);
      if (overlap) {
        add(fmt::format("mov.pred {}, {}", temp(0), n));
        n = temps_[0].back();
      }
      names.push_back(std::move(n));
      continue;
    }
    for (std::string& n : read(s, bytes)) {
      if (overlap) {
        std::string kept = temp(bytes);
        add(fmt::format("mov.b{} {}, {}", std::max(bytes, 2) * 8, kept, n));
        n = std::move(kept);
      }
      names.push_back(std::move(n));
    }
  }
  std::size_t next = 0;
  for (const Operand& op : defs) {
    const Storage s = f_.storage(op);
    const std::size_t n = element_bytes(s.root) == 0 ? 1u : static_cast<std::size_t>(s.size / bytes);
    write(s, {names.begin() + static_cast<std::ptrdiff_t>(next), names.begin() + static_cast<std::ptrdiff_t>(next + n)}, bytes);
    next += n;
  }
}

std::string Lines::declarations() const {
  std::string text;
  for (std::size_t v = 0; v < f_.vregs.size(); ++v) {
    const VRegId id(v);
    if (f_.vreg(id).alias.is_valid()) continue;
    const int own = element_bytes_[v], elements = own == 0 ? 1 : std::max(1, f_.vreg(id).bytes() / own);
    for (int e = 0; e < elements; ++e) text += fmt::format("\t.reg .{} {};\n", type_of(own), name(id, e));
  }
  for (int bytes = 0; bytes <= 16; ++bytes)
    if (const std::size_t n = temps_[bytes].size(); n > 0) text += fmt::format("\t.reg .{} %t{}_<{}>;\n", type_of(bytes), bytes, n);
  return text;
}

}  // namespace regduel::ir::ptx
