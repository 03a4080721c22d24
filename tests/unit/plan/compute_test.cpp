// Kernels' times: what must hold for any GPU, and that the fit finds what it should.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isleway/core/file.hpp"
#include "isleway/fabric/catalogue.hpp"
#include "isleway/plan.hpp"
#include "isleway/plan/gemm_fit.hpp"

namespace isleway::plan {
namespace {

using model::Precision;

const Catalogue& catalogue() {
  static const Catalogue all = *Catalogue::open(ISLEWAY_SOURCE_DIR "/machines");
  return all;
}
const ComputeCatalogue& compute() {
  static const ComputeCatalogue all = *ComputeCatalogue::open(catalogue().folder() / "compute");
  return all;
}
ComputeModel gpu(const char* key) { return *compute().gpu(catalogue().parts(), key); }

TEST(Compute, EveryGpuOfTheCatalogueHasAModel) {
  for (const auto& [key, part] : catalogue().parts().gpus()) {
    const auto model = compute().gpu(catalogue().parts(), key);
    ASSERT_TRUE(model) << model.error().text();
    EXPECT_GT(model->gemm({4096, 4096, 4096}, Precision::bf16), Time()) << key;
  }
}

TEST(Compute, AnUnknownGpuIsAnErrorWithTheNearestName) {
  const auto model = compute().gpu(catalogue().parts(), "h100-smx");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().text().find("h100-sxm"), std::string::npos) << model.error().text();
}

TEST(Compute, NarrowFormatsRunOnlyWhereTheHardwareHasThem) {
  EXPECT_FALSE(gpu("a100-sxm4-80").multiplies(Precision::fp8_current));
  EXPECT_TRUE(gpu("h100-sxm").multiplies(Precision::fp8_current));
  EXPECT_FALSE(gpu("h100-sxm").multiplies(Precision::nvfp4));
  EXPECT_TRUE(gpu("b200").multiplies(Precision::nvfp4));
  // Kept narrow but multiplied as bf16: reading the weights gets cheaper, the arithmetic not.
  const ComputeModel a100 = gpu("a100-sxm4-80");
  EXPECT_LT(a100.gemm({1, 16384, 16384}, Precision::int4),
            a100.gemm({1, 16384, 16384}, Precision::bf16).scaled(0.5));
  EXPECT_EQ(a100.peak_flops(Precision::int4), a100.peak_flops(Precision::bf16));
}

TEST(Compute, NothingTakesNoTime) {
  EXPECT_EQ(gpu("b200").gemm({0, 4096, 4096}, Precision::bf16), Time());
  EXPECT_EQ(gpu("b200").attention({}), Time());
}

TEST(Compute, NarrowHeadsAndFewKeysAreSlowForTheirArithmetic) {
  const ComputeModel h100 = gpu("h100-sxm");
  const Attention wide{1e13, Bytes(1 << 20), 8192, 128};
  Attention narrow = wide, few = wide;
  narrow.width = 64;  // FlashAttention 3's figures: 497 against 648 TFLOP/s
  few.keys = 128;
  EXPECT_NEAR(h100.attention(narrow).seconds() / h100.attention(wide).seconds(), 648.0 / 497, 0.03);
  EXPECT_GT(h100.attention(few), h100.attention(wide).scaled(2));
}

TEST(Compute, APowerLimitSlowsArithmeticButNotMemory) {
  const double slower = gpu("h100-sxm-96").gemm({8192, 8192, 8192}, Precision::bf16).seconds() /
                        gpu("h100-sxm").gemm({8192, 8192, 8192}, Precision::bf16).seconds();
  EXPECT_GT(slower, 1.1);
  EXPECT_LT(slower, 700.0 / 500);
}

RC_GTEST_PROP(Compute, NoProductIsFasterThanPeakOrThanItsWeightsAreRead, ()) {
  const char* key = *rc::gen::element("a100-sxm4-80", "h100-sxm", "b200", "l40s", "mi300x");
  const Precision precision = *rc::gen::element(Precision::bf16, Precision::fp8_current);
  const Gemm g{*rc::gen::inRange(1, 20000), *rc::gen::inRange(1, 20000),
               *rc::gen::inRange(1, 20000), *rc::gen::inRange(1, 9)};
  const ComputeModel model = gpu(key);
  const double seconds = model.gemm(g, precision).seconds();
  const double products = double(g.count) * double(g.n) * double(g.k);
  RC_ASSERT(seconds > 2 * products * double(g.m) / model.peak_flops(precision));
  RC_ASSERT(seconds > products * model::bytes_per_element(precision) /
                          model.memory_rate().bytes_per_second());
}

RC_GTEST_PROP(Compute, MoreOfAnythingIsNeverMuchFaster, ()) {
  // Library kernels do get faster where a larger size fits tiles better; never by much.
  const ComputeModel model = gpu(*rc::gen::element("a100-sxm4-80", "h100-sxm", "b200"));
  const Gemm g{*rc::gen::inRange(1, 9000), *rc::gen::inRange(64, 9000),
               *rc::gen::inRange(64, 9000)};
  const Time base = model.gemm(g, Precision::bf16);
  RC_ASSERT(model.gemm({g.m * 2, g.n, g.k}, Precision::bf16) >= base.scaled(0.999));
  RC_ASSERT(model.gemm({g.m, g.n * 2, g.k}, Precision::bf16) >= base.scaled(0.999));
  RC_ASSERT(model.gemm({g.m, g.n, g.k, 2}, Precision::bf16) >= base.scaled(0.999));
}

TEST(Compute, MeasuredProductsAreMet) {
  const auto tables = load_gemm_tables(ISLEWAY_SOURCE_DIR "/measurements/gemm");
  ASSERT_TRUE(tables) << tables.error().text();
  const auto errors = gemm_errors(*tables, compute(), catalogue().parts());
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->size(), 15u);
  for (const GemmFitError& e : *errors) {
    EXPECT_LT(e.all.median, 0.13) << e.gpu << ' ' << model::name_of(e.precision);
    EXPECT_LT(e.large.median, 0.10) << e.gpu << ' ' << model::name_of(e.precision);
  }
}

