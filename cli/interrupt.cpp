// See interrupt.h. Tested by cli_test.cpp.
#include "cli/interrupt.h"

namespace regduel::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = 1; }

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
  ::sigaction(SIGHUP, &action, &old_hangup_);
  if (old_hangup_.sa_handler == SIG_IGN) ::sigaction(SIGHUP, &old_hangup_, nullptr);  // nohup
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  ::sigaction(SIGHUP, &old_hangup_, nullptr);
}

bool Interrupt::is_asked_for() const { return interrupted != 0; }

}  // namespace regduel::cli
