#include "formats/notebook.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isleway::formats {

void Notebook::note(Notice::Kind kind, std::string& text, int line) {
  const auto same = [&](const Entry& e) { return e.notice.kind == kind && e.notice.text == text; };
  const auto known = std::find_if(entries_.begin(), entries_.end(), same);
  if (known != entries_.end()) ++known->more;
  else if (entries_.size() < kMostTexts) entries_.push_back({{kind, at(line), std::move(text)}});
  else ++left_out_;
}

std::string cite(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, most))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return shown + (text.size() > most ? "...'" : "'");
}

Notices Notebook::notices() const {
  Notices all;
  for (const Entry& entry : entries_) {
    std::string text = entry.notice.text;
    if (entry.more > 0) text += fmt::format(" (and {} more like this)", entry.more);
    switch (entry.notice.kind) {
      case Notice::Kind::assumed: all.assumed(entry.notice.where, text); break;
      case Notice::Kind::skipped: all.skipped(entry.notice.where, text); break;
      case Notice::Kind::incomplete: all.incomplete(entry.notice.where, text); break;
    }
  }
  if (left_out_ > 0) all.skipped(at(0), fmt::format("{} further remarks", left_out_));
  return all;
}

}  // namespace isleway::formats
