#include "base/io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace regduel {
namespace {

std::string reason(const std::string& path) { return fmt::format("{}: {}", path, std::strerror(errno)); }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// A pipe, terminal or device is written in place: there is no half-written file to protect.
bool is_special(const std::string& path) {
  struct stat s = {};
  return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode);
}

}  // namespace

std::expected<std::string, std::string> read_file(const std::string& path) {
  const int fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(reason(path));
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const std::string why = reason(path);
      if (fd != STDIN_FILENO) ::close(fd);
      return std::unexpected(why);
    }
    if (n == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
  if (fd != STDIN_FILENO) ::close(fd);
  return bytes;
}

std::expected<void, std::string> write_file(const std::string& path, std::string_view bytes) {
  if (path == "-" || is_special(path)) {
    const int fd = path == "-" ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !write_all(fd, bytes)) {
      const std::string why = reason(path);
      if (fd > STDERR_FILENO) ::close(fd);
      return std::unexpected(why);
    }
    if (fd != STDOUT_FILENO && ::close(fd) != 0) return std::unexpected(reason(path));
    return {};
  }
  const std::string temporary = fmt::format("{}.tmp.{}", path, ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return std::unexpected(reason(path));
  const bool written = write_all(fd, bytes) && ::fsync(fd) == 0;
  const int write_errno = errno;
  const bool closed = ::close(fd) == 0;
  if (!written) errno = write_errno;
  if (!written || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = reason(path);
    ::unlink(temporary.c_str());
    return std::unexpected(why);
  }
  return {};
}

}  // namespace regduel
