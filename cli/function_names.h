// Names of functions as people and file systems want them. Tested by function_names_test.cpp.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace regduel::cli {

// "void k<int>(int*)" for "_Z1kIiEvPi"; a name that is none of the C++ ABI's as it is.
[[nodiscard]] std::string demangled(std::string_view name);

// File names, without their extension, for the functions of one directory. Letters, digits, '_', '.' and '-' stay, any other byte
// becomes '_'; what is longer than kMostBytes keeps its beginning and ends in a hash of the whole name; what is there already gets
// a number. Different names have different file names.
class FileNames {
 public:
  static constexpr std::size_t kMostBytes = 200;
  [[nodiscard]] std::string of(std::string_view name);

 private:
  std::set<std::string> taken_;
};

}  // namespace regduel::cli
