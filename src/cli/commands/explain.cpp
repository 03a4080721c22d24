// isleway explain: why one call takes the time that it takes.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/machine.hpp"
#include "cli/nccl_options.hpp"
#include "cli/option_group.hpp"
#include "isleway/report.hpp"

namespace isleway::cli {
namespace {

struct Options {
  MachineOptions machine;
  NcclOptions nccl;
  std::string collective, size = "64M", datatype = "float", engine = "analytic";
  int root = 0;
};

Result<nccl::BenchCall> understand_call(const Options& options, const NcclRequest& request) {
  const auto collective = parse_collective(options.collective);
  if (!collective) return tl::unexpected(collective.error());
  const auto type = nccl::parse_data_type(options.datatype);
  if (!type) return tl::unexpected(type.error());
  nccl::BenchCall call;
  call.collective = *collective;
  call.type = *type;
  call.root = options.root;
  call.algorithm = request.algorithm;
  call.protocol = request.protocol;
  return call;
}

int run(const Options& options, Session& session) {
  const auto request = understand(options.nccl, nccl::environment());
  if (!request) return report(request.error());
  const auto call = understand_call(options, *request);
  if (!call) return report(call.error());
  const auto bytes = size_option("-b", options.size);
  if (!bytes) return report(bytes.error());
  const auto engine = make_engine(options.engine);
  if (!engine) return report(engine.error());
  const auto fabric = resolve_machine(options.machine, session);
  if (!fabric) return report(fabric.error());
  const Parts& parts = (*session.catalogue())->parts();
  const nccl::Question question{*fabric, parts, request->options, **engine, *call, *bytes};
  const auto explanation = nccl::explain(question);
  if (!explanation) return report(explanation.error());
  return print(session.json ? report::explanation_json(question, *explanation)
                            : report::explanation_text(question, *explanation, session.verbose));
}

std::function<int(Session&)> set_up(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("COLLECTIVE", options->collective,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, gather, "
                 "scatter or sendrecv")
      ->required()
      ->type_name("");
  add_machine_options(app, options->machine, MachineArgument::option);
  OptionGroup tests(app, "As in nccl-tests");
  tests.add_with_default("-b,--bytes", options->size, "The size of the call", "SIZE");
  tests.add_with_default("-d,--datatype", options->datatype, "Element type", "TYPE");
  tests.add_with_default("-r,--root", options->root, "Root of broadcast, reduce, gather, scatter",
                         "RANK");
  add_nccl_options(app, options->nccl);
  add_engine_option(app, options->engine);
  app.footer(
      "Examples:\n"
      "  isleway explain all_reduce -m dgx-h100\n"
      "  isleway explain all_reduce -m 'dgx-h100*4' --network ndr400-rail -b 1M -v\n"
      "  isleway explain all_gather -m topo.xml -b 256M --nccl-version 2.21.5\n"
      "  isleway explain all_reduce -m dgx-a100 --fail gpu3:nvlink5 --json");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

extern const Command explain_command;
const Command explain_command = {
    "explain", "Why a call takes its time: candidates, bottleneck, what would change it", set_up};

}  // namespace isleway::cli
