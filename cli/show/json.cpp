// See json.h.
#include "cli/show/json.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/check_macro.h"

namespace regduel::cli {
namespace {

// Strings and numbers as the library prints them.
template <class Scalar>
std::string scalar_text(const Scalar& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(Bool value) : value_(value.value) {}
Json::Json(Signed value) : value_(value.value) {}
Json::Json(Unsigned value) : value_(value.value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::initializer_list<Field> fields) : value_(std::make_unique<Object>()) {
  for (const Field& f : fields) (*this)[f.key] = std::move(f.value);
}
Json::Json(const nlohmann::ordered_json& document) {
  switch (document.type()) {
    case nlohmann::json::value_t::null:
    case nlohmann::json::value_t::binary:
    case nlohmann::json::value_t::discarded: break;
    case nlohmann::json::value_t::boolean: value_ = document.get<bool>(); break;
    case nlohmann::json::value_t::number_integer: value_ = document.get<std::int64_t>(); break;
    case nlohmann::json::value_t::number_unsigned: value_ = document.get<std::uint64_t>(); break;
    case nlohmann::json::value_t::number_float: value_ = document.get<double>(); break;
    case nlohmann::json::value_t::string: value_ = document.get<std::string>(); break;
    case nlohmann::json::value_t::array:
      *this = array();
      for (const nlohmann::ordered_json& element : document) push_back(element);
      break;
    case nlohmann::json::value_t::object:
      *this = object();
      for (const auto& [key, value] : document.items()) (*this)[key] = value;
      break;
  }
}
Json::Json(const Json& other) {
  std::visit(
      [this]<class Value>(const Value& value) {
        if constexpr (requires { *value; }) value_ = std::make_unique<typename Value::element_type>(*value);
        else value_ = value;
      },
      other.value_);
}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.value_ = std::make_unique<Array>();
  return json;
}
Json Json::object() { return Json(std::initializer_list<Field>()); }

void Json::push_back(Json element) { std::get<std::unique_ptr<Array>>(value_)->push_back(std::move(element)); }
Json& Json::back() { return std::get<std::unique_ptr<Array>>(value_)->back(); }

std::size_t Json::size() const {
  const auto* const list = std::get_if<std::unique_ptr<Array>>(&value_);
  return list != nullptr ? (*list)->size() : std::get<std::unique_ptr<Object>>(value_)->size();
}

Json& Json::operator[](std::string_view key) {
  Object& fields = *std::get<std::unique_ptr<Object>>(value_);
  const auto it = std::ranges::find(fields, key, &Object::value_type::first);
  return it != fields.end() ? it->second : fields.emplace_back(key, nullptr).second;
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : *std::get<std::unique_ptr<Object>>(other.value_)) (*this)[key] = value;
}

std::string Json::text() const {
  std::string out;
  print(out, 0);
  return out + '\n';
}

void Json::print(std::string& out, std::size_t indent) const {
  const auto line = [&](std::string_view before) { out.append(before).append(1, '\n').append(indent + 2, ' '); };
  const auto close = [&](char bracket) { out.append(1, '\n').append(indent, ' ').append(1, bracket); };
  if (const auto* const list = std::get_if<std::unique_ptr<Array>>(&value_)) {
    if ((*list)->empty()) out += "[]";
    else {
      const char* before = "[";
      for (const Json& element : **list) {
        line(std::exchange(before, ","));
        element.print(out, indent + 2);
      }
      close(']');
    }
  } else if (const auto* const fields = std::get_if<std::unique_ptr<Object>>(&value_)) {
    if ((*fields)->empty()) out += "{}";
    else {
      const char* before = "{";
      for (const auto& [key, value] : **fields) {
        line(std::exchange(before, ","));
        out += scalar_text(key) + ": ";
        value.print(out, indent + 2);
      }
      close('}');
    }
  } else {
    std::visit(
        [&out]<class Value>(const Value& value) {
          if constexpr (!requires { *value; }) out += scalar_text(value);
        },
        value_);
  }
}

void print_json(const Json& document) { std::fputs(document.text().c_str(), stdout); }

}  // namespace regduel::cli
