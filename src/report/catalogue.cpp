#include "isleway/report/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/json.hpp"

namespace isleway::report {

std::string catalogue_text(const Catalogue& catalogue) {
  std::size_t width = 0;
  for (const CatalogueEntry& entry : catalogue.machines())
    width = std::max(width, entry.name.size());
  std::string text;
  for (const CatalogueEntry& entry : catalogue.machines())
    text += fmt::format("{:{}}  {}{}\n", entry.name, width, entry.title,
                        entry.status == "announced" ? " (announced)" : "");
  text += "\nnetworks for --network:";
  for (const std::string& name : catalogue.network_names()) text += " " + name;
  return text + "\n";
}

std::string catalogue_json(const Catalogue& catalogue) {
  Json json;
  json["machines"] = Json::array();
  for (const CatalogueEntry& entry : catalogue.machines()) {
    Json machine;
    machine["name"] = entry.name;
    machine["title"] = entry.title;
    machine["status"] = entry.status;
    machine["aliases"] = entry.aliases;
    machine["file"] = entry.file.string();
    json["machines"].push_back(std::move(machine));
  }
  json["networks"] = catalogue.network_names();
  return document(json);
}

}  // namespace isleway::report
