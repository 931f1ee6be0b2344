// See pass_scope.h.

#include "ir/pass_scope.h"

#include "ir/text/text.h"

namespace regduel::ir {

void PassScope::begin(std::string_view name, const Function* before) {
  at_ = log_->passes.size();
  PassRecord& pass = log_->passes.emplace_back();
  pass.name = name;
  pass.depth = log_->depth++;
  if (before != nullptr) {
    pass.before = pass.after = ProgramSize::of(*before);
    if (log_->has_dumps) pass.text_before = print(*before);
  }
  start_ = std::chrono::steady_clock::now();
}

void PassScope::record(const Function& after) {
  PassRecord& pass = log_->passes[at_];
  pass.after = ProgramSize::of(after);
  if (log_->has_dumps) pass.text_after = print(after);
}

void PassScope::end() {
  log_->passes[at_].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  --log_->depth;
}

}  // namespace regduel::ir
