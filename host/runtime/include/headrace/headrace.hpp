// SPDX-License-Identifier: Apache-2.0
// The public API of Headrace. Include this one header and link headrace::runtime.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_type.hpp"
#include "core/error.hpp"
#include "core/shape.hpp"
#include "core/tensor.hpp"
#include "headrace/convert.hpp"
#include "headrace/quantize.hpp"
#include "headrace/summary.hpp"

namespace headrace {

// Configuration of a compiled model; names and values are OpenVINO's where it has them. Unknown keys throw
// kInvalidArgument listing the known ones.
//   PERF_COUNT               YES: requests keep figures for profiling_info(); default NO
//   PERFORMANCE_HINT         LATENCY (default), or THROUGHPUT: several requests at once. A device on CPU cores is then
//                            divided, so that every request in flight has cores of its own
//   NUM_STREAMS              how many requests run at once, or AUTO (default): as the hint says. Weights and programs
//   are
//                            held once, whatever the number; each request has an arena
//   INFERENCE_NUM_THREADS    of the CPU device, for all streams together; default 0: all cores. (A part of an OpenCL
//                            device is named POCL#0/2)
//   EXACT_NAN                YES leaves out kernels that spread a NaN or an infinity to neighbouring outputs that do
//   not
//                            read it (Winograd's convolution); default NO
//   TUNING                   NO leaves the tuning tables aside; default YES
//   ENABLE_STARTUP_FALLBACK  YES: while a device's kernels are compiled, requests run on the CPU device, and change to
//   the
//                            device between two runs; default NO. A compilation that fails is told by the next run
using Properties = std::map<std::string, std::string>;

// Where an OpenCL memory object stands in for host memory (see InferRequest::set_input_buffer).
using ClMem = void*;  // a cl_mem of the device's context

struct PortInfo {
  std::string name;                // the tensor's first name
  std::vector<std::string> names;  // all of them
  ElementType type = ElementType::f32;
  PartialShape shape;
};

// One row of `headrace devices`.
struct DeviceSummary {
  std::string name;                  // "CPU", "CL.0"
  std::vector<std::string> aliases;  // "POCL", "GPU", "FPGA.1"
  std::string type;                  // "CPU", "OpenCL CPU", "GPU", "accelerator"
  std::string description;
  std::string platform;
  std::string driver;
  int compute_units = 0;
  std::size_t global_bytes = 0;
  bool has_compiler = true;
  std::string bitstream;  // name of what is programmed, or empty
  std::string problem;    // why the device or platform cannot be used, or empty
};

// One row of `headrace query`.
struct LayerPlacement {
  std::string layer;
  std::string type;                // the file's own type name
  std::string device;              // "CL.0", "CPU", or empty: nowhere
  int subgraph = -1;               // subgraphs are numbered in the order in which they run
  std::vector<std::string> fused;  // original layers computed inside this one
  struct Refusal {
    std::string device;
    std::string reason;
  };
  std::vector<Refusal> refusals;  // earlier devices in the list, in order
};

// One row of -pc. Per subgraph: enqueue (OpenCL only; no time of its own: the device works meanwhile), input transfer,
// the layers, output transfer, host overhead (gaps between kernels, waking up): the times add up to the wall time.
struct LayerProfile {
  std::string layer;  // "subgraph0: conv1", or a transfer: "subgraph0: input transfer"
  std::string type;
  std::string device;
  std::string kernel;
  std::string origin;  // "bitstream NAME", "cache", "source", "host"
  double device_us = 0.0;
  double queue_us = 0.0;  // from enqueueing to the start; of the row "enqueue": the time to enqueue the whole subgraph
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

// The rows as a table with units (times, GFLOP/s, GB/s) and a line of sums, for -pc. With the multiply-adds' peak of
// devices (CompiledModel::measure_peaks) also each layer's share of it.
std::string profile_table(const std::vector<LayerProfile>& rows, const std::map<std::string, double>& peaks = {});

// That share, or nothing where it is not known. Layers of bytes count against four times the peak: AVX512-VNNI does
// four of their multiply-adds for one of f32. Winograd's form does fewer than are counted: its share can be above 1.
std::optional<double> share_of_peak(const LayerProfile& row, const std::map<std::string, double>& peaks);

// A tensor inside a network that a compiled model computes as such: no fusion has swallowed it.
struct InnerTensor {
  std::string layer;               // of the file, whose result the tensor is
  std::string type;                // that layer's, in the file's own words
  std::string name;                // the tensor's first name, else the layer's
  std::vector<std::string> fused;  // layers of the file that are computed on the way, from the tensors before it on
  std::string device;              // that computes it; empty where its shape is known in a run only
  ElementType element_type = ElementType::f32;
  Shape shape;             // [] where it is known in a run only
  std::int32_t node = -1;  // where it is in the model's graph
  std::int32_t port = 0;
};

// A network as read from a file. Copies share one immutable graph; the setters below change only this copy.
class Model {
 public:
  struct Impl;
  explicit Model(std::shared_ptr<Impl> impl);

