// Whole files in and out. Writing goes to a temporary file in the same directory which is then renamed, so that a
// reader never sees half a file and a full disk leaves the old one untouched.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace regduel {

// "-" reads standard input. The error is one line that names the path and the reason.
[[nodiscard]] std::expected<std::string, std::string> read_file(const std::string& path);
// "-" writes standard output.
[[nodiscard]] std::expected<void, std::string> write_file(const std::string& path, std::string_view bytes);

}  // namespace regduel