TEST(GemmFit, FindsConstantsFromTimesMadeWithThem) {
  const ComputeModel model = gpu("h100-sxm");
  GemmConstants truth = model.constants(Precision::bf16);
  truth.peak *= 0.8;
  truth.launch *= 2;
  GemmTable table{"h100-sxm", "made up", {}};
  for (const std::int64_t m : {1, 16, 256, 1024, 8192})
    for (const std::int64_t k : {512, 4096, 16384}) {
      const Gemm shape{m, 4096, k};
      table.rows.push_back({Precision::bf16, shape,
                            model.with(Precision::bf16, truth).gemm(shape, Precision::bf16)});
    }
  const auto fit = fit_gemm(std::vector{table}, compute(), catalogue().parts());
  ASSERT_TRUE(fit);
  EXPECT_LT(fit->errors.at(0).all.p90, 0.05);
  EXPECT_NEAR(fit->constants.at("hopper").at(Precision::bf16).launch, truth.launch, 1);
}

TEST(GemmTable, WhatIsWrongIsSaidAtItsLine) {
  for (const char* row : {"bf16,1,2,3", "bf17,1,2,3,4", "bf16,0,2,3,4", "bf16,1,2,3,-4",
                          "bf16,1,2,3,nan", "bf16,99999999999999999999,2,3,4"}) {
    const auto table = gemm_table_from_csv(std::string("precision,m,n,k,us\n") + row, "x.csv");
    ASSERT_FALSE(table) << row;
    EXPECT_EQ(table.error().where.line, 2) << row;
  }
  EXPECT_FALSE(gemm_table_from_csv("", "x.csv"));
}

}  // namespace
}  // namespace isleway::plan
