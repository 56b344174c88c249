/* SPDX-License-Identifier: Apache-2.0
 * fake_memory.cc - device memory, which is memory of this process: filled with NaNs, fenced, and
 * counted against the device's capacity. Pinned memory and copies. */
#include <cstdlib>
#include <cstring>
#include <map>
#include "fake_driver.h"
#include "fiber.h"

namespace fake {
namespace {

enum { ALIGNMENT = 256 }; /* alignment, and bytes of the fence on either side */

struct Allocation {
  size_t bytes;
  int device;
};
std::map<uint64_t, Allocation> allocations; /* allocations by address */
std::map<uint64_t, size_t> pinned;
size_t used_bytes[64]; /* allocated bytes by device */

unsigned char *memory_at(uint64_t address) { return reinterpret_cast<unsigned char *>(address); }
uint64_t address_of(const void *p) { return reinterpret_cast<uint64_t>(p); }

#if FAKE_WATCHED
/* A sanitizer has its own fences, directly after the last byte. */
unsigned char *allocate_fenced(size_t bytes) {
  void *p = nullptr;
  if (posix_memalign(&p, ALIGNMENT, bytes) != 0) return nullptr;
  return static_cast<unsigned char *>(memset(p, 0xff, bytes));
}
bool free_fenced(unsigned char *p, size_t) {
  free(p);
  return true;
}
#else
const unsigned char FENCE_BYTE = 0xa5;
size_t rounded_up(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

unsigned char *allocate_fenced(size_t bytes) {
  void *p = nullptr;
  if (posix_memalign(&p, ALIGNMENT, rounded_up(bytes) + 2 * ALIGNMENT) != 0) return nullptr;
  unsigned char *from = static_cast<unsigned char *>(p);
  memset(from, FENCE_BYTE, ALIGNMENT);
  memset(from + ALIGNMENT, 0xff, bytes);
  memset(from + ALIGNMENT + bytes, FENCE_BYTE, rounded_up(bytes) - bytes + ALIGNMENT);
  return from + ALIGNMENT;
}
/* Frees an allocation; returns false if a fence was overwritten. */
bool free_fenced(unsigned char *p, size_t bytes) {
  bool whole = true;
  for (size_t i = 0; i < ALIGNMENT; i++) whole = whole && p[(ptrdiff_t)i - ALIGNMENT] == FENCE_BYTE;
  for (size_t i = bytes; i < rounded_up(bytes) + ALIGNMENT; i++)
    whole = whole && p[i] == FENCE_BYTE;
  free(p - ALIGNMENT);
  return whole;
}
#endif

template <class V, class Size>
bool allocation_holds(const std::map<uint64_t, V> &all, uint64_t address, size_t bytes, Size size) {
  auto next = all.upper_bound(address);
  if (next == all.begin()) return false;
  --next;
  const uint64_t from = address - next->first, whole = size(next->second);
  return from <= whole && bytes <= whole - from;
}

int copy_bytes(void *to, const void *from, size_t bytes) {
  memmove(to, from, bytes);
  return OK;
}

}  // namespace

bool is_on_device(uint64_t address, size_t bytes) {
  return allocation_holds(allocations, address, bytes, [](const Allocation &p) { return p.bytes; });
}
bool is_pinned(const void *memory, size_t bytes) {
  return allocation_holds(pinned, address_of(memory), bytes, [](size_t n) { return n; });
}

}  // namespace fake

using namespace fake;

extern "C" {

int fake_cuMemGetInfo(size_t *available, size_t *total) {
  Call c("cuMemGetInfo", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  if (available == nullptr || total == nullptr) return c.done(INVALID_VALUE);
  std::lock_guard<std::mutex> held(lock());
  const size_t used = used_bytes[current_device()];
  *total = settings().memory;
  *available = used < *total ? *total - used : 0;
  return OK;
}

int fake_cuMemAlloc(uint64_t *address, size_t bytes) {
  Call c("cuMemAlloc", Call::context, "%zu", bytes);
  if (c.refused()) return c.answer();
  if (is_recording()) return c.done(invalidate_recording());
  if (address == nullptr || bytes == 0) return c.done(INVALID_VALUE);
  std::lock_guard<std::mutex> held(lock());
  size_t *used = &used_bytes[current_device()];
  if (bytes > settings().memory || *used > settings().memory - bytes) return c.done(OUT_OF_MEMORY);
  unsigned char *p = allocate_fenced(bytes);
  if (p == nullptr) return c.done(OUT_OF_MEMORY);
  allocations[address_of(p)] = {bytes, current_device()};
  *used += bytes;
  *address = address_of(p);
  return OK;
}

/* Waits for all queued work, as a real driver does. */
int fake_cuMemFree(uint64_t address) {
  Call c("cuMemFree", Call::context, "%s", "");
  if (c.answer() == INVALID_CONTEXT || c.answer() == NOT_INITIALIZED) return c.answer();
  if (is_recording()) return c.done(invalidate_recording());
  if (address == 0) return c.answer();
  const int before = execute_all_streams();
  std::lock_guard<std::mutex> held(lock());
  auto found = allocations.find(address);
  if (found == allocations.end()) return c.done(INVALID_VALUE);
  const Allocation p = found->second;
  allocations.erase(found);
  used_bytes[p.device] -= p.bytes;
  if (!free_fenced(memory_at(address), p.bytes)) {
    lose_context(ILLEGAL_ADDRESS,
                 "something was written outside of an allocation of device memory");
    return c.done(ILLEGAL_ADDRESS);
  }
  return c.done(c.answer() != OK ? c.answer() : before);
}

int fake_cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  Call c("cuMemHostAlloc", Call::context, "%zu flags %u", bytes, flags);
  if (c.refused()) return c.answer();
  if (is_recording()) return c.done(invalidate_recording());
  if (memory == nullptr || bytes == 0) return c.done(INVALID_VALUE);
  void *p = nullptr;
  if (posix_memalign(&p, 4096, bytes) != 0) return c.done(OUT_OF_MEMORY);
  std::lock_guard<std::mutex> held(lock());
  pinned[address_of(p)] = bytes;
  *memory = p;
  return OK;
}

int fake_cuMemFreeHost(void *memory) {
  Call c("cuMemFreeHost", Call::context, "%s", "");
  if (c.answer() == INVALID_CONTEXT || c.answer() == NOT_INITIALIZED) return c.answer();
  if (is_recording()) return c.done(invalidate_recording());
  execute_all_streams();
  std::lock_guard<std::mutex> held(lock());
  if (pinned.erase(address_of(memory)) == 0) return c.done(INVALID_VALUE);
  free(memory);
  return c.answer();
}

/* The driver copies memory that is not pinned before it returns, so such a copy is not queued. */
int fake_cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes, void *stream) {
  Call c("cuMemcpyHtoDAsync", Call::context, "%zu", bytes);
  if (c.refused()) return c.answer();
  bool ours, now;
  {
    std::lock_guard<std::mutex> held(lock());
    ours = is_on_device(to, bytes) && (from != nullptr || bytes == 0);
    now = !is_pinned(from, bytes);
  }
  if (!ours) return c.done(INVALID_VALUE);
  return c.done(issue(
      stream, [=] { return copy_bytes(memory_at(to), from, bytes); }, now));
}

int fake_cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, void *stream) {
  Call c("cuMemcpyDtoHAsync", Call::context, "%zu", bytes);
  if (c.refused()) return c.answer();
  bool ours, now;
  {
    std::lock_guard<std::mutex> held(lock());
    ours = is_on_device(from, bytes) && (to != nullptr || bytes == 0);
    now = !is_pinned(to, bytes);
  }
  if (!ours) return c.done(INVALID_VALUE);
  return c.done(issue(
      stream, [=] { return copy_bytes(to, memory_at(from), bytes); }, now));
}

int fake_cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  Call c("cuMemcpyDtoDAsync", Call::context, "%zu", bytes);
  if (c.refused()) return c.answer();
  bool ours;
  {
    std::lock_guard<std::mutex> held(lock());
    ours = is_on_device(to, bytes) && is_on_device(from, bytes);
  }
  if (!ours) return c.done(INVALID_VALUE);
  return c.done(issue(
      stream, [=] { return copy_bytes(memory_at(to), memory_at(from), bytes); }, false));
}

int fake_cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
  Call c("cuMemsetD8Async", Call::context, "%zu", bytes);
  if (c.refused()) return c.answer();
  bool ours;
  {
    std::lock_guard<std::mutex> held(lock());
    ours = is_on_device(to, bytes);
  }
  if (!ours) return c.done(INVALID_VALUE);
  const auto fill = [=] {
    memset(memory_at(to), value, bytes);
    return (int)OK;
  };
  return c.done(issue(stream, fill, false));
}
}
