// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_cache.hpp"

#include <algorithm>

#include "core/file.hpp"
#include "plan/packing_version.hpp"

namespace headrace {
namespace {

// Less is packed sooner than a file is opened.
constexpr std::size_t kMinStoredBytes = 32 * 1024;

// Names the packed weights by everything that they are made from: the contents of the constants, not where they lie,
// so that no change of a file can be missed; and the source text of the packing, so that no other build's are taken.
Digest store_key(const PackRequest& request) {
  std::string text;
  const auto add = [&text](std::string_view field) {
    text += std::to_string(field.size()) + ":";  // keeps fields apart whatever they contain
    text += field;
  };
  add(packing_version());
  add(request.context);
  add(request.form);
  const std::vector<Tensor>& tensors = request.sources->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add(to_string(tensors[i].type()));
    add(to_string(tensors[i].shape()));
    add(to_hex(request.sources->digest(i)));
  }
  return digest_of(as_bytes(text));
}

// A file that is written to while its weights are packed must not leave a wrong pair of key and weights behind.
std::function<bool()> unchanged_files(const PackingSources& sources) {
  std::vector<std::pair<Tensor, Digest>> mapped;
  for (std::size_t i = 0; i < sources.tensors().size(); ++i) {
    const Tensor& tensor = sources.tensors()[i];
    if (tensor.is_read_only()) mapped.emplace_back(tensor, sources.digest(i));
  }
  return [mapped = std::move(mapped)] {
    return std::all_of(mapped.begin(), mapped.end(),
                       [](const auto& source) { return digest_of(source.first) == source.second; });
  };
}

}  // namespace

std::size_t PackingSources::size_bytes() const {
  std::size_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.size_bytes();
  return bytes;
}

Digest PackingSources::digest(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  std::optional<Digest>& digest = digests_.at(index);
  if (!digest) digest = digest_of(tensors_[index]);
  return *digest;
}

std::vector<WeightsCache::Identity> WeightsCache::identities_of(const PackingSources& sources) {
  std::vector<Identity> identities;
  for (std::size_t i = 0; i < sources.tensors().size(); ++i) {
    const Tensor& tensor = sources.tensors()[i];
    const bool is_mapped = tensor.is_read_only();
    identities.push_back(
        {tensor.type(), tensor.shape(), is_mapped ? tensor.data() : nullptr, is_mapped ? Digest{} : sources.digest(i)});
  }
  return identities;
}

Tensor WeightsCache::get(const PackRequest& request) {
  std::vector<Identity> wanted = identities_of(*request.sources);
  std::promise<Tensor> promise;
  std::shared_future<Tensor> found;
  std::list<Entry>* entries = nullptr;
  std::list<Entry>::iterator own;
  {
    const std::lock_guard lock(mutex_);
    entries = &entries_[request.node + "|" + request.form];
    const auto entry =
        std::find_if(entries->begin(), entries->end(), [&](const Entry& e) { return e.sources == wanted; });
    if (entry != entries->end()) {
      found = entry->packed;
    } else {
      entries->push_back({std::move(wanted), promise.get_future().share()});
      own = std::prev(entries->end());
    }
  }
  if (found.valid()) return found.get();
  try {
    const Tensor packed = find_or_make(request);
    promise.set_value(packed);
    return packed;
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    entries->erase(own);
    throw;
  }
}

Tensor WeightsCache::find_or_make(const PackRequest& request) const {
  const bool is_stored = store_ != nullptr && store_->is_on() && request.sources->size_bytes() >= kMinStoredBytes;
  const Digest key = is_stored ? store_key(request) : Digest{};
  if (is_stored) {
    if (const auto packed = store_->find(key)) return *packed;
  }
  const Tensor packed = request.make();
  for (const Tensor& source : request.sources->tensors()) drop_file_pages({source.data(), source.size_bytes()});
  if (is_stored) store_->keep(key, packed, unchanged_files(*request.sources));
  return packed;
}

}  // namespace headrace
