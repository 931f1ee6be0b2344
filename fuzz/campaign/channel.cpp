// See channel.h. The length of a message has four bytes, little-endian. Tested by campaign_test.cpp.
#include "fuzz/campaign/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"

namespace regduel::fuzz {
namespace {

constexpr std::size_t kHead = 4;

}  // namespace

Channel::~Channel() {
  if (fd_ >= 0) ::close(fd_);
}
Channel::Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)), in_(std::move(other.in_)), read_(other.read_) {}
Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(in_, other.in_);
  std::swap(read_, other.read_);
  return *this;
}

bool Channel::send(const Message& message) {
  Message bytes;
  for (std::size_t k = 0; k < kHead; ++k) bytes.push_back(static_cast<std::uint8_t>(message.size() >> (8 * k)));
  bytes.insert(bytes.end(), message.begin(), message.end());
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Message> Channel::next() {
  if (in_.size() - read_ < kHead) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t k = 0; k < kHead; ++k) size |= static_cast<std::size_t>(in_[read_ + k]) << (8 * k);
  if (in_.size() - read_ < kHead + size) return std::nullopt;
  const auto first = in_.begin() + static_cast<std::ptrdiff_t>(read_ + kHead);
  Message message(first, first + static_cast<std::ptrdiff_t>(size));
  read_ += kHead + size;
  if (read_ == in_.size()) {
    in_.clear();
    read_ = 0;
  }
  return message;
}

std::optional<Message> Channel::receive() {
  for (;;) {
    if (auto message = next()) return message;
    if (!take_in(0)) return std::nullopt;
  }
}

bool Channel::fill() {
  while (take_in(MSG_DONTWAIT)) {
  }
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

// Takes in what one call gives. False at the end, and where none is there and it may not wait: errno says which, 0 = the end.
bool Channel::take_in(int flags) {
  std::array<std::uint8_t, 65536> buffer;
  ssize_t n = 0;
  do n = ::recv(fd_, buffer.data(), buffer.size(), flags);
  while (n < 0 && errno == EINTR);
  if (n == 0) errno = 0;
  if (n <= 0) return false;
  in_.insert(in_.end(), buffer.begin(), buffer.begin() + n);
  return true;
}

std::pair<Channel, Channel> make_channel() {
  std::array<int, 2> fds = {};
  REGDUEL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0,
                fmt::format("no socket: {}", std::strerror(errno)));
  return {Channel(fds[0]), Channel(fds[1])};
}

}  // namespace regduel::fuzz
