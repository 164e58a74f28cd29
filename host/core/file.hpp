// SPDX-License-Identifier: Apache-2.0
// Whole files: bounded reading, mapping, and writing that never leaves half a file behind.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// Returns text in single quotes, cut to a readable length and with control characters replaced, so that a name from a
// hostile file cannot spoil a one-line message.
std::string quote(std::string_view text);

// Reads a regular file whole. Throws kIo where it cannot be read or is larger than max_bytes, with `what` in the
// message ("XML").
std::string read_file(const std::string& path, std::size_t max_bytes, std::string_view what);

// A file's bytes, kept alive by owner. At least kMemoryAlignment readable bytes follow the last one, so that vector
// loads at the end of the file stay inside the mapping.
struct MappedFile {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

// Maps a regular file for reading. Throws kIo. Writers that replace the file by rename do not disturb the mapping.
MappedFile map_file(const std::string& path);

// Gives back the memory that holds a part of a mapped file; it is read from the file again when it is needed again. For
// contents that were copied into another form. Does nothing where the range is not inside a file that map_file mapped.
// Thread-safe.
void drop_file_pages(std::span<const std::byte> bytes);

// Whether a file has to survive a loss of power: waiting for the disk takes as long as writing it.
enum class Durability { kOnDisk, kCache };

// Writes the pieces one after another to a temporary file beside `path` (its name and ".tmp..."), then renames it:
// readers see the old file or the new one. Throws kIo and leaves no temporary file. go_on, where given, is asked before
// every piece; writing fails where it says no.
void write_file(const std::string& path, const std::vector<std::span<const std::byte>>& pieces,
                Durability durability = Durability::kOnDisk, const std::function<bool()>& go_on = nullptr);

std::span<const std::byte> as_bytes(std::string_view text);

}  // namespace headrace
