// See manual.h.
#include "cli/manual.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/show/output.h"

namespace regduel::cli {
namespace {

// Text of a line of roff.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += std::string("\\&") + c;
    else out += c;
  }
  return out;
}

std::string option_head(const OptionManual& o) {
  std::vector<std::string> names;
  for (const std::string& name : o.names) names.push_back(fmt::format("\\fB{}\\fR", roff(name)));
  std::string head = o.is_option ? fmt::format("{}", fmt::join(names, ", ")) : fmt::format("\\fI{}\\fR", roff(o.value));
  if (o.is_option && o.takes_value) head += fmt::format(" \\fI{}\\fR", roff(o.value.empty() ? "VALUE" : o.value));
  return head;
}

std::string lines_of_footer(const std::string& footer) {
  std::string out;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    out += roff(footer.substr(at, end - at)) + "\n.br\n";
    at = end + 1;
  }
  return out;
}

// In single quotes of a shell, and of zsh and fish alike.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string first_sentence(const std::string& help) {
  std::string text = help.substr(0, help.find_first_of(":;\n"));
  std::ranges::replace(text, '[', '(');
  std::ranges::replace(text, ']', ')');
  return shortened(text, 72);
}

std::string bash() {
  std::string cases;
  std::vector<std::string> names;
  for (const Command& c : commands()) {
    names.emplace_back(c.name);
    cases += fmt::format("        {}) words=\"{} --help\" ;;\n", c.name, fmt::join(options_of(c), " "));
  }
  return fmt::format(R"(# Completion of regduel for bash: source it, or put it into /usr/share/bash-completion/completions/regduel.
_regduel() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "{} help --help --version --color" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}        help) words="{}" ;;
    esac
    if [[ $word == -* || ${{COMP_WORDS[1]}} == help ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _regduel regduel
)",
                     fmt::join(names, " "), cases, fmt::join(names, " "));
}

std::string zsh() {
  std::string cases, list;
  for (const Command& c : commands()) {
    list += fmt::format("        {}\n", in_quotes(fmt::format("{}:{}", c.name, first_sentence(std::string(c.what)))));
    std::string specs;
    for (const OptionManual& o : manual_of(c).options)
      for (const std::string& name : o.names)
        specs += fmt::format(
            " {}", in_quotes(fmt::format("*{}[{}]{}", name, first_sentence(o.help), o.takes_value ? ":value:_files" : "")));
    cases += fmt::format("        {}) _arguments{} '*:file:_files' ;;\n", c.name, specs);
  }
  return fmt::format(R"(#compdef regduel
# Completion of regduel for zsh: put it into a folder of $fpath, as _regduel.
_regduel() {{
    local -a list
    list=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command list
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
_regduel "$@"
)",
                     list, cases);
}

std::string fish() {
  std::string out = "# Completion of regduel for fish: put it into ~/.config/fish/completions/regduel.fish.\n";
  for (const Command& c : commands()) {
    out += fmt::format("complete -c regduel -n __fish_use_subcommand -f -a {} -d {}\n", c.name,
                       in_quotes(first_sentence(std::string(c.what))));
    for (const OptionManual& o : manual_of(c).options)
      for (const std::string& name : o.names)
        out += fmt::format("complete -c regduel -n '__fish_seen_subcommand_from {}' -{} {}{} -d {}\n", c.name,
                           name.starts_with("--") ? "l" : "s", name.substr(name.starts_with("--") ? 2 : 1),
                           o.takes_value ? " -r" : "", in_quotes(first_sentence(o.help)));
  }
  return out;
}

}  // namespace

std::string man_page(const Command* command) {
  const std::string name = command == nullptr ? "regduel" : fmt::format("regduel-{}", command->name);
  std::string what = command == nullptr ? "differential testing of GPU register allocators" : std::string(command->what);
  std::string page = fmt::format(".TH {} 1 \"\" \"regduel {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", roff(name),
                                 roff(program_version()), roff(name), roff(what));
  if (command == nullptr) {
    page += "\\fBregduel\\fR [\\fB\\-\\-color\\fR \\fIWHEN\\fR] \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH COMMANDS\n";
    for (const Command& c : commands()) page += fmt::format(".TP\n\\fBregduel\\-{}\\fR(1)\n{}.\n", c.name, roff(c.what));
    page +=
        ".SH EXIT STATUS\n0 all well; 1 a finding; 2 bad usage or bad input; 3 an internal error; 4 (verify) no judge objects, one "
        "could "
        "not tell.\n";
    return page;
  }
  const CommandManual manual = manual_of(*command);
  std::string arguments;
  for (const OptionManual& o : manual.options)
    if (!o.is_option) arguments += fmt::format(" \\fI{}\\fR", roff(o.value));
  page += fmt::format("\\fBregduel {}\\fR [\\fIOPTION\\fR]...{}\n.SH OPTIONS\n", command->name, arguments);
  for (const OptionManual& o : manual.options) page += fmt::format(".TP\n{}\n{}\n", option_head(o), roff(o.help));
  page += ".SH NOTES\n" + lines_of_footer(manual.footer) + ".SH SEE ALSO\n\\fBregduel\\fR(1)\n";
  return page;
}

std::string completion(std::string_view shell) { return shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish(); }

}  // namespace regduel::cli
