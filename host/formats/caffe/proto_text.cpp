// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/proto_text.hpp"

#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
}

// One pass over the text; line() is that of the next character.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t line() const { return line_; }

  // The next character that is neither white space nor in a comment, or 0 at the end.
  char peek() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        if (c == '\n') ++line_;
        ++at_;
      } else {
        if (c == '\0') fail_here("a zero byte");
        return c;
      }
    }
    return '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  // A name, a number or a word; empty where the next character begins none.
  std::string_view word() {
    peek();
    const std::size_t first = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
  }

  // Strings beside each other are one.
  std::string strings() {
    std::string value;
    while (peek() == '"' || peek() == '\'') append_string(value);
    return value;
  }

  [[noreturn]] void fail_here(const std::string& what) const {
    fail(ErrorCode::kBadModel, "line " + std::to_string(line_) + ": " + what);
  }

  [[noreturn]] void fail_expected(const std::string& expected) {
    const char c = peek();
    fail_here("expected " + expected + (c == '\0' ? ", got the end of the file" : ", got " + quote({&c, 1})));
  }

 private:
  void append_string(std::string& value) {
    const char end = text_[at_++];
    while (at_ < text_.size() && text_[at_] != end) {
      const char c = text_[at_++];
      if (c == '\n') fail_here("a string does not end in its line");
      if (c == '\\') {
        append_escape(value);
      } else {
        value += c;
      }
    }
    if (at_ == text_.size()) fail_here("a string does not end");
    ++at_;
  }

  // Digits of the base, at most `most`.
  int number(int base, int most) {
    int value = 0;
    for (int i = 0; i < most && at_ < text_.size(); ++i, ++at_) {
      const char c = text_[at_];
      const int digit = c >= '0' && c <= '9' ? c - '0'
                        : std::isxdigit(static_cast<unsigned char>(c)) != 0
                            ? std::tolower(static_cast<unsigned char>(c)) - 'a' + 10
                            : base;
      if (digit >= base) break;
      value = value * base + digit;
    }
    return value;
  }

  void append_escape(std::string& value) {
    if (at_ == text_.size()) fail_here("a string does not end");
    constexpr std::string_view kLetters = "abfnrtv\\'\"?";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"?";
    const char c = text_[at_];
    if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
      ++at_;
      value += kMeanings[known];
    } else if (c >= '0' && c <= '7') {
      value += static_cast<char>(number(8, 3));
    } else if (c == 'x') {
      ++at_;
      value += static_cast<char>(number(16, 2));
    } else {
      fail_here("a string has the unknown escape " + quote(std::string("\\") + c));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text) {}

  // Fields until `end`; 0 is the end of the text.
  std::vector<ProtoText> fields(char end, std::size_t depth) {
    std::vector<ProtoText> result;
    while (scan_.peek() != end) {
      field(result, depth);
      if (!scan_.take(',')) scan_.take(';');
    }
    if (end != '\0') scan_.take(end);
    return result;
  }

 private:
  void field(std::vector<ProtoText>& result, std::size_t depth) {
    ProtoText head;
    head.line = scan_.line();
    head.name = scan_.word();
    head.line = scan_.line();
    if (head.name.empty()) scan_.fail_expected("a field's name");
    const bool has_colon = scan_.take(':');
    if (scan_.take('[')) {
      if (!has_colon) scan_.fail_expected("':' and a value");
      list(head, result, depth);
      return;
    }
    value(head, result, depth, has_colon);
  }

  void list(const ProtoText& head, std::vector<ProtoText>& result, std::size_t depth) {
    if (scan_.take(']')) return;
    do {
      value(head, result, depth, true);
    } while (scan_.take(','));
    if (!scan_.take(']')) scan_.fail_expected("',' or ']'");
  }

  void value(const ProtoText& head, std::vector<ProtoText>& result, std::size_t depth, bool may_be_scalar) {
    if (++count_ > kMaxProtoTextFields) {
      scan_.fail_here("more than " + std::to_string(kMaxProtoTextFields) + " fields");
    }
    ProtoText field;
    field.name = head.name;
    field.line = head.line;
    const char next = scan_.peek();
    if (next == '{' || next == '<') {
      if (depth >= kMaxProtoTextDepth) {
        scan_.fail_here("messages are nested deeper than " + std::to_string(kMaxProtoTextDepth));
      }
      scan_.take(next);
      field.is_message = true;
      field.fields = fields(next == '{' ? '}' : '>', depth + 1);
    } else if (!may_be_scalar) {
      scan_.fail_expected("':' or a message behind " + quote(head.name));
    } else if (next == '"' || next == '\'') {
      field.is_string = true;
      field.value = scan_.strings();
    } else {
      field.value = scan_.word();
      if (field.value == "-") field.value += scan_.word();  // white space may follow the sign
      if (field.value.empty()) scan_.fail_expected("a value of " + quote(head.name));
    }
    result.push_back(std::move(field));
  }

  Scanner scan_;
  std::size_t count_ = 0;
};

}  // namespace

ProtoText parse_proto_text(std::string_view text) {
  if (text.size() > kMaxProtoTextBytes) {
    fail(ErrorCode::kBadModel,
         "text of " + std::to_string(text.size()) + " bytes, the limit is " + std::to_string(kMaxProtoTextBytes));
  }
  ProtoText root;
  root.line = 1;
  root.is_message = true;
  root.fields = Parser(text).fields('\0', 0);
  return root;
}

}  // namespace headrace::detail
