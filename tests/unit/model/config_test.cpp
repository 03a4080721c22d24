// config.json in its many forms, whole and damaged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isleway/model.hpp"

namespace isleway::model {
namespace {

constexpr const char* kLlama =
    R"({"model_type": "llama", "hidden_size": 512, "intermediate_size": 1024,
  "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2,
  "vocab_size": 1000})";

Transformer read(const std::string& text, std::size_t notices_expected = 0) {
  Notices notices;
  auto model = from_config(text, "config.json", notices);
  EXPECT_TRUE(model) << (model ? "" : model.error().text());
  EXPECT_EQ(notices.size(), notices_expected);
  return model.value();
}

Error refused(const std::string& text) {
  Notices notices;
  const auto model = from_config(text, "config.json", notices);
  EXPECT_FALSE(model) << text;
  return model ? Error{} : model.error();
}

TEST(Config, LayersThatAreAlikeAreKeptOnce) {
  const Transformer model = read(kLlama);
  EXPECT_EQ(model.kinds.size(), 1u);
  EXPECT_EQ(model.layer_count(), 4);
  EXPECT_EQ(model.kinds[0].mixer.head_dim, 64);
  EXPECT_EQ(model.kinds[0].mixer.kv_heads, 2);
  EXPECT_FALSE(model.tied);
}

TEST(Config, ATextModelInsideAMultimodalOne) {
  const std::string text =
      fmt::format(R"({{"model_type": "outer", "tie_word_embeddings": true, "hidden_size": 7,
  "text_config": {}}})",
                  kLlama);
  const Transformer model = read(text);
  EXPECT_EQ(model.hidden, 512);
  EXPECT_TRUE(model.tied);
}

TEST(Config, PythonsInfinityIsTaken) {
  std::string text = kLlama;
  text.insert(1, R"("time_step_limit": [0.0, Infinity], "note": "Infinity", "x": NaN, )");
  EXPECT_EQ(read(text).hidden, 512);
}

TEST(Config, AliasesOfGpt) {
  const Transformer model = read(
      R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
          "vocab_size": 50257})");
  EXPECT_EQ(parameters(model).total(), 124'439'808);  // GPT-2 small
  EXPECT_TRUE(model.tied);
  EXPECT_EQ(model.kinds[0].feed_forward.dense, 3072);
  EXPECT_FALSE(model.kinds[0].feed_forward.gated);
}

TEST(Config, WindowsAlternate) {
  const Transformer model = read(
      R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
          "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
          "head_dim": 256, "sliding_window": 512, "vocab_size": 262144})");
  int full = 0;
  for (const std::uint8_t kind : model.order) full += model.kinds[kind].mixer.window == 0;
  EXPECT_EQ(full, 4);                                 // every sixth
  EXPECT_EQ(parameters(model).total(), 999'885'952);  // Gemma 3 1B
}

TEST(Config, DenseLayersBeforeExperts) {
  Notices notices;
  const auto catalogue = ModelCatalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/models").value();
  const Transformer model = catalogue.find("deepseek-ai/DeepSeek-V3", notices).value();
  EXPECT_EQ(model.layer(2).feed_forward.experts, 0);
  EXPECT_EQ(model.layer(3).feed_forward.experts, 256);
  EXPECT_EQ(model.layer(3).feed_forward.shared, 2048);
  EXPECT_EQ(model.mtp_order.size(), 1u);
  EXPECT_EQ(model.first_attention()->kind, MixerKind::latent_attention);
}

TEST(Config, AnUnknownArchitectureIsGuessedAndSaid) {
  std::string text = kLlama;
  text.replace(text.find("llama"), 5, "new-thing");
  EXPECT_TRUE(read(text, 1).kinds[0].feed_forward.gated);
}

TEST(Config, ErrorsNameTheLineAndWhatIsExpected) {
  std::string text = kLlama;
  text.replace(text.find("512"), 3, "-12");
  const Error error = refused(text);
  EXPECT_EQ(error.where.line, 1);
  EXPECT_NE(error.what.find("hidden_size"), std::string::npos);

  text = kLlama;
  text.replace(text.find("\"num_attention_heads\": 8"), 24, "\"num_attention_heads\": 7");
  EXPECT_NE(refused(text).what.find("7 heads"), std::string::npos);

  EXPECT_NE(refused(R"({"model_type": "llama"})").what.find("missing"), std::string::npos);
  EXPECT_NE(refused("{").what.find("not JSON"), std::string::npos);
  EXPECT_NE(refused("[1]").what.find("no JSON object"), std::string::npos);
  EXPECT_NE(refused(R"({"is_encoder_decoder": true})").what.find("encoder"), std::string::npos);
}

TEST(Config, DamagedFilesAreRefusedOrRead) {
  const std::string text = kLlama;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    Notices notices;
    (void)from_config(text.substr(0, cut), "config.json", notices);
    std::string changed = text;
    changed[cut] = '9';
    (void)from_config(changed, "config.json", notices);
  }
  EXPECT_NE(refused(std::string(100000, '[')).what.find("deep"), std::string::npos);
}

TEST(Config, SizesThatNoMachineHoldsAreRefused) {
  EXPECT_NE(refused(R"({"model_type": "llama", "hidden_size": 1000000,
    "intermediate_size": 1000000, "num_hidden_layers": 4000, "num_attention_heads": 64,
    "num_local_experts": 16000, "vocab_size": 1000})")
                .what.find("10^15"),
            std::string::npos);
}

}  // namespace
}  // namespace isleway::model
