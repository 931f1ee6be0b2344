// The dictionaries of the text targets, targets/dictionaries/: made here from the tables of the readers and of the command line, as
// they stand in the sources, so that a new keyword is in them; scripts/update-golden rewrites them. And: every line is what
// libFuzzer and AFL++ read.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/io.h"
#include "base/testing.h"
#include "ir/registers.h"
#include "ir/target.h"
#include "ir/text/text.h"

namespace regduel::targets {
namespace {

using Words = std::vector<std::string>;

// The sources folder/prefix*.cpp, tests apart, one after the other.
std::string sources(const std::string& folder, const std::string& prefix) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(REGDUEL_SOURCE_DIR) / folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".cpp") && !name.ends_with("_test.cpp")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  for (const std::string& path : paths) text += read_file(path).value();
  return text;
}

// The first group of each match, sorted, each once.
Words words_in(const std::string& text, std::initializer_list<const char*> patterns) {
  std::set<std::string> words;
  for (const char* pattern : patterns) {
    const std::regex regex(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) words.insert((*it)[1].str());
  }
  EXPECT_FALSE(words.empty());
  return {words.begin(), words.end()};
}

std::string between(const std::string& text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from), end = text.find(to, begin);
  EXPECT_NE(end, std::string::npos) << from;
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

class Dictionary {
 public:
  explicit Dictionary(const std::string& what) : text_(fmt::format("# {} Made by dictionaries_test.cpp.\n", what)) {}

