// Messages between the coordinator of a campaign and its workers: JSON documents, with bytes in them, framed on a socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace regduel::fuzz {

class Channel {
 public:
  explicit Channel(int fd = -1) : fd_(fd) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  // Waits until all of it is on its way. False where the other end is closed.
  bool send(const nlohmann::json& message);
  // Waits for one message. nullopt where the other end is closed.
  [[nodiscard]] std::optional<nlohmann::json> receive();
  // Takes in what has come without waiting; false at the end. next() then gives it message by message.
  bool fill();
  [[nodiscard]] std::optional<nlohmann::json> next();

 private:
  int fd_;
  std::vector<std::uint8_t> in_;
  std::size_t read_ = 0;  // of in_
};

// The two ends of a new one.
[[nodiscard]] std::pair<Channel, Channel> make_channel();

// Bytes in a message.
[[nodiscard]] inline nlohmann::json to_message(const std::vector<std::uint8_t>& bytes) { return nlohmann::json::binary(bytes); }
[[nodiscard]] inline std::vector<std::uint8_t> bytes_of(const nlohmann::json& message) { return message.get_binary(); }

}  // namespace regduel::fuzz