  const std::string& name() const;
  std::vector<PortInfo> inputs() const;  // in the file's order
  std::vector<PortInfo> outputs() const;

  // Fixes the shape of an input ("" names the only one). Another batch (first dimension of two or more) than the file's
  // is taken: a layer that does not fit it is an error of compile_model. Throws kInvalidArgument where the file's shape
  // refuses another dimension.
  void set_input_shape(std::string_view input, const Shape& shape);
  // Element type in which the caller gives an input or wants an output; converted on the way.
  void set_input_type(std::string_view input, ElementType type);
  void set_output_type(std::string_view output, ElementType type);
  // Order in which the caller gives a rank-4 input: "NCHW" (default) or "NHWC"; the tensor's shape is then [N,H,W,C].
  void set_input_layout(std::string_view input, std::string_view layout);
  void set_output_layout(std::string_view output, std::string_view layout);

  // A copy that has these tensors as outputs too, behind its own, in this order. They come from Core::inner_tensors of
  // this model or of a copy of it.
  Model with_outputs(const std::vector<InnerTensor>& tensors) const;

  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

// One run of a network at a time. Use from one thread at a time; wait_for and cancel may be called from any.
class InferRequest {
 public:
  struct Impl;
  explicit InferRequest(std::shared_ptr<Impl> impl);

  // Inputs and outputs by position, or by name ("" or no name: the only one). Tensors are borrowed until the run ends;
  // memory aligned to kMemoryAlignment is used without a copy on CPU devices. Another shape than the model's compiles
  // a plan for it (cached). Throws kInvalidArgument with expected and given type and shape, kBusy while running.
  void set_input_tensor(const Tensor& tensor);
  void set_input_tensor(std::size_t index, const Tensor& tensor);
  void set_tensor(std::string_view name, const Tensor& tensor);
  void set_output_tensor(std::size_t index, const Tensor& tensor);
  // After a run: the results. They stay valid until the next start.
  Tensor get_output_tensor(std::size_t index = 0) const;
  Tensor get_tensor(std::string_view name) const;

  // Device memory (dense, row-major, the port's type and shape) in place of host memory; the network's first or last
  // subgraph must run on the device that owns it.
  void set_input_buffer(std::size_t index, ClMem buffer, const Shape& shape);
  void set_output_buffer(std::size_t index, ClMem buffer);

  void infer();        // start_async and wait
  void start_async();  // throws kBusy while running
  void wait();         // rethrows the run's first error; the request is usable again after it
  bool wait_for(std::chrono::milliseconds timeout);  // true when done; rethrows like wait
  void cancel();                                     // a run that has not finished ends with kCancelled
  // Called once per run from a library thread, with the error or nullptr. A callback may start the next run.
  // What it throws is reported by wait().
  void set_callback(std::function<void(std::exception_ptr)> callback);

  // Figures of the last run; needs {"PERF_COUNT", "YES"}.
  std::vector<LayerProfile> profiling_info() const;

 private:
  std::shared_ptr<Impl> impl_;
};

// Immutable, thread-safe.
class CompiledModel {
 public:
  struct Impl;
  explicit CompiledModel(std::shared_ptr<Impl> impl);

  InferRequest create_infer_request() const;
  std::vector<PortInfo> inputs() const;
  std::vector<PortInfo> outputs() const;
  // Where each layer runs and why (empty until shapes are known).
  std::vector<LayerPlacement> placements() const;
  // "CL.0: bitstream generic-f32 (12 kernels)" lines, one per device used, for reports.
  std::vector<std::string> origins() const;
  // The value of a key of Properties, or of
  //   OPTIMAL_NUMBER_OF_INFER_REQUESTS  how many requests keep the devices busy
  //   EXECUTION_DEVICES                 "POCL"; "(CPU)" while the CPU stands in for it (ENABLE_STARTUP_FALLBACK)
  // NUM_STREAMS gives the number that was chosen. Throws kInvalidArgument for other names.
  std::string get_property(std::string_view name) const;
  // Where the arena and weights stand: bytes per device for one request.
  struct MemoryUse {
    std::string device;
    std::size_t arena_bytes = 0;
    std::size_t weights_bytes = 0;
    std::size_t lower_bound_bytes = 0;
  };
  std::vector<MemoryUse> memory_use() const;
  // Operations per second that multiply-adds in registers reach on each OpenCL device in use. Runs a small kernel.
  std::map<std::string, double> measure_peaks() const;

