// See event_log.h. Tested by campaign_test.cpp (AKilledCampaignHasLostNothing, ALogWithoutRoomSaysSoOnce).
#include "fuzz/campaign/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bad_input.h"

namespace regduel::fuzz {

EventLog::EventLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) throw BadInput(fmt::format("error: {}: {}", path, std::strerror(errno)));
}

EventLog::~EventLog() {
  if (file_ >= 0) ::close(file_);
}

void EventLog::add(const char* event, std::string_view what) const {
  if (file_ < 0) return;
  const double time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string text = nlohmann::json{{event, what}, {"time", time}}.dump() + "\n";
  const ::ssize_t written = ::write(file_, text.data(), text.size());
  if (written == static_cast<::ssize_t>(text.size()) || lacks_lines_) return;
  fmt::print(stderr, "warning: {}: {}: the log lacks lines from here on\n", path_, std::strerror(written < 0 ? errno : ENOSPC));
  lacks_lines_ = true;
}

}  // namespace regduel::fuzz
