// Options that stand under one heading of a command's help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

namespace isleway::cli {

class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string heading) : app_(app), heading_(std::move(heading)) {}

  /// `type` names what follows the flag, as N in "-n N".
  template <class T>
  CLI::Option* add(const char* flags, T& target, const char* what, const char* type) {
    return app_.add_option(flags, target, what)->type_name(type)->group(heading_);
  }
  /// The help shows what `target` holds now.
  template <class T>
  CLI::Option* add_with_default(const char* flags, T& target, const char* what, const char* type) {
    return add(flags, target, what, type)->capture_default_str();
  }
  /// May be given several times, with one value each time.
  CLI::Option* add_repeated(const char* flags, std::vector<std::string>& target, const char* what,
                            const char* type) {
    return add(flags, target, what, type)->allow_extra_args(false);
  }
  CLI::Option* add_flag(const char* flags, bool& target, const char* what) {
    return app_.add_flag(flags, target, what)->group(heading_);
  }

 private:
  CLI::App& app_;
  std::string heading_;
};

}  // namespace isleway::cli
