// Ctrl-C, SIGTERM and a terminal that is closed (SIGHUP) as a wish that long work asks about, so that it can keep what it has.
#pragma once

#include <csignal>

namespace regduel::cli {

// From its making to its end the three signals set a flag instead of ending the process. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  [[nodiscard]] bool is_asked_for() const;

 private:
  struct sigaction old_int_ = {}, old_term_ = {}, old_hangup_ = {};
};

}  // namespace regduel::cli
