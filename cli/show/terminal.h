// What a terminal can do: how wide it is, whether the cursor can be moved, whether there are colours.
//
//   COLUMNS                        its width, where it is set; else the terminal is asked
//   TERM=dumb                      no colours, no cursor movements
//   --color, CLICOLOR_FORCE        colours also where there is no terminal; NO_COLOR: none
//
// Tested by terminal_test.cpp.
#pragma once

#include <string>

namespace regduel::cli {

// Columns of the terminal behind the descriptor; 0 = it is none and COLUMNS is not set, so that lines may be of any length.
[[nodiscard]] int columns_of(int fd);
// The same, 80 where nothing is known.
[[nodiscard]] int terminal_columns(int fd);

// Whether stderr is a terminal whose cursor can be moved.
[[nodiscard]] bool is_drawing_terminal();

// --color: "auto", "always", "never"; of the whole process.
void set_color(const std::string& when);
[[nodiscard]] bool has_colors(int fd);

}  // namespace regduel::cli
