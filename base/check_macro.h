// The one check macro: a broken invariant of our own code, on in every build. The macro throws InternalError, which the
// command line turns into exit status 3 and a fuzz target into a crash. Bad *input* never comes this way.
#pragma once

#include <stdexcept>
#include <string>

namespace regduel {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& message);

}  // namespace regduel

// REGDUEL_CHECK(condition, message): message is anything that converts to std::string, evaluated on failure only.
#define REGDUEL_CHECK(condition, message)                                            \
  do {                                                                               \
    if (!(condition)) [[unlikely]]                                                   \
      ::regduel::fail_check(__FILE__, __LINE__, #condition, ::std::string(message)); \
  } while (false)
