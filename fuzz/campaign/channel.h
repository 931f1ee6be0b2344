// A socket between the coordinator of a campaign and a worker, for messages (messages.h), each behind its length.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace regduel::fuzz {

using Message = std::vector<std::uint8_t>;

class Channel {
 public:
  explicit Channel(int fd = -1) : fd_(fd) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  // Waits until all of the message is on its way. False where the other end is closed.
  bool send(const Message& message);
  // Waits for one message. nullopt where the other end is closed.
  [[nodiscard]] std::optional<Message> receive();
  // Takes in all bytes that have come, without waiting; false where the other end is closed. next() then gives them message by message.
  bool fill();
  [[nodiscard]] std::optional<Message> next();

 private:
  bool take_in(int flags);

  int fd_;
  std::vector<std::uint8_t> in_;
  std::size_t read_ = 0;  // of in_
};

// The two ends of a new one.
[[nodiscard]] std::pair<Channel, Channel> make_channel();

}  // namespace regduel::fuzz
