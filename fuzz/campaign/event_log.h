// What a campaign saw, as it saw it: a file to which the coordinator and every worker add lines of JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace regduel::fuzz {

class EventLog {
 public:
  // path   "" = no log. Throws BadInput where the file can't be written.
  explicit EventLog(const std::string& path);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Adds a line, with the time. A line is written in one piece, as several processes write to the file. Where it can't be written,
  // stderr says so, once a process.
  void add(nlohmann::json line) const;

 private:
  std::string path_;
  int file_ = -1;
  mutable bool lacks_lines_ = false;
};

}  // namespace regduel::fuzz
