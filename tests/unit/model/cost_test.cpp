// Arithmetic, memory and traffic against formulas that were published.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isleway/model.hpp"

namespace isleway::model {
namespace {

Transformer find(std::string_view name) {
  Notices notices;
  static const auto catalogue =
      ModelCatalogue::open(std::string(ISLEWAY_SOURCE_DIR) + "/models").value();
  return catalogue.find(name, notices).value();
}

// Narayanan et al. (2104.04473): 72 s L h^2 (1 + s/6h + V/12Lh) for a whole sequence.
TEST(Flops, MegatronsFormula) {
  const Transformer model = find("gpt3-175b");
  const double s = 2048, h = 12288, layers = 96, v = 50257;
  const double expected = 72 * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h));
  EXPECT_NEAR(training_flops(model, s, FlopConvention::full) / expected, 1, 1e-9);
}

TEST(Flops, CausalAttentionIsHalfOfFull) {
  const Transformer model = find("llama-3.1-8b");
  const double full = training_flops(model, 8192, FlopConvention::full);
  const double causal = training_flops(model, 8192, FlopConvention::causal);
  const double none = training_flops(model, 0, FlopConvention::full);
  EXPECT_NEAR(full - causal, (full - none) / 2, full * 1e-12);
  EXPECT_NEAR(full - none, 12.0 * 32 * 8192 * 4096, full * 1e-12);
}

TEST(Flops, WindowsCountOnlyWhereTheMaskDoes) {
  const Transformer model = find("mistral-7b");
  const double far = training_flops(model, 1 << 20, FlopConvention::causal);
  EXPECT_LT(far, 0.03 * training_flops(model, 1 << 20, FlopConvention::full));
}

// Korthikanti et al. (2205.05198), Table 2: sbh (34 + 5as/h) / t, without the masks of dropout.
TEST(Memory, ActivationsOfAGptLayer) {
  const Transformer model = find("gpt3-175b");
  const Shard shard{8, 1, 1, true};
  Work work{2048, 1, 1024};
  const double sbh = 2048.0 * 12288;
  const double dropout_masks = 2, log_sums = 4.0 * 96 / 12288;
  const Layer& layer = model.kinds[0];
  EXPECT_NEAR(activation_bytes(layer, model.hidden, shard, work, Recompute::none),
              sbh / 8 * (34 - dropout_masks + log_sums), sbh * 1e-6);
  EXPECT_NEAR(activation_bytes(layer, model.hidden, shard, work, Recompute::none, false),
              sbh / 8 * (34 - dropout_masks + 5.0 * 96 * 2048 / 12288), sbh * 1e-6);
  EXPECT_NEAR(activation_bytes(layer, model.hidden, shard, work, Recompute::full), sbh / 8 * 2,
              sbh * 1e-6);
  const Shard without_sp{8, 1, 1, false};
  EXPECT_NEAR(activation_bytes(layer, model.hidden, without_sp, work, Recompute::none),
              sbh * (10 - dropout_masks + (24 + log_sums) / 8), sbh * 1e-6);
}

TEST(Memory, KvCache) {
  // 2 x 8 heads x 128 x 2 bytes x 80 layers.
  EXPECT_DOUBLE_EQ(kv_bytes(find("llama-3.1-70b"), 1, 1, 2), 327680);
  // TP beyond the number of key heads replicates them.
  EXPECT_DOUBLE_EQ(kv_bytes(find("llama-3.1-70b"), 1, 16, 2), 327680.0 / 8);
  // (512 + 64) x 2 bytes x 61 layers, whole on every rank.
  EXPECT_DOUBLE_EQ(kv_bytes(find("deepseek-v3"), 1, 8, 2), 70272);
  // Windows keep no more than they see.
  const Transformer windowed = find("mistral-7b");
  EXPECT_DOUBLE_EQ(kv_bytes(windowed, 100000, 1, 2), kv_bytes(windowed, 4096, 1, 2));
}

TEST(Traffic, TensorParallelReducesTwicePerLayer) {
  const Transformer model = find("llama-3.1-70b");
  const LayerTraffic out = traffic(model.kinds[0], model.hidden, {4, 1, 1, true}, {8192, 1, 4096});
  EXPECT_EQ(out.tensor_calls, 2);
  EXPECT_DOUBLE_EQ(out.tensor, 8192.0 * 8192);
  EXPECT_DOUBLE_EQ(out.context, 8192.0 * 2 * 2 * 128);  // keys and values of 2 heads
}

TEST(Traffic, ExpertsGetEachTokenTopkTimes) {
  const Transformer model = find("qwen3-30b-a3b");
  const LayerTraffic out = traffic(model.kinds[0], model.hidden, {1, 1, 8, true}, {4096, 1, 2048});
  EXPECT_DOUBLE_EQ(out.experts, 4096.0 * 8 * 2048);
  EXPECT_EQ(out.tensor_calls, 0);
}

TEST(Precision, NamesReadBack) {
  for (const Precision precision : precisions())
    EXPECT_EQ(parse_precision(name_of(precision)).value(), precision);
  EXPECT_DOUBLE_EQ(bytes_per_element(Precision::nvfp4), 0.5625);
  EXPECT_FALSE(parse_precision("fp3"));
}

// However a layer is divided, its arithmetic is that of the whole one.
RC_GTEST_PROP(Operations, ArithmeticOfAllRanksIsThatOfOne, ()) {
  static const Transformer model = find("qwen3-235b-a22b");
  const auto t = *rc::gen::element<std::int64_t>(1, 2, 4);
  const auto ep = *rc::gen::element<std::int64_t>(1, 8, 32);
  const auto etp = *rc::gen::element<std::int64_t>(1, t);
  const Work work{*rc::gen::inRange<std::int64_t>(1, 64) * 128, 1, 2048};
  const auto flops = [&](const Shard& shard) {
    double sum = 0;
    for (const Operation& op : operations(model.kinds[0], model.hidden, shard, work))
      sum += op.flops * (std::string_view(op.name) == "router" ? 0 : 1);
    return sum;
  };
  const double whole = flops({});
  RC_ASSERT(std::abs(flops({t, etp, ep, true}) * static_cast<double>(t) / whole - 1) < 1e-9);
}

}  // namespace
}  // namespace isleway::model
