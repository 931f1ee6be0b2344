// The exception for a command line or an input file that cannot be used; what() is one clear line.
#pragma once

#include <stdexcept>

namespace regduel {

class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace regduel
