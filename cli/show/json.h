// JSON documents as the commands write them: keys stay in the order given. Commands build theirs from this type, so that the
// library that prints strings and numbers (nlohmann/json) is compiled in json.cpp, and in the few files that also read JSON.
//
//   Json{{"command", "gen"}, {"programs", 3}}   an object
//   Json(list), Json(map)                       an array, an object; their elements become Json in turn
//   Json(optional)                              the value, or null
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace regduel::cli {

class Json {
 public:
  struct Field;

  Json(std::nullptr_t = nullptr);
  Json(std::same_as<bool> auto value) : Json(Bool{value}) {}
  Json(std::signed_integral auto value) : Json(Signed{value}) {}
  Json(std::unsigned_integral auto value)
    requires(!std::same_as<decltype(value), bool>)
      : Json(Unsigned{value}) {}
  Json(double value);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(std::initializer_list<Field> fields);
  Json(const nlohmann::ordered_json& document);
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}
  template <std::ranges::range Range>
    requires(!std::convertible_to<const Range&, std::string_view>)
  Json(const Range& range) : Json(requires { typename Range::mapped_type; } ? object() : array()) {
    for (const auto& element : range)
      if constexpr (requires { typename Range::mapped_type; }) (*this)[element.first] = element.second;
      else push_back(element);
  }
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  // Of an array.
  void push_back(Json element);
  [[nodiscard]] Json& back();
  // Elements of an array, fields of an object.
  [[nodiscard]] std::size_t size() const;
  // Of an object. A key that is not there is added.
  [[nodiscard]] Json& operator[](std::string_view key);
  // Sets each field of the other object in this one.
  void update(const Json& other);

  // Indented by two blanks a level, with a newline at the end. Bytes that are no UTF-8 become U+FFFD.
  [[nodiscard]] std::string text() const;

 private:
  struct Bool {
    bool value;
  };
  struct Signed {
    std::int64_t value;
  };
  struct Unsigned {
    std::uint64_t value;
  };
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json(Bool value);
  Json(Signed value);
  Json(Unsigned value);
  void print(std::string& out, std::size_t indent) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, std::unique_ptr<Array>,
               std::unique_ptr<Object>>
      value_;
};

struct Json::Field {
  std::string_view key;
  mutable Json value;  // mutable, so that an object can take it out of its list of fields
};

// Prints the document on standard output.
void print_json(const Json& document);

}  // namespace regduel::cli
