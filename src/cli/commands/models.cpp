// isleway models: the catalogue of language models, or one of them.
#include "cli/models.hpp"

#include <CLI/CLI.hpp>

#include "isleway/report/models.hpp"

namespace isleway::cli {
namespace {

int run(const std::string& name, Session& session) {
  if (!name.empty()) {
    const auto model = resolve_model(name, session);
    if (!model) return report(model.error());
    return print(session.json ? report::model_json(*model) : report::model_text(*model));
  }
  const auto models = open_models(session);
  if (!models) return report(models.error());
  return print(session.json ? report::models_json(*models) : report::models_text(*models));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("MODEL", *name, "A name, an id on Hugging Face, or a config.json")->type_name("");
  app.footer(
      "Examples:\n"
      "  isleway models\n"
      "  isleway models deepseek-v3\n"
      "  isleway models ~/llama/config.json --json");
  return [name](Session& session) { return run(*name, session); };
}

}  // namespace

extern const Command models_command;
const Command models_command = {"models", "Lists language models, or shows one", set_up};

}  // namespace isleway::cli
