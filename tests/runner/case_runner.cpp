// Runs one text case: tests/cases/README.md says what such a file looks like.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "isleway/core.hpp"

namespace isleway {
namespace {

namespace fs = std::filesystem;

struct Section {
  std::string keyword, argument;
  std::string body;
};

struct Case {
  std::string comment;
  std::vector<Section> sections;
};

constexpr std::string_view kMark = "--- ";

Case parse(std::string_view text) {
  Case result;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with(kMark)) {
      const std::string_view heading = trim(line.substr(kMark.size()));
      const std::size_t space = heading.find(' ');
      result.sections.push_back(
          {std::string(heading.substr(0, space)),
           space == heading.npos ? "" : std::string(trim(heading.substr(space))), ""});
    } else {
      std::string& target = result.sections.empty() ? result.comment : result.sections.back().body;
      target.append(line).append("\n");
    }
  }
  return result;
}

std::string render(const Case& test) {
  std::string text = test.comment;
  for (const Section& section : test.sections) {
    text += fmt::format("{}{}{}{}\n{}", kMark, section.keyword, section.argument.empty() ? "" : " ",
                        section.argument, section.body);
  }
  return text;
}

struct Ran {
  std::string out, err;
  int exit = 0;
};

Ran run(const std::string& command, const fs::path& folder) {
  const std::string line =
      fmt::format("cd '{}' && ({}) > .stdout 2> .stderr < /dev/null", folder.string(), command);
  const int status = std::system(line.c_str());
  return {read_file(folder / ".stdout").value_or(""), read_file(folder / ".stderr").value_or(""),
          WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

/// The case with what really happened in place of what was expected.
Case replay(const Case& test, const fs::path& folder) {
  Case result{test.comment, {}};
  for (const Section& section : test.sections) {
    if (section.keyword == "file") {
      fs::create_directories((folder / section.argument).parent_path());
      (void)write_file(folder / section.argument, section.body);
      result.sections.push_back(section);
    } else if (section.keyword == "run") {
      const Ran ran = run(section.argument, folder);
      result.sections.push_back({"run", section.argument, ran.out});
      if (!ran.err.empty()) result.sections.push_back({"stderr", "", ran.err});
      if (ran.exit != 0) result.sections.push_back({"exit", std::to_string(ran.exit), ""});
    } else if (section.keyword != "stderr" && section.keyword != "exit") {
      result.sections.push_back({"unknown-section", section.keyword, ""});
    }
  }
  return result;
}

int main_of(const fs::path& file, bool update) {
  const auto text = read_file(file);
  if (!text) {
    fmt::print(stderr, "{}\n", text.error().text());
    return 2;
  }
  char pattern[] = "/tmp/isleway-case-XXXXXX";
  if (mkdtemp(pattern) == nullptr) return 2;
  const fs::path folder = pattern;
  for (const auto& entry : fs::directory_iterator(file.parent_path())) {
    if (entry.is_regular_file() && entry.path().extension() != ".test")
      fs::create_symlink(fs::absolute(entry.path()), folder / entry.path().filename());
  }
  const std::string happened = render(replay(parse(*text), folder));
  int status = 0;
  if (happened != *text) {
    if (update) {
      status = write_file(file, happened) ? 0 : 2;
    } else {
      (void)write_file(folder / ".happened", happened);
      const std::string diff = fmt::format("diff -u --label expected --label happened '{}' '{}'",
                                           file.string(), (folder / ".happened").string());
      status = std::system(diff.c_str()) == 0 ? 2 : 1;
    }
  }
  fs::remove_all(folder);
  return status;
}

}  // namespace
}  // namespace isleway

int main(int argc, char** argv) {
  const bool update = argc == 3 && std::string_view(argv[1]) == "--update";
  if (argc != 2 && !update) {
    fmt::print(stderr, "usage: case_runner [--update] FILE.test\n");
    return 2;
  }
  return isleway::main_of(argv[argc - 1], update);
}