 private:
  std::shared_ptr<Impl> impl_;
};

struct CoreOptions {
  std::string cache_dir;   // compiled programs and packed weights; empty: none
  std::string state_dir;   // what is programmed on which device; empty: none
  std::string kernel_dir;  // kernels/ to read instead of the built-in texts; empty: built-in
};

// Options from HEADRACE_CACHE_DIR and HEADRACE_STATE_DIR, with defaults in the user's cache and state folders.
CoreOptions default_core_options();

// Devices and what is programmed on them. Thread-safe.
class Core {
 public:
  struct Impl;
  explicit Core(const CoreOptions& options = default_core_options());

  // Lists without compiling anything; platforms that fail are rows with a problem.
  std::vector<DeviceSummary> devices() const;
  // Reads an IR .xml with its .bin beside it, or with other weights, an .onnx file, or a Caffe .prototxt with its
  // .caffemodel beside it, or with other weights. Throws kBadModel, kUnsupported or kIo.
  Model read_model(const std::string& path, const std::string& weights_path = "") const;
  // Compiles for a device string (design.md section 4): "POCL", "HETERO:FPGA,CPU", "CPU".
  CompiledModel compile_model(const Model& model, std::string_view devices, const Properties& properties = {}) const;
  // Answers for every layer without compiling kernels; never throws for an unsupported layer.
  std::vector<LayerPlacement> query_model(const Model& model, std::string_view devices) const;
  // Layers, shapes, costs and memory over time: of the file's own layers (of open shapes what is known), or, with
  // devices, of what is left after all passes, with the place of each.
  ModelSummary summarize(const Model& model, std::string_view devices = "") const;
  // The tensors that these devices compute as such, in running order. As outputs of the network too (with_outputs)
  // they leave every fusion as it is.
  std::vector<InnerTensor> inner_tensors(const Model& model, std::string_view devices) const;
  // The subgraphs as Graphviz text, coloured by device.
  std::string query_dot(const Model& model, std::string_view devices) const;

  // Bitstreams: see host/device/opencl/README.md.
  struct ProgramReport {
    std::string device;
    std::string bitstream;
    std::string uuid;
    bool was_programmed = false;
    double load_ms = 0.0;
    int kernels = 0;
  };
  ProgramReport program(std::string_view device, const std::string& bitstream_path) const;
  // Forgets what is programmed; returns its name or "".
  std::string erase(std::string_view device) const;
  struct BuildReport {
    std::string path;
    std::string name;
    std::string uuid;
    int kernels = 0;
    std::size_t size_bytes = 0;
    double build_ms = 0.0;
  };
  using Progress = std::function<void(int done, int total, std::string_view what)>;
  BuildReport build_bitstream(const std::string& recipe_path, std::string_view device, const std::string& output_path,
                              const Progress& progress = {}) const;
  // The manifest as JSON text, after a check of every hash.
  std::string show_bitstream(const std::string& path) const;
  // Kernel instance keys that the model needs on a device of this string, for `bitstream list --for`.
  std::vector<std::string> needed_kernels(const Model& model, std::string_view device) const;

  // Measures, for every shape of a model's layers (or of layers that networks in wide use have), the forms that the
  // kernels have, and keeps the fastest in a table that compile_model uses from then on. Stores after every shape and
  // leaves out what is stored already, so that it can go on after an interrupt.
  struct TuneOptions {
    std::string table_path;  // the file to go on with and to write; empty: the user's own for the device
    bool is_again = false;   // measure what is stored too
  };
  struct TuneReport {
    std::string device;
    std::string path;  // of the table; empty where it could not be written, which was a warning
    int shapes = 0;    // asked for; fewer rows where the progress function ended it
    struct Row {
      std::string layer;
      std::string shape_class;
      std::string form;  // the fastest
      std::string default_form;
      double time_us = 0.0;
      double default_us = 0.0;
      bool is_new = false;  // measured now
    };
    std::vector<Row> rows;
  };
  // Called before a shape is measured; false ends the work there. Throws kIo or kBadModel for a table_path that cannot
  // be written or holds anything but a table of this device.
  using TuneProgress = std::function<bool(int done, int total, std::string_view what)>;
  TuneReport tune(const std::optional<Model>& model, std::string_view device, const TuneOptions& options,
                  const TuneProgress& progress) const;

  // Dumps the graph after a pass ("read", a pass's name, "partition", "plan").
  std::string dump_after(const Model& model, std::string_view devices, std::string_view stage) const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace headrace
