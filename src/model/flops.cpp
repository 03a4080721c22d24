#include "isleway/model/flops.hpp"

#include "isleway/model/operations.hpp"
#include "isleway/model/parameters.hpp"

namespace isleway::model {
namespace {

constexpr std::int64_t kTokens = 1 << 20;  // any number: what is asked for is per token

Work work_for(double sequence, FlopConvention convention) {
  Work work;
  work.tokens = kTokens;
  work.context = sequence / 2;
  if (convention == FlopConvention::full) {
    work.context = sequence;
    work.spread = false;
  }
  return work;
}

/// Windows and picks count in no convention but `causal`.
Layer as_counted(Layer layer, FlopConvention convention) {
  if (convention == FlopConvention::full)
    layer.mixer.window = layer.mixer.compress = layer.mixer.index_topk = 0;
  return layer;
}

double layer_flops(const Layer& layer, std::int64_t hidden, const Work& work) {
  double flops = 0;
  for (const Operation& op : operations(layer, hidden, {}, work)) flops += op.flops;
  return flops / kTokens;
}

double flops_of(const Transformer& model, double sequence, FlopConvention convention, bool mtp) {
  const ModelParameters weights = parameters(model);
  if (convention == FlopConvention::weights_6n) {
    const std::int64_t head = model.tied ? model.vocabulary * model.hidden : weights.head;
    return 2 * static_cast<double>(weights.active_layers + weights.other + head);
  }
  const Work work = work_for(sequence, convention);
  std::vector<double> of_kind;
  for (const Layer& layer : model.kinds)
    of_kind.push_back(layer_flops(as_counted(layer, convention), model.hidden, work));
  const double hidden = static_cast<double>(model.hidden);
  const double head = 2 * hidden * static_cast<double>(model.vocabulary);
  double flops = head;
  for (const std::uint8_t kind : model.order) flops += of_kind[kind];
  if (!mtp || model.mtp_order.empty()) return flops;
  for (const std::uint8_t kind : model.mtp_order) flops += of_kind[kind];
  return flops + head + 4 * hidden * hidden;
}

}  // namespace

const char* name_of(FlopConvention convention) {
  switch (convention) {
    case FlopConvention::full: return "full attention";
    case FlopConvention::causal: return "causal attention";
    case FlopConvention::weights_6n: return "6N";
  }
  return "";
}

double forward_flops(const Transformer& model, double sequence, FlopConvention convention) {
  return flops_of(model, sequence, convention, false);
}

double training_flops(const Transformer& model, double sequence, FlopConvention convention) {
  return 3 * flops_of(model, sequence, convention, true);
}

}  // namespace isleway::model
