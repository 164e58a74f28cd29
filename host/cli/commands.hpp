// SPDX-License-Identifier: Apache-2.0
// One function per command. Each prints to stdout, returns the exit code and throws Error for what cannot be done.
#pragma once

#include "cli/options.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

int run_command(const DevicesOptions& options);
int run_command(const ProgramOptions& options);
int run_command(const BitstreamBuildOptions& options);
int run_command(const BitstreamShowOptions& options);
int run_command(const BitstreamListOptions& options);
int run_command(const ConvertOptions& options);
int run_command(const QuantizeOptions& options);
int run_command(const ShowOptions& options);
int run_command(const QueryOptions& options);
int run_command(const RunOptions& options);
int run_command(const CompareOptions& options);
int run_command(const BenchOptions& options);
int run_command(const TuneOptions& options);

// Reads the model and fixes the shapes that the user gave.
Model open_model(const Core& core, const ModelOptions& options);

// The flags as properties for compile_model.
Properties properties_of(const CompileFlags& flags);

// Prints the graph where --dump asks for it. Returns whether it did: the command is then done.
bool dump_if_asked(const Core& core, const Model& model, const ModelOptions& options);

// Warns where other devices than the CPU were asked for and every layer runs on the CPU all the same.
void warn_if_only_cpu(const std::vector<LayerPlacement>& placements, const std::string& devices);

}  // namespace headrace
