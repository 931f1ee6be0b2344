// The events of a campaign as they happen, in a file to which the coordinator and every worker add lines of JSON.
#pragma once

#include <string>
#include <string_view>

namespace regduel::fuzz {

class EventLog {
 public:
  // path   "" = no log. Throws BadInput where the file can't be written.
  explicit EventLog(const std::string& path);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Adds a line with the time: {"EVENT": WHAT, "time": SECONDS}. A line is written in one piece, as several processes write to the file. Where
  // the file takes no more, stderr says so, once a process.
  void add(const char* event, std::string_view what) const;

 private:
  std::string path_;
  int file_ = -1;
  mutable bool lacks_lines_ = false;
};

}  // namespace regduel::fuzz
