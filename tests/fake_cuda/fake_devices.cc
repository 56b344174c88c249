/* SPDX-License-Identifier: Apache-2.0
 * fake_devices.cc - devices, and one context per device, shared by the process. */
#include <atomic>
#include <cstdio>
#include <cstring>
#include "fake_driver.h"

namespace fake {
namespace {

enum { MOST_DEVICES = 16 };
struct Context {
  std::atomic<int> retained{0};
};
Context contexts[MOST_DEVICES];
/* stack of entered contexts; the last one is current */
thread_local std::vector<Context *> entered;

int device_of_context(const Context *c) { return (int)(c - contexts); }
bool is_context(const void *p) {
  for (const Context &c : contexts)
    if (&c == p) return c.retained > 0;
  return false;
}
bool is_device_number(int device) {
  return device >= 0 && device < settings().devices && device < MOST_DEVICES;
}

int device_attribute(int attribute) {
  const Settings &s = settings();
  switch (attribute) {
    case 1:
      return MOST_THREADS; /* threads per block */
    case 2:
      return MOST_THREADS; /* threads along x */
    case 3:
      return MOST_THREADS; /* threads along y */
    case 4:
      return 64; /* threads along z */
    case 5:
      return 0x7fffffff; /* blocks along x */
    case 6:
      return 65535; /* blocks along y */
    case 7:
      return 65535; /* blocks along z */
    case 8:
      return 49152; /* shared memory of a block without opting in */
    case 10:
      return 32; /* lanes per warp */
    case 12:
      return 65536; /* registers per block */
    case 13:
      return 1980000; /* clock in kHz */
    case 16:
      return s.processors;
    case 36:
      return 2619000; /* memory clock in kHz */
    case 37:
      return 6144; /* bits of the memory bus */
    case 38:
      return 50 << 20; /* bytes of the level-2 cache */
    case 39:
      return 2048; /* threads per multiprocessor */
    case 41:
      return 1; /* unified address space with the host */
    case 75:
      return s.major;
    case 76:
      return s.minor;
    case 81:
      return 233472; /* bytes of shared memory per multiprocessor */
    case 95:
      return s.cooperative; /* cooperative launches */
    case 97:
      return s.shared;
    default:
      return -1;
  }
}

}  // namespace

int current_device() {
  return entered.empty() || !is_context(entered.back()) ? -1 : device_of_context(entered.back());
}

}  // namespace fake

using namespace fake;

extern "C" {

int fake_cuDeviceGetCount(int *count) {
  Call c("cuDeviceGetCount", Call::start, "%s", "");
  if (c.refused()) return c.answer();
  if (count == nullptr) return c.done(INVALID_VALUE);
  *count = settings().devices < MOST_DEVICES ? settings().devices : MOST_DEVICES;
  return OK;
}

int fake_cuDeviceGet(int *device, int ordinal) {
  Call c("cuDeviceGet", Call::start, "%d", ordinal);
  if (c.refused()) return c.answer();
  if (device == nullptr) return c.done(INVALID_VALUE);
  if (!is_device_number(ordinal)) return c.done(INVALID_DEVICE);
  *device = ordinal;
  return OK;
}

int fake_cuDeviceGetName(char *name, int size, int device) {
  Call c("cuDeviceGetName", Call::start, "%d", device);
  if (c.refused()) return c.answer();
  if (name == nullptr || size <= 0) return c.done(INVALID_VALUE);
  if (!is_device_number(device)) return c.done(INVALID_DEVICE);
  snprintf(name, (size_t)size, "Fake GPU");
  return OK;
}

int fake_cuDeviceGetAttribute(int *value, int attribute, int device) {
  Call c("cuDeviceGetAttribute", Call::start, "%d of %d", attribute, device);
  if (c.refused()) return c.answer();
  if (value == nullptr) return c.done(INVALID_VALUE);
  if (!is_device_number(device)) return c.done(INVALID_DEVICE);
  const int found = device_attribute(attribute);
  if (found < 0) return c.done(INVALID_VALUE);
  *value = found;
  return OK;
}

int fake_cuDeviceTotalMem(size_t *bytes, int device) {
  Call c("cuDeviceTotalMem", Call::start, "%d", device);
  if (c.refused()) return c.answer();
  if (bytes == nullptr) return c.done(INVALID_VALUE);
  if (!is_device_number(device)) return c.done(INVALID_DEVICE);
  *bytes = settings().memory;
  return OK;
}

int fake_cuDevicePrimaryCtxRetain(void **context, int device) {
  Call c("cuDevicePrimaryCtxRetain", Call::start, "%d", device);
  if (c.refused()) return c.answer();
  if (context == nullptr) return c.done(INVALID_VALUE);
  if (!is_device_number(device)) return c.done(INVALID_DEVICE);
  contexts[device].retained++;
  *context = &contexts[device];
  return OK;
}

int fake_cuCtxPushCurrent(void *context) {
  Call c("cuCtxPushCurrent", Call::start, "%s", "");
  if (c.refused()) return c.answer();
  if (!is_context(context)) return c.done(INVALID_CONTEXT);
  entered.push_back(static_cast<Context *>(context));
  return OK;
}

/* Executed even after an error, because a thread must be able to leave its context. */
int fake_cuCtxPopCurrent(void **context) {
  Call c("cuCtxPopCurrent", Call::start, "%s", "");
  if (entered.empty()) return c.done(INVALID_CONTEXT);
  if (context != nullptr) *context = entered.back();
  entered.pop_back();
  return c.answer();
}
}
