#include "isleway/check/products.hpp"

#include "check/words.hpp"
#include "fabric/yaml_reader.hpp"
#include "isleway/core.hpp"

namespace isleway::check {
namespace {

constexpr Wiring kWirings[] = {Wiring::none, Wiring::bridge, Wiring::direct, Wiring::nvswitch,
                               Wiring::rack};

Wiring read_wiring(YamlFile& file, YamlMap& map) {
  const std::string text = map.text("wiring", "none");
  std::vector<std::string> names;
  for (const Wiring wiring : kWirings) {
    if (text == name_of(wiring)) return wiring;
    names.emplace_back(name_of(wiring));
  }
  file.fail_unknown(map.node(), "wiring", text, names);
  return Wiring::none;
}

std::vector<double> read_rates(YamlFile& file, YamlMap& map) {
  std::vector<double> rates;
  for (const auto& entry : map.optional_list("link_rates")) {
    const auto rate = entry.IsScalar() ? parse_double(entry.Scalar()) : std::nullopt;
    if (rate && *rate > 0) rates.push_back(*rate);
    else file.fail(entry, "a link rate that is no positive number", "GB/s");
  }
  return rates;
}

Product read_product(YamlFile& file, const YAML::Node& node) {
  YamlMap map(file, node, "a product");
  Product product;
  product.name = map.required_text("name");
  product.like = map.texts("like");
  product.vendor = map.text("vendor", "nvidia");
  product.architecture = map.required_text("architecture");
  product.form = map.required_text("form");
  product.wiring = read_wiring(file, map);
  product.bridged = map.flag("bridged", false);
  product.links = map.integer("links", 0, 0, 256);
  product.usable = map.integer("usable", product.links, 0, 256);
  product.link_rates = read_rates(file, map);
  product.pcie_generation = map.integer("pcie", 0, 0, 9);
  product.pcie_lanes = map.integer("lanes", 16, 1, 32);
  product.wired_lanes = map.integers("wired_lanes", 1, 32);
  product.peer_access = map.flag("peer_access", true);
  product.source = map.text("source");
  map.finish();
  return product;
}

}  // namespace

const char* name_of(Wiring wiring) {
  switch (wiring) {
    case Wiring::none: return "none";
    case Wiring::bridge: return "bridge";
    case Wiring::direct: return "direct";
    case Wiring::nvswitch: return "nvswitch";
    case Wiring::rack: return "rack";
  }
  return "";
}

Result<Products> Products::from_yaml(const std::string& text, const std::string& name) {
  auto file = YamlFile::parse(text, name);
  if (!file) return tl::unexpected(file.error());
  YamlMap map(*file, file->root(), "the file");
  Products products;
  for (const auto& node : map.list("products")) products.all_.push_back(read_product(*file, node));
  map.finish();
  if (!file->ok()) return tl::unexpected(*file->error());
  return products;
}

const Product* Products::find(std::string_view name) const {
  for (const Product& product : all_)
    if (!product.like.empty() && is_like_any(name, product.like)) return &product;
  return nullptr;
}

}  // namespace isleway::check
