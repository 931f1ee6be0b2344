// A lock on one campaign of a database, so that two processes do not try the same programs and overwrite each other's place.
//
// The file DATABASE-lock stands beside the database while a campaign runs. Each campaign, by its seed and mode, locks a byte of it, so that
// others may run in the same database. The kernel frees the lock where the process dies. Tested by campaign_test.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace regduel::fuzz {

class SessionLock {
 public:
  // Throws BadInput: another process runs this campaign. Where no file can be made nothing is locked.
  SessionLock(const std::string& database, std::uint64_t seed, const std::string& mode);
  ~SessionLock();
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace regduel::fuzz
