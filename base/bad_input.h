// What a person asked for, or the file that they gave, cannot be used: one clear line that says so.
#pragma once

#include <stdexcept>

namespace regduel {

class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace regduel
