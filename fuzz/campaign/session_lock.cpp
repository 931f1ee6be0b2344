// See session_lock.h.
#include "fuzz/campaign/session_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/bad_input.h"

namespace regduel::fuzz {
namespace {

struct flock bytes_of(short type, std::int64_t first, std::int64_t count) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return lock;
}

}  // namespace

SessionLock::SessionLock(const std::string& database, std::uint64_t seed, const std::string& mode) : path_(database + "-lock") {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return;  // nothing can be written there, which the database will say of itself
  const auto byte = static_cast<std::int64_t>(seed % (std::uint64_t{1} << 60) * 2 + (mode == "mix" ? 1 : 0));
  struct flock mine = bytes_of(F_WRLCK, byte, 1);
  if (::fcntl(fd_, F_SETLK, &mine) == 0) return;
  const int why = errno;
  struct flock other = bytes_of(F_WRLCK, byte, 1);
  const bool is_known = ::fcntl(fd_, F_GETLK, &other) == 0 && other.l_type != F_UNLCK;
  ::close(fd_);
  if (why != EACCES && why != EAGAIN) throw BadInput(fmt::format("error: {}: {}", path_, std::strerror(why)));
  throw BadInput(fmt::format("error: {}: a campaign of seed {} runs in it already{}; another --seed may run beside it", database,
                             seed, is_known ? fmt::format(" (process {})", other.l_pid) : ""));
}

SessionLock::~SessionLock() {
  if (fd_ < 0) return;
  struct flock all = bytes_of(F_WRLCK, 0, 0);
  if (::fcntl(fd_, F_GETLK, &all) == 0 && all.l_type == F_UNLCK) ::unlink(path_.c_str());  // no other campaign has it locked
  ::close(fd_);
}

}  // namespace regduel::fuzz
