// SPDX-License-Identifier: Apache-2.0
// The cache of compiled programs: every change is a miss, every damage is a rebuild, processes may share it.
#include "device/opencl/program_cache.hpp"

#include <sys/resource.h>

#include <csignal>
#include <ctime>
#include <filesystem>

#include "device/child_process.hpp"
#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

ProgramCacheKey make_key() {
  return {.source_sha256 = "aa", .options = "-DVEC=16", .device = "d", .driver = "1", .platform = "p"};
}

TEST(ProgramCacheTest, ReturnsWhatWasStoredForEqualKeysOnly) {
  const TempFolder folder;
  const ProgramCache cache(folder.path("new/cache"));
  EXPECT_FALSE(cache.find(make_key()).has_value());
  cache.store(make_key(), "bytes");
  EXPECT_EQ(cache.find(make_key()), "bytes");
  for (std::string ProgramCacheKey::*field :
       {&ProgramCacheKey::source_sha256, &ProgramCacheKey::options, &ProgramCacheKey::device, &ProgramCacheKey::driver,
        &ProgramCacheKey::platform}) {
    ProgramCacheKey other = make_key();
    other.*field += "x";
    EXPECT_FALSE(cache.find(other).has_value());
    // Even where the file of another key lies in its place (as after a hash collision or a copied cache).
    std::filesystem::copy_file(cache.path_of(make_key()), cache.path_of(other));
    EXPECT_FALSE(cache.find(other).has_value());
  }
}

TEST(ProgramCacheTest, TreatsEveryDamageAsAMissAndWarnsOnce) {
  const TempFolder folder;
  const std::string path = ProgramCache(folder.path()).path_of(make_key());
  ProgramCache(folder.path()).store(make_key(), "bytes of a program");
  const std::string good = read_bytes(path);
  std::vector<std::string> bad = {"", good.substr(0, good.size() / 2), good.substr(0, good.size() - 1), good + "x",
                                  std::string(good.size(), '\xff')};
  for (std::size_t i = 0; i < good.size(); ++i) {
    bad.push_back(good);
    bad.back()[i] = static_cast<char>(bad.back()[i] ^ 1);
  }
  for (const std::string& bytes : bad) {
    write_bytes(path, bytes);
    const ProgramCache cache(folder.path());
    const LogCollector log;
    EXPECT_FALSE(cache.find(make_key()).has_value());
    EXPECT_FALSE(cache.find(make_key()).has_value());
    EXPECT_EQ(log.warnings().size(), 1U);
    cache.store(make_key(), "new");
    EXPECT_EQ(cache.find(make_key()), "new");
  }
}

TEST(ProgramCacheTest, WarnsOnceWhereTheFolderCannotBeUsed) {
  const TempFolder folder;
  write_bytes(folder.path("file"), "a file where the folder should be");
  for (const std::string& bad : {std::string("/proc/nope"), folder.path("file"), folder.path("file/below")}) {
    SCOPED_TRACE(bad);
    const ProgramCache cache(bad);
    const LogCollector log;
    EXPECT_FALSE(cache.find(make_key()).has_value());
    cache.store(make_key(), "bytes");
    cache.store(make_key(), "bytes");
    EXPECT_EQ(log.warnings().size(), 1U);
  }
}

