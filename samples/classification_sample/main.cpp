// SPDX-License-Identifier: Apache-2.0
// Names what pictures show, one after the other: the whole public API in its shortest form.
#include <chrono>
#include <cstdio>
#include <exception>

#include "common/classification.hpp"
#include "common/options.hpp"
#include "common/picture.hpp"
#include "core/log.hpp"
#include "headrace/headrace.hpp"

namespace {

using headrace::samples::SampleOptions;

const std::string kProgram = "classification_sample";

int classify(const SampleOptions& options) {
  const std::vector<std::string> labels =
      options.labels.empty() ? std::vector<std::string>() : headrace::samples::read_labels(options.labels);

  // 1. Devices. 2. The network as a file describes it. 3. Its input: type and shape.
  const headrace::Core core;
  headrace::Model model = core.read_model(options.model);
  const headrace::samples::ImageInput input = headrace::samples::find_image_input(model, options.preprocess);

  // 4. Compile for the devices. 5. A request, which owns the memory of one run.
  const headrace::Properties properties = {{"PERF_COUNT", options.is_profiling ? "YES" : "NO"}};
  const headrace::CompiledModel net = core.compile_model(model, options.device, properties);
  headrace::InferRequest request = net.create_infer_request();
  headrace::samples::warn_about_labels(kProgram, labels.size(), net.outputs());
  for (const std::string& origin : net.origins()) std::printf("%s\n", origin.c_str());

  int exit_code = 0;
  bool has_result = false;
  for (const std::string& path : options.pictures) {
    try {
      // 6. Input. The picture is new for every file, so a bad file cannot show the one before. 7. Run; output.
      const headrace::samples::Picture picture = headrace::samples::read_picture(path, input.channels);
      const headrace::Tensor tensor = headrace::samples::to_tensor(picture, input, options.preprocess);
      request.set_input_tensor(input.index, tensor);
      const auto start = std::chrono::steady_clock::now();
      request.infer();
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      has_result = true;
      const auto classes =
          headrace::samples::best_classes(request.get_output_tensor(), static_cast<std::size_t>(options.top));
      std::printf("\n%s (%.2f ms)\n%s", path.c_str(), time.count(),
                  headrace::samples::classes_table(classes, labels).c_str());
    } catch (const headrace::Error& error) {
      headrace::samples::print_error(kProgram, error.what());
      exit_code = 1;  // the other pictures still run
    }
  }
  if (options.is_profiling && has_result)
    std::printf("\n%s", headrace::profile_table(request.profiling_info()).c_str());
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    headrace::configure_log_from_environment();
    const auto parsed = headrace::samples::parse_sample_options(
        argc, argv, {kProgram, "Names what pictures show, one after the other.", false});
    return parsed.options ? classify(*parsed.options) : parsed.exit_code;
  } catch (const std::exception& error) {
    headrace::samples::print_error(kProgram, error.what());
    return 1;
  }
}