  void add(std::string_view title, const Words& words, const std::string& prefix = "") {
    text_ += fmt::format("\n# {}\n", title);
    for (const std::string& word : words)
      if (const std::string whole = prefix + word; seen_.insert(whole).second) text_ += '"' + escaped(whole) + "\"\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string escaped(const std::string& word) {
    std::string out;
    for (const char c : word) {
      if (c == '"' || c == '\\') out += '\\';
      if (c >= ' ' && c <= '~') out += c;
      else out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
    return out;
  }
  std::string text_;
  std::set<std::string> seen_;
};

std::string rir_text() {
  const std::string reader = sources("ir/text", "parse");
  Dictionary d("Words of RIR text (ir/FORMAT.md).");
  Words keywords = words_in(reader, {R"re((?:accept_word|expect_word)\("([^"]+)")re", R"re(word == "([^"]+)")re"});
  for (const auto& [flag, word] : ir::kFlagKeywords) keywords.emplace_back(word);
  std::sort(keywords.begin(), keywords.end());
  d.add("keywords", keywords);
  Words ops, types, targets;
  for (const ir::Opcode& o : ir::kOpcodes)
    if (!o.keyword.empty()) ops.emplace_back(o.keyword);
  d.add("opcodes", ops);
  d.add("register classes and files",
        words_in(between(sources("ir", "registers"), "kClassNames", "}  // namespace"), {R"re("(\w+)")re"}));
  for (const char* bits : {"8", "16", "32", "64", "96", "128", "256"})
    for (const char* kind : {"b", "s", "u", "f"}) types.emplace_back(std::string(kind) + bits);
  d.add("types", types);
  for (const ir::Target& target : ir::targets()) targets.push_back(target.name);
  d.add("targets", targets);
  d.add("punctuation and numbers", {"->",
                                    "@%",
                                    "@!%",
                                    "{=",
                                    "{tied 0}",
                                    "{early}",
                                    "{inout}",
                                    ".lo",
                                    ".hi",
                                    ".b1",
                                    ".h1",
                                    ".w1",
                                    ".d1",
                                    ".q1",
                                    " = ",
                                    ", ",
                                    "slot 0",
                                    "#0",
                                    "+1",
                                    "%0",
                                    "b0",
                                    "R0:R3",
                                    "clobbers R0",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "255",
                                    "256",
                                    "65535",
                                    "4294967295",
                                    "!",
                                    "\n",
                                    "\""});
  return d.text();
}

std::string ptx() {
  const std::string reader = sources("ir/ptx", "");
  Dictionary d("Words of PTX, as ir/ptx_*.cpp know them.");
  d.add("directives", words_in(reader, {R"re("(\.[a-z_][a-z_0-9]*)")re"}));
  d.add("types", {".b8", ".b16", ".b32", ".b64", ".b128", ".u32", ".s32", ".f32", ".f64", ".pred", ".v2", ".v4", ".v8"});
  d.add("opcodes", words_in(between(sources("ir/ptx", "opcodes"), "kRows[]", "};"), {R"re([ "]((?!k[A-Z])[a-z]\w+)(?=[ "]))re"}));
  d.add("parts of opcodes, and other words",
        words_in(reader, {R"re((?:==|has\() ?"([A-Za-z_0-9:]+)")re", R"re("(\w+)", \{TypeKind)re"}));
  d.add("special registers", words_in(between(sources("ir/ptx", "names"), "kSpecialRegisters", "};"), {R"re("(\w+)")re"}), "%");
  d.add("punctuation and numbers", {"@%p1 ",
                                    "@!%p1 ",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    "(",
                                    ")",
                                    ";",
                                    ", ",
                                    "<",
                                    ">",
                                    "//",
                                    "/*",
                                    "*/",
                                    "::",
                                    "|",
                                    "+",
                                    "-0",
                                    "0x",
                                    "0f3F800000",
                                    "0d3FF0000000000000",
                                    "0xFFFFFFFFFFFFFFFF",
                                    "18446744073709551616",
                                    "%r<4>",
                                    "\n",
                                    "\""});
  return d.text();
}

std::string cli_args() {
  const std::string commands = sources("cli", "") + read_file(REGDUEL_SOURCE_DIR "/cli/commands.inc").value();
  Dictionary d("Words of the command line; an input of the target cli_args is one argument a line.");
  d.add("commands", words_in(commands, {R"re(REGDUEL_COMMAND\((\w+), ")re"}));
  d.add("options", words_in(commands, {R"re(a\.(?:option|flag)\(\s*"(-[\w-]+))re", R"re(a\.(?:option|flag)\(\s*"[^"]*,(-[\w-]+))re",
                                       R"re(set_version_flag\(\s*"(--[\w-]+))re"}));
  d.add("allocators", {"fatpoint", "briggs", "classic", "cicc", "exact", "exact-split", "chaitin-briggs", "irc", "pbqp",
                       "linear-scan", "chordal"});
  d.add("values",
        {"--help", "--",   "R=16",  "P=7", "24,32,64,255", "sm_90",      "90", "0", "1", "-1", "18446744073709551616", "1e9",
         "nan",    "true", "false", "-",   "60s",          "corpus/ptx", "%0", "=", ",", "\n"});
  return d.text();
}

// The entry of a line as libFuzzer reads it (FuzzerUtil.cpp, ParseOneDictionaryEntry): [NAME=]"…", in it \\ \" \xHH; nullopt where
// it would refuse.
std::optional<std::string> parse_entry(const std::string& line) {
  const std::size_t first = line.find('"'), last = line.rfind('"');
  if (first == std::string::npos || first == last || last + 1 != line.size()) return std::nullopt;
  std::string out;
  for (std::size_t k = first + 1; k < last; ++k) {
    const char c = line[k];
    if (c < ' ' || c > '~' || c == '"') return std::nullopt;
    if (c != '\\') {
      out += c;
    } else if (k + 1 < last && (line[k + 1] == '\\' || line[k + 1] == '"')) {
      out += line[++k];
    } else if (k + 3 < last && line[k + 1] == 'x' && std::isxdigit(static_cast<unsigned char>(line[k + 2])) &&
               std::isxdigit(static_cast<unsigned char>(line[k + 3]))) {
      out += static_cast<char>(std::stoi(line.substr(k + 2, 2), nullptr, 16));
      k += 3;
    } else {
      return std::nullopt;
    }
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

TEST(GoldenDictionaries, AreThoseOfTheSources) {
  expect_golden("targets/dictionaries/rir_text.dict", rir_text());
  expect_golden("targets/dictionaries/ptx.dict", ptx());
  expect_golden("targets/dictionaries/cli_args.dict", cli_args());
}

TEST(Dictionaries, HaveTheWordsThatMatter) {
  const auto has = [](const std::string& text, const char* word) {
    return text.find(fmt::format("\n\"{}\"\n", word)) != std::string::npos;
  };
  for (const char* word :
       {"func", "vreg", "inout", "tied", "deleted", "convergent", "clobbers", "bit_refill", "URext", "sm_90", "frame"})
    EXPECT_TRUE(has(rir_text(), word)) << word;
  for (const char* word : {".entry", ".callprototype", "wgmma", "%tid", "ldmatrix", "mbarrier", "WARP_SZ", ".reqntid"})
    EXPECT_TRUE(has(ptx(), word)) << word;
  for (const char* word : {"duel", "fuzz", "--regs", "--knob", "-o", "--output", "--version", "\\x0A"})
    EXPECT_TRUE(has(cli_args(), word)) << word;
}

TEST(Dictionaries, AreReadByTheEngines) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(REGDUEL_SOURCE_DIR "/targets/dictionaries")) {
    names.insert(entry.path().filename().string());
    std::istringstream lines(read_file(entry.path().string()).value());
    std::set<std::string> words;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      const auto word = parse_entry(line);
      ASSERT_TRUE(word.has_value()) << entry.path() << ": " << line;
      EXPECT_TRUE(words.insert(*word).second) << entry.path() << ": twice: " << line;
      EXPECT_LE(word->size(), 64u) << "libFuzzer takes words of up to 64 bytes";
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("cli_args.dict", "ptx.dict", "rir_text.dict"));
}

TEST(Dictionaries, AnEntryIsEscaped) {
  EXPECT_EQ(parse_entry(R"("a\\\"\x0A")"), "a\\\"\n");
  EXPECT_EQ(parse_entry(R"(name="b")"), "b");
  for (const char* wrong : {"a", "\"", "\"\"", "\"a\" ", "\"a\"b\"", "\"\\n\"", "\"\\x1\"", "\"\t\""})
    EXPECT_EQ(parse_entry(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace regduel::targets