TEST(ProgramCacheTest, DISABLED_ChildWithAFullDisk) {
  const rlimit limit{4096, 4096};
  ::signal(SIGXFSZ, SIG_IGN);  // writes then fail as on a full disk, with another code
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const TempFolder folder;
  const ProgramCache cache(folder.path());
  const LogCollector log;
  for (int i = 0; i < 2; ++i) cache.store(make_key(), std::string(1 << 20, 'x'));
  EXPECT_EQ(log.warnings().size(), 1U);
  EXPECT_FALSE(cache.find(make_key()).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ProgramCacheTest, LeavesNothingBehindOnAFullDisk) {
  expect_passed(run_child("ProgramCacheTest.DISABLED_ChildWithAFullDisk", {}));
}

// Runs a plan with the cache of HEADRACE_TEST_CACHE and the kernels of HEADRACE_TEST_KERNELS.
struct CachedRun {
  std::string origin;
  double first_ms = 0.0;  // load to first result, CPU time of all threads: holds on a busy machine too
};

CachedRun run_cached(const std::string& device_name, const std::string& cache, const std::string& kernels) {
  const std::clock_t start = std::clock();
  const auto device = make_opencl_device(device_name, {.cache_dir = cache, .state_dir = "", .kernel_dir = kernels});
  const auto executable = device->load(make_scale_plan({64}, 2.0F, 1.0F), {});
  const auto session = executable->make_session();
  const Tensor output(ElementType::f32, {64});
  session->set_input(0, counting_tensor({64}));
  session->set_output(0, output);
  session->start();
  session->finish();
  const double first_ms = static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC;
  expect_scaled(output, 2.0F, 1.0F);
  return {executable->step_origins().at(0), first_ms};
}

TEST(ProgramCacheTest, LoadsInTheNextRunAndRebuildsAfterDamageOnEveryDevice) {
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  for (const std::string& name : usable_device_names()) {
    SCOPED_TRACE(name);
    const std::string cache = folder.path("cache-" + name);
    EXPECT_EQ(run_cached(name, cache, folder.path("kernels")).origin, "source");
    EXPECT_EQ(run_cached(name, cache, folder.path("kernels")).origin, "cache");
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      const std::string bytes = read_bytes(entry.path());
      write_bytes(entry.path(), bytes.substr(0, bytes.size() / 2));
    }
    const LogCollector log;
    EXPECT_EQ(run_cached(name, cache, folder.path("kernels")).origin, "source");
    EXPECT_EQ(run_cached(name, cache, folder.path("kernels")).origin, "cache");
    EXPECT_EQ(log.warnings().size(), 1U);
    EXPECT_EQ(run_cached(name, "/proc/nope", folder.path("kernels")).origin, "source");
    // Another text of the kernel is another program.
    const std::string text = read_bytes(folder.path("kernels/scale.cl"));
    write_bytes(folder.path("kernels/scale.cl"), text + "// changed\n");
    EXPECT_EQ(run_cached(name, cache, folder.path("kernels")).origin, "source");
    write_bytes(folder.path("kernels/scale.cl"), text);
  }
}

TEST(ProgramCacheTest, DISABLED_ChildRun) {
  const CachedRun run = run_cached("POCL", std::getenv("HEADRACE_TEST_CACHE"), std::getenv("HEADRACE_TEST_KERNELS"));
  std::printf("origin %s first_ms %.1f\n", run.origin.c_str(), run.first_ms);
}

TEST(ProgramCacheTest, SharesOneFolderBetweenEightProcesses) {
  if (!find_opencl_device(list_opencl_devices(), "POCL")) GTEST_SKIP() << "PoCL is not installed";
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  const std::vector<std::string> tests(8, "ProgramCacheTest.DISABLED_ChildRun");
  const Environment environment = {{"HEADRACE_TEST_CACHE", folder.path("cache")},
                                   {"HEADRACE_TEST_KERNELS", folder.path("kernels")}};
  for (const ChildResult& result : run_children(tests, environment)) expect_passed(result);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache"))) {
    EXPECT_EQ(entry.path().extension(), ".clbin") << "a stray file: " << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST(ProgramCacheTest, StartsFastInAFreshProcessWithAnEmptyPoclCache) {
  if (!find_opencl_device(list_opencl_devices(), "POCL")) GTEST_SKIP() << "PoCL is not installed";
  const TempFolder folder;
  write_test_kernels(folder.path("kernels"));
  const auto run = [&](const std::string& pocl_cache) {
    std::filesystem::create_directories(folder.path(pocl_cache));
    return run_child("ProgramCacheTest.DISABLED_ChildRun", {{"HEADRACE_TEST_CACHE", folder.path("cache")},
                                                            {"HEADRACE_TEST_KERNELS", folder.path("kernels")},
                                                            {"POCL_CACHE_DIR", folder.path(pocl_cache)}});
  };
  const ChildResult cold = run("pocl-1");
  expect_passed(cold);
  EXPECT_NE(cold.output.find("origin source"), std::string::npos) << cold.output;
  const ChildResult warm = run("pocl-2");
  expect_passed(warm);
  double first_ms = 0.0;
  const std::size_t at = warm.output.find("origin cache first_ms ");
  ASSERT_NE(at, std::string::npos) << warm.output;
  ASSERT_EQ(std::sscanf(warm.output.c_str() + at, "origin cache first_ms %lf", &first_ms), 1);
  // Machine code loads in some 20 ms; bringing up PoCL's compiler alone would take 500.
  EXPECT_LT(first_ms, 250.0);
}

}  // namespace
}  // namespace headrace::test
