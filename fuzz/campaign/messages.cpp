// See messages.h. A type says once which fields it has (kFields); encoding and decoding follow from that.
#include "fuzz/campaign/messages.h"

#include <array>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/check_macro.h"

namespace regduel::fuzz {
namespace {

template <class T>
constexpr auto kFields = T::kFields;
template <>
constexpr auto kFields<Schedule::Range> = std::tuple(&Schedule::Range::first, &Schedule::Range::count);
template <>
constexpr auto kFields<Failure> = std::tuple(&Failure::allocator, &Failure::signature);
template <>
constexpr auto kFields<Naming> = std::tuple(&Naming::nature, &Naming::names, &Naming::rest, &Naming::title, &Naming::needed);
template <>
constexpr auto kFields<StoredInput> = std::tuple(&StoredInput::hash, &StoredInput::input, &StoredInput::features,
                                                 &StoredInput::is_pinned, &StoredInput::instructions, &StoredInput::is_current);
template <>
constexpr auto kFields<results::Configuration> = std::tuple(&results::Configuration::allocator, &results::Configuration::knobs,
                                                            &results::Configuration::target, &results::Configuration::limits);
template <>
constexpr auto kFields<results::CaseResults::Bout> =
    std::tuple(&results::CaseResults::Bout::configuration, &results::CaseResults::Bout::verdict,
               &results::CaseResults::Bout::reason, &results::CaseResults::Bout::figures, &results::CaseResults::Bout::objections,
               &results::CaseResults::Bout::answer, &results::CaseResults::Bout::answered_to);
template <>
constexpr auto kFields<results::CaseResults> =
    std::tuple(&results::CaseResults::hash, &results::CaseResults::name, &results::CaseResults::source,
               &results::CaseResults::instructions, &results::CaseResults::content, &results::CaseResults::bouts);

template <>
constexpr auto kFields<TryMix> = std::tuple(&TryMix::programs);
template <>
constexpr auto kFields<News> = std::tuple(&News::input, &News::features);
template <>
constexpr auto kFields<Explore> = std::tuple(&Explore::programs, &Explore::learn);
template <>
constexpr auto kFields<TrySeed> = std::tuple(&TrySeed::programs, &TrySeed::input, &TrySeed::is_pinned);
template <>
constexpr auto kFields<Understand> =
    std::tuple(&Understand::failure, &Understand::input, &Understand::message, &Understand::number);
template <>
constexpr auto kFields<Locate> = std::tuple(&Locate::input, &Locate::index, &Locate::signature, &Locate::message);
template <>
constexpr auto kFields<TryAgain> = std::tuple(&TryAgain::bucket, &TryAgain::failure, &TryAgain::input);
template <>
constexpr auto kFields<Objection> = std::tuple(&Objection::failure, &Objection::message);
template <>
constexpr auto kFields<Failed> = std::tuple(&Failed::input, &Failed::index, &Failed::objections);
template <>
constexpr auto kFields<Tried> = std::tuple(&Tried::programs, &Tried::tally, &Tried::results);
template <>
constexpr auto kFields<Reduction> =
    std::tuple(&Reduction::input, &Reduction::failure, &Reduction::decision, &Reduction::naming, &Reduction::answer);
template <>
constexpr auto kFields<Understanding> = std::tuple(&Understanding::asked, &Understanding::reduction);
template <>
constexpr auto kFields<Located> = std::tuple(&Located::failed, &Located::signature);
template <>
constexpr auto kFields<TriedAgain> = std::tuple(&TriedAgain::bucket, &TriedAgain::fails);

template <class T>
concept Optional = requires(T t) { t.has_value(); };
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };  // pair, tuple, array
template <class T>
concept Container = requires(T t) { t.begin(), t.insert(t.end(), *t.begin()); };

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
      out_.insert(out_.end(), bytes, bytes + sizeof(T));
    } else if constexpr (Optional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (TupleLike<T>) {
      std::apply([&](const auto&... elements) { (put(elements), ...); }, value);
    } else if constexpr (Container<T>) {
      REGDUEL_CHECK(value.size() <= std::numeric_limits<std::uint32_t>::max(), "a message is too large");
      put(static_cast<std::uint32_t>(value.size()));
      for (const auto& element : value) put(element);
    } else {
      std::apply([&](auto... fields) { (put(value.*fields), ...); }, kFields<T>);
    }
  }
  [[nodiscard]] results::Blob take() { return std::move(out_); }

 private:
  results::Blob out_;
};

// Reads what Writer writes. At the end of the bytes it fails, and gives empty values from there on.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      get_number(value);
    } else if constexpr (Optional<T>) {
      bool has_value = false;
      get(has_value);
      if (has_value) get(value.emplace());
    } else if constexpr (TupleLike<T>) {
      std::apply([&](auto&... elements) { (get(elements), ...); }, value);
    } else if constexpr (Container<T>) {
      get_elements(value);
    } else {
      std::apply([&](auto... fields) { (get(value.*fields), ...); }, kFields<T>);
    }
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  template <class T>
  void get_number(T& value) {
    if (rest_.size() < sizeof(T) || (std::is_same_v<T, bool> && rest_.front() > 1)) {
      failed_ = true;
      rest_ = {};
      return;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
  }

  template <class T>
  void get_elements(T& value) {
    std::uint32_t size = 0;
    for (get(size); size > 0 && !failed_; --size) {
      if constexpr (requires { typename T::mapped_type; }) {
        std::pair<typename T::key_type, typename T::mapped_type> element;
        get(element);
        value.insert(std::move(element));
      } else {
        typename T::value_type element{};
        get(element);
        value.push_back(std::move(element));
      }
    }
  }

  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

template <class Message>
results::Blob encode_message(const Message& message) {
  Writer out;
  out.put(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& m) { out.put(m); }, message);
  return out.take();
}

template <class Message, std::size_t... kIndex>
std::expected<Message, std::string> decode_message(std::span<const std::uint8_t> bytes, std::index_sequence<kIndex...> /*all*/) {
  Reader in(bytes);
  std::uint8_t index = UINT8_MAX;
  in.get(index);
  Message message;
  const auto read_as = [&]<std::size_t kWanted>(std::integral_constant<std::size_t, kWanted> /*index*/) {
    if (index != kWanted) return false;
    in.get(message.template emplace<kWanted>());
    return true;
  };
  const bool is_known = (read_as(std::integral_constant<std::size_t, kIndex>()) || ...);
  if (!is_known) return std::unexpected(fmt::format("a message of unknown type {}", index));
  if (in.failed()) return std::unexpected(fmt::format("a message of type {} ends too early, or has a bad value", index));
  if (in.left() > 0) return std::unexpected(fmt::format("a message of type {} has {} bytes too many", index, in.left()));
  return message;
}

template <class Message>
std::expected<Message, std::string> decode_message(std::span<const std::uint8_t> bytes) {
  return decode_message<Message>(bytes, std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace

results::Blob encode(const Job& job) { return encode_message(job); }
results::Blob encode(const Report& report) { return encode_message(report); }
std::expected<Job, std::string> decode_job(std::span<const std::uint8_t> bytes) { return decode_message<Job>(bytes); }
std::expected<Report, std::string> decode_report(std::span<const std::uint8_t> bytes) { return decode_message<Report>(bytes); }

}  // namespace regduel::fuzz
