/* SPDX-License-Identifier: Apache-2.0
 * fake_kernels.cc - modules, which may be any image; functions, which are the kernels that were
 * compiled into this library or later into libraries of their own (fake_cubin.h); launches. */
#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include "fake_cubin.h"
#include "fake_driver.h"

namespace fake {
namespace {

enum { PLAIN_SHARED = 49152 }; /* bytes of shared memory that a launch may have without opting in */
struct Module;
struct Function {
  const vt_gpu_entry *kernel;
  Module *module;
  unsigned shared;
};
struct Module {
  std::map<std::string, Function> functions;
};
std::set<Module *> modules;

Function *find_function(const void *handle) {
  std::lock_guard<std::mutex> held(lock());
  for (Module *m : modules)
    for (auto &f : m->functions)
      if (&f.second == handle) return &f.second;
  return nullptr;
}

int check_launch(const Function &f, const Launch &l) {
  const uint64_t threads = (uint64_t)l.threads.x * l.threads.y * l.threads.z;
  if (l.blocks.x == 0 || l.blocks.y == 0 || l.blocks.z == 0 || threads == 0) return INVALID_VALUE;
  if (l.blocks.x > 0x7fffffffu || l.blocks.y > 65535 || l.blocks.z > 65535) return INVALID_VALUE;
  if (l.threads.z > 64 || threads > MOST_THREADS || threads > f.kernel->threads)
    return INVALID_VALUE;
  return l.shared > f.shared ? INVALID_VALUE : OK;
}

/* Returns true if all blocks can be resident at the same time. A kernel with up to 1024 threads per
 * block has 64 registers per thread. */
bool all_blocks_fit(const Launch &l) {
  enum { SYSTEM = 1024, THREADS = 1024 };
  const uint64_t blocks = (uint64_t)l.blocks.x * l.blocks.y * l.blocks.z;
  const uint64_t threads = (uint64_t)l.threads.x * l.threads.y * l.threads.z;
  const uint64_t each = std::min<uint64_t>(
      THREADS / threads, ((uint64_t)settings().shared + SYSTEM) / (l.shared + SYSTEM));
  return settings().cooperative && blocks <= each * (uint64_t)settings().processors;
}

/* Loads the library of a fake cubin, whose kernels register themselves. It is never unloaded. The
 * file name is never reused, because the linker would take a second file of that name for the
 * first. */
int load_cubin_library(const void *image) {
  const fake_cubin *head = static_cast<const fake_cubin *>(image);
  std::string path = "/tmp/fake_cubin.XXXXXX";
  const int fd = mkstemp(&path[0]);
  if (fd < 0) return OUT_OF_MEMORY;
  const bool whole = write(fd, head + 1, head->bytes) == (ssize_t)head->bytes;
  close(fd);
  void *library = whole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  return library != nullptr ? OK : INVALID_IMAGE;
}

int run_kernel(const Launch &launch, const std::vector<uint64_t> &args) {
  const Outcome o = run(launch, args.data(), settings().rules);
  if (o.error != RAN) lose_context(o.error, o.text);
  return o.error;
}

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

int fake_cuModuleLoadData(void **module, const void *image) {
  Call c("cuModuleLoadData", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  if (is_recording()) return c.done(invalidate_recording());
  if (module == nullptr) return c.done(INVALID_VALUE);
  if (image == nullptr) return c.done(INVALID_IMAGE);
  std::lock_guard<std::mutex> held(lock());
  if (strncmp(static_cast<const char *>(image), FAKE_CUBIN, sizeof FAKE_CUBIN - 1) == 0 &&
      load_cubin_library(image) != OK)
    return c.done(INVALID_IMAGE);
  *module = *modules.insert(new Module).first;
  return OK;
}

int fake_cuModuleUnload(void *module) {
  Call c("cuModuleUnload", Call::context, "%s", "");
  if (is_recording()) return c.done(invalidate_recording());
  execute_all_streams();
  std::lock_guard<std::mutex> held(lock());
  Module *m = static_cast<Module *>(module);
  if (modules.erase(m) == 0) return c.done(INVALID_HANDLE);
  delete m;
  return c.answer();
}

int fake_cuModuleGetFunction(void **function, void *module, const char *name) {
  Call c("cuModuleGetFunction", Call::context, "%s", name != nullptr ? name : "");
  if (c.refused()) return c.answer();
  if (function == nullptr || name == nullptr) return c.done(INVALID_VALUE);
  std::lock_guard<std::mutex> held(lock());
  Module *m = static_cast<Module *>(module);
  if (modules.count(m) == 0) return c.done(INVALID_HANDLE);
  const vt_gpu_entry *kernel = find_kernel(name);
  if (kernel == nullptr) return c.done(NOT_FOUND);
  *function = &m->functions.insert({name, Function{kernel, m, PLAIN_SHARED}}).first->second;
  return OK;
}

int fake_cuFuncSetAttribute(void *function, int attribute, int value) {
  Call c("cuFuncSetAttribute", Call::context, "%d = %d", attribute, value);
  if (c.refused()) return c.answer();
  Function *f = find_function(function);
  if (f == nullptr) return c.done(INVALID_HANDLE);
  /* attribute 9 is the preferred shared memory carveout */
  if (attribute == 9 && value >= -1 && value <= 100) return OK;
  if (attribute != 8 || value < 0 || value > settings().shared) return c.done(INVALID_VALUE);
  f->shared = (unsigned)value;
  return OK;
}

static int launch(Call &c, void *function, fake::Launch l, void *stream, void **parameters) {
  const Function *f = find_function(function);
  if (f == nullptr) return c.done(INVALID_HANDLE);
  if (parameters == nullptr || parameters[0] == nullptr) return c.done(INVALID_VALUE);
  l.kernel = f->kernel;
  if (check_launch(*f, l) != OK) return c.done(INVALID_VALUE);
  if (l.cooperative && !all_blocks_fit(l)) return c.done(TOO_LARGE);
  std::vector<uint64_t> args(f->kernel->bytes / 8 + 1);
  memcpy(args.data(), parameters[0], f->kernel->bytes);
  return c.done(issue(
      stream, [l, args] { return run_kernel(l, args); }, false));
}

static const char *kernel_name_of(const void *function) {
  const Function *f = find_function(function);
  return f != nullptr ? f->kernel->name : "?";
}

int fake_cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        void *stream, void **parameters, void **extra) {
  Call c("cuLaunchKernel", Call::context, "%s %ux%ux%u of %ux%ux%u shared %u",
         kernel_name_of(function), grid_x, grid_y, grid_z, block_x, block_y, block_z, shared);
  if (c.refused()) return c.answer();
  if (extra != nullptr) return c.done(INVALID_VALUE);
  return launch(c, function,
                {nullptr, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, false},
                stream, parameters);
}

int fake_cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, void *stream,
                                   void **parameters) {
  Call c("cuLaunchCooperativeKernel", Call::context, "%s %ux%ux%u of %ux%ux%u shared %u",
         kernel_name_of(function), grid_x, grid_y, grid_z, block_x, block_y, block_z, shared);
  if (c.refused()) return c.answer();
  return launch(c, function,
                {nullptr, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true},
                stream, parameters);
}
}
