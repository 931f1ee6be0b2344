#include "ir/uniform_forms.h"

namespace regduel::ir {
namespace {

// Names with one space between them; one with a star at the end stands for all that begin so.
struct Row {
  int since;
  std::string_view names;
};

constexpr int kUniformPath = 75, kNoConstantBank = 90;
constexpr char kPrefix = '*';

// Integers and predicates from sm_75 on; minima, maxima and single precision from sm_100 on.
constexpr Row kForms[] = {
    {75,
     "const copy mov.b32 mov.u32 mov.s32 mov.b64 mov.u64 mov.s64 ld.param.* cvta.to.* cvt.u64.u32 cvt.s64.s32 cvt.u32.u64 "
     "cvt.s32.s64"},
    {75, "add.s32 add.u32 add.s64 add.u64 sub.s32 sub.u32 sub.s64 sub.u64 neg.s32 neg.s64"},
    {75,
     "mul.lo.s32 mul.lo.u32 mul.wide.s32 mul.wide.u32 mul.lo.s64 mul.lo.u64 mad.lo.s32 mad.lo.u32 mad.wide.s32 mad.wide.u32 "
     "mad.lo.s64"},
    {75,
     "and.b32 or.b32 xor.b32 not.b32 and.b64 or.b64 xor.b64 not.b64 lop3.b32 shl.b32 shr.u32 shr.s32 shl.b64 shr.u64 shr.s64 "
     "prmt.b32"},
    {75,
     "setp.eq.s32 setp.ne.s32 setp.lt.s32 setp.le.s32 setp.gt.s32 setp.ge.s32 setp.eq.u32 setp.ne.u32 setp.lt.u32 setp.le.u32 "
     "setp.gt.u32 setp.ge.u32 setp.eq.b32 setp.ne.b32 setp.eq.s64 setp.ne.s64 setp.lt.s64 setp.le.s64 setp.gt.s64 setp.ge.s64 "
     "setp.eq.u64 setp.ne.u64 setp.lt.u64 setp.le.u64 setp.gt.u64 setp.ge.u64"},
    {75, "selp.b32 selp.s32 selp.u32 selp.b64 selp.s64 selp.u64 and.pred or.pred xor.pred not.pred popc.b32 brev.b32 bfind.u32"},
    {100, "min.s32 min.u32 max.s32 max.u32 abs.s32"},
    {100,
     "add.f32 add.rn.f32 sub.f32 mul.f32 mul.rn.f32 fma.rn.f32 min.f32 max.f32 neg.f32 abs.f32 cvt.rn.f32.s32 cvt.rn.f32.u32 "
     "selp.f32"},
};
// VOTEU; REDUX.
constexpr Row kVotes[] = {{75, "vote.sync.*"}, {80, "redux.sync.*"}};
constexpr Row kOperands[] = {
    {70,
     "add.s32 add.u32 add.s64 add.u64 sub.s32 sub.u32 sub.s64 sub.u64 mul.lo.* mul.hi.* mul.wide.* mad.lo.* mad.hi.* mad.wide.*"},
    {70,
     "and.b* or.b* xor.b* lop3.* shl.* shr.* shf.* prmt.* setp.* selp.* min.* max.* add.f* add.rn.* sub.f* sub.rn.* mul.f* "
     "mul.rn.* fma.*"},
};
constexpr Row kAddresses[] = {{75, "ld.global.* ld.shared.* ld.local.* st.global.* st.shared.* st.local.*"}};

bool lists(const Row& row, int sm, std::string_view mnemonic) {
  if (sm < row.since) return false;
  for (std::string_view rest = row.names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(rest.size() == name.size() ? name.size() : name.size() + 1);
    if (name == mnemonic || (!name.empty() && (name.back() == kPrefix) && mnemonic.starts_with(name.substr(0, name.size() - 1))))
      return true;
  }
  return false;
}
template <class Rows>
bool any(const Rows& rows, int sm, std::string_view mnemonic) {
  for (const Row& row : rows)
    if (lists(row, sm, mnemonic)) return true;
  return false;
}

}  // namespace

bool has_uniform_form(int sm, std::string_view mnemonic) { return any(kForms, sm, mnemonic); }
bool votes_into_uniform(int sm, std::string_view mnemonic) { return any(kVotes, sm, mnemonic); }
bool takes_uniform_operand(int sm, std::string_view mnemonic) { return any(kOperands, sm, mnemonic); }
bool takes_constant_bank(int sm, std::string_view mnemonic) { return sm < kNoConstantBank && takes_uniform_operand(sm, mnemonic); }
bool takes_uniform_address(int sm, std::string_view mnemonic) { return sm >= kUniformPath && any(kAddresses, sm, mnemonic); }

}  // namespace regduel::ir
