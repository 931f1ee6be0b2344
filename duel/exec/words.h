// Commands as text: the words of one, and a command as an item of a list that commas separate (--with exec:COMMAND,briggs).
// Tested by words_test.cpp.
//
// Why not wordexp(3): it takes parentheses and semicolons for errors, and expands what should stay as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regduel::duel {

// The words of a command as a POSIX shell reads them: blanks separate, '...' stands for itself, in "..." a backslash quotes one of
// "\$`, elsewhere any character. Nothing is expanded. nullopt where a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> split_words(std::string_view text);
// The text that a shell reads as this one word: the word itself where it is plain. split_words(shell_word(w)) is {w}.
[[nodiscard]] std::string shell_word(std::string_view word);

// The items of a list, which commas outside quotes separate; empty ones are dropped.
[[nodiscard]] std::vector<std::string> split_items(std::string_view list);
// The name of an allocator that an item stands for. Quotes around the whole command are taken off: exec:'a.py 1,2' is exec:a.py
// 1,2, and copyprop+exec:'a.py 1,2' likewise.
[[nodiscard]] std::string name_of_item(std::string_view item);
// The inverse: an item that stands for this name.
[[nodiscard]] std::string item_of_name(std::string_view name);

inline constexpr std::string_view kExec = "exec:";
// Where the command begins in the name of an allocator, "exec:COMMAND" or "copyprop+exec:COMMAND"; npos where it has none.
[[nodiscard]] std::size_t command_in(std::string_view name);

}  // namespace regduel::duel
