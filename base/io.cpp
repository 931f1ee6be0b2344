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

// A pipe, terminal or device is written in place: there is no half-written file to protect. Nor is there in /dev and /proc, where
// what looks like a file may be a descriptor (/dev/stdout).
bool is_special(const std::string& path) {
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return true;
  struct stat s = {};
  return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode);
}

// The file itself, where the path is a link to it.
std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto file = std::filesystem::weakly_canonical(path, error);
  return error ? path : file.string();
}

// Beside the file, with a name that is not too long where that of the file is not.
std::string temporary_for(const std::string& path) {
  const std::filesystem::path file(path);
  return (file.parent_path() / fmt::format("{}.tmp.{}", file.filename().string().substr(0, 200), ::getpid())).string();
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
    const bool is_output = path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
    const int fd = is_output ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !write_all(fd, bytes)) {
      const std::string why = reason(path);
      if (fd > STDERR_FILENO) ::close(fd);
      return std::unexpected(why);
    }
    if (fd != STDOUT_FILENO && ::close(fd) != 0) return std::unexpected(reason(path));
    return {};
  }
  const std::string file = behind_links(path), temporary = temporary_for(file);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return std::unexpected(reason(path));
  if (struct stat old = {}; ::stat(file.c_str(), &old) == 0) (void)::fchmod(fd, old.st_mode & 07777);
  const bool written = write_all(fd, bytes) && ::fsync(fd) == 0;
  const int write_errno = errno;
  const bool closed = ::close(fd) == 0;
  if (!written) errno = write_errno;
  if (!written || !closed || ::rename(temporary.c_str(), file.c_str()) != 0) {
    const std::string why = reason(path);
    ::unlink(temporary.c_str());
    return std::unexpected(why);
  }
  return {};
}

}  // namespace regduel
