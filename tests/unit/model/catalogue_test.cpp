// Every model of the catalogue has the weights that were published.
#include <gtest/gtest.h>

#include "isleway/model.hpp"

namespace isleway::model {
namespace {

const ModelCatalogue& catalogue() {
  static const auto all = ModelCatalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/models").value();
  return all;
}

Transformer find(std::string_view name) {
  Notices notices;
  Transformer model = catalogue().find(name, notices).value();
  EXPECT_TRUE(notices.empty()) << name;
  return model;
}

TEST(ModelCatalogue, Holds53Models) { EXPECT_EQ(catalogue().entries().size(), 53u); }

// Published sizes are rounded, and some leave out norms, biases or an indexer.
TEST(ModelCatalogue, ParametersAreThePublishedOnes) {
  const ModelCatalogue& all = catalogue();
  int compared = 0;
  for (const ModelEntry& entry : all.entries()) {
    const ModelParameters count = parameters(find(entry.name));
    EXPECT_GT(count.total(), 0) << entry.name;
    if (entry.published_total == 0) continue;
    ++compared;
    EXPECT_NEAR(static_cast<double>(count.total()) * 1e-9, entry.published_total,
                0.0015 * entry.published_total + 0.006)
        << entry.name;
    if (entry.published_active == 0) continue;
    EXPECT_NEAR(static_cast<double>(count.active()) * 1e-9, entry.published_active,
                0.002 * entry.published_active + 0.01)
        << entry.name;
  }
  EXPECT_GE(compared, 45);
}

// To the last weight, as the published files hold them.
TEST(ModelCatalogue, ParametersToTheLastOne) {
  EXPECT_EQ(parameters(find("llama-3.1-8b")).total(), 8'030'261'248);
  EXPECT_EQ(parameters(find("llama-3.1-70b")).total(), 70'553'706'496);
  EXPECT_EQ(parameters(find("llama-3.1-405b")).total(), 405'853'388'800);
  EXPECT_EQ(parameters(find("mistral-7b")).total(), 7'241'732'096);
  EXPECT_EQ(parameters(find("mixtral-8x7b")).total(), 46'702'792'704);
  EXPECT_EQ(parameters(find("qwen2.5-7b")).total(), 7'615'616'512);
  EXPECT_EQ(parameters(find("qwen3-8b")).total(), 8'190'735'360);
  EXPECT_EQ(parameters(find("qwen3-30b-a3b")).total(), 30'532'122'624);
  EXPECT_EQ(parameters(find("gemma-2-9b")).total(), 9'241'705'984);
}

}  // namespace
}  // namespace isleway::model
