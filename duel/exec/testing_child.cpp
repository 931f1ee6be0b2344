// A child that does what it is told, in order or not: `testing_child BEHAVIOUR`. The tests of external allocators run it, and
// scripts that measure what the protocol costs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "example/regduel_child.h"

namespace {

using regduel_child::Request;
using regduel_child::write_frame;

// Writes "allocated" behind the phase's place in a program without vregs that need a register: what `plain` is asked about.
std::string allocated(const std::string& text) {
  const std::size_t func = text.find("\nfunc ") + 1, end = text.find('\n', func);
  return text.substr(0, end) + " allocated" + text.substr(end);
}

void flood() {
  const std::string much(1 << 20, 'x');
  std::printf("allocated 1 99999999999\n");
  for (;;) std::fwrite(much.data(), 1, much.size(), stdout);
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

// A process that leaves its session and lives on.
void daemon_that_stays() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  wait_for_ever();
}

void behave(std::string_view how, const Request& r, int count) {
  const auto say = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  if (how == "unsupported") write_frame("unsupported", r.number, "nothing is");
  else if (how == "impossible") write_frame("impossible", r.number, "it does not fit");
  else if (how == "plain") write_frame("allocated", r.number, allocated(r.text));
  else if (how == "crash") std::fprintf(stderr, "about to\ncrash\n"), std::raise(SIGSEGV);
  else if (how == "terminated") std::raise(SIGTERM);
  else if (how == "exit") std::exit(3);
  else if (how == "exit-0") std::exit(0);
  else if (how == "every-second-crashes" && count % 2 == 0) std::abort();
  else if (how == "every-second-crashes") write_frame("unsupported", r.number, "for once");
  else if (how == "hang") wait_for_ever();
  else if (how == "spin")
    for (std::atomic<int> k = 0;;) ++k;
  else if (how == "ignores-signals") {
    for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
    wait_for_ever();
  } else if (how == "half") say("allocated 1 100\nrir 1\n"), wait_for_ever();
  else if (how == "half-and-exit") say("allocated 1 100\nrir 1\n"), std::exit(0);
  else if (how == "closed") say("allo"), ::close(STDOUT_FILENO), wait_for_ever();
  else if (how == "flood") flood();
  else if (how == "too-large") say("allocated 1 99999999999\n"), wait_for_ever();
  else if (how == "floods-stderr") {
    const std::string line(4095, 'e');
    for (int k = 0; k < 5000; ++k) std::fprintf(stderr, "%s%d\n", line.c_str(), k % 10);
    std::fprintf(stderr, "the end\n");
    std::abort();
  } else if (how == "garbage") say("Hello world!\n"), wait_for_ever();
  else if (how == "binary") say(std::string_view("\0\xFF\x80\n\x1B[2J", 8)), wait_for_ever();
  else if (how == "wrong-number") write_frame("allocated", r.number + 1, allocated(r.text));
  else if (how == "wrong-word") write_frame("done", r.number, "");
  else if (how == "twice") say("unsupported 1 3\nonehello 1 1\nx");
  else if (how == "late-words") write_frame("unsupported", r.number, "one"), ::usleep(50'000), say("two\n");
  else if (how == "no-program") write_frame("allocated", r.number, "rir 1\n");
  else if (how == "not-allocated") write_frame("allocated", r.number, r.text);
  else if (how == "no-rir") write_frame("allocated", r.number, "func @f\n");
  else if (how == "other-program")
    write_frame("allocated", r.number, "rir 1\nfunc @g kernel target sm_90 threads 1 allocated\n  block b0\n    #77 exit\n");
  else if (how == "memory") {
    std::vector<char*> all;
    for (;;) {
      char* const some = static_cast<char*>(std::malloc(std::size_t{64} << 20));
      if (some == nullptr) std::fprintf(stderr, "no memory\n"), std::exit(4);
      std::memset(some, 1, std::size_t{64} << 20);
      all.push_back(some);
    }
  } else if (how == "daemon") daemon_that_stays(), write_frame("unsupported", r.number, "a daemon stays");
  else if (how == "kills-group") ::kill(0, SIGKILL);
  else if (how == "kills-parent") ::kill(::getppid(), SIGKILL), wait_for_ever();
  else if (how == "stops") std::raise(SIGSTOP);
  else if (how == "closes-stdin") ::close(STDIN_FILENO), write_frame("unsupported", r.number, "deaf");
  else if (how == "tells-knobs") {  // what it was told, as its reason
    std::string told;
    for (const char* key : {"knob", "fuel"}) told += std::string(key) + "=" + regduel_child::comment(r.text, key) + ";";
    write_frame("unsupported", r.number, told);
  } else if (how == "fuel") {  // may take three decisions; the third is bad: it forgets to say "allocated" in a program
    const std::string limit = regduel_child::comment(r.text, "fuel");
    const int may = limit.empty() ? 3 : std::min(3, std::atoi(limit.c_str()));
    const std::string head =
        "// spent: " + std::to_string(may) + (may < 3 ? "\n// refused: decision-" + std::to_string(may + 1) : "") + "\n";
    write_frame("allocated", r.number, head + (may == 3 ? "func func\n" : allocated(r.text)));
  } else if (how == "overspends") write_frame("allocated", r.number, "// spent: 1000000\n" + allocated(r.text));
  else write_frame("unsupported", r.number, "no such behaviour");
}

// regduel with --exec-protocol files: the last two arguments are paths.
int run_on_files(std::string_view how, const char* input, const char* output) {
  std::string text;
  std::FILE* in = std::fopen(input, "r");
  for (int c = 0; in != nullptr && (c = std::fgetc(in)) != EOF;) text += static_cast<char>(c);
  if (how == "no-output") return 0;
  if (how == "fifo") return ::mkfifo(output, 0600);
  if (how == "link") return ::symlink("/dev/zero", output);
  if (how == "exit") return 3;
  if (how == "hang") wait_for_ever();
  std::FILE* out = std::fopen(output, "w");
  if (how == "plain") text = allocated(text);
  if (how == "impossible") text = "impossible it does not fit\n";
  if (how == "unsupported") text = "unsupported nothing is\n";
  std::fputs(text.c_str(), out);
  std::fclose(out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "unsupported";
  if (argc >= 4) return run_on_files(how, argv[argc - 2], argv[argc - 1]);
  const std::string hello = "name: testing-child\nversion: 1\n";
  if (how == "exits-before-hello") std::fprintf(stderr, "no licence\n"), std::exit(5);
  if (how == "no-hello") wait_for_ever();
  if (how == "garbage-hello") std::printf("usage: ...\n"), std::fflush(stdout), wait_for_ever();
  if (how == "other-version") write_frame("hello", 2, hello), wait_for_ever();
  if (how == "nameless-hello") write_frame("hello", 1, "fuel: no\n"), wait_for_ever();
  if (how == "bad-knob-hello") write_frame("hello", 1, hello + "knob: x\n"), wait_for_ever();
  if (how == "second-hello-fails") {
    const int once = ::open(argv[2], O_CREAT | O_EXCL, 0600);
    if (once < 0) std::exit(6);
  }
  const bool knows = how == "tells-knobs";
  write_frame("hello", 1,
              hello + (knows ? "knob: depth int 3 1,2,7 How deep it looks\n" : "") +
                  (knows || how == "fuel" || how == "overspends" ? "fuel: yes\n" : ""));
  int count = 0;
  for (Request request; regduel_child::read_request(request);)
    behave(how == "second-hello-fails" ? "crash" : how, request, ++count);
  if (how == "ignores-end") wait_for_ever();
}
