/* SPDX-License-Identifier: Apache-2.0
 * fake_driver.cc - entry points by name, errors, planted faults, the log. */
#include "fake_driver.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace fake {
namespace {

struct Fault {
  std::string name;
  long call; /* number of the call that fails, counted from 1 */
  int error;
};
struct Session { /* everything that a reset renews */
  Settings settings{};
  std::vector<Fault> faults;
  std::map<std::string, long> calls;
  std::string log;
  int lost_error = OK;
  bool started = false;
};
Session *session;
/* text of the error that destroyed the context; it outlives a reset, because callers may still
 * hold the pointer */
std::string lost_text;
std::mutex session_lock; /* protects the above; no other lock is taken while it is held */
std::mutex state_lock;

/* ---- the environment ---- */

const char *environment_text(const char *name, const char *otherwise) {
  const char *t = getenv(name);
  return t != nullptr && *t != 0 ? t : otherwise;
}

size_t parse_bytes(const char *text) {
  char *end = nullptr;
  const size_t n = strtoull(text, &end, 10);
  const char *units = "KMG", *unit = *end != 0 ? strchr(units, *end) : nullptr;
  return unit == nullptr ? n : n << 10 * (unit - units + 1);
}

Rules read_rules() {
  Rules r;
  const std::string order = environment_text("FAKE_CUDA_ORDER", "forward");
  if (order == "reverse") r.order = Order::reverse;
  if (order == "shuffle") r.order = Order::shuffle;
  r.seed = strtoull(environment_text("FAKE_CUDA_SEED", "1"), nullptr, 10);
  r.workers = (unsigned)atoi(environment_text("FAKE_CUDA_THREADS", "1"));
  return r;
}

Settings read_settings() {
  Settings s{};
  s.devices = atoi(environment_text("FAKE_CUDA_DEVICES", "1"));
  s.processors = atoi(environment_text("FAKE_CUDA_PROCESSORS", "4"));
  s.cooperative = atoi(environment_text("FAKE_CUDA_AT_ONCE", "1"));
  s.shared = atoi(environment_text("FAKE_CUDA_SHARED", "232448"));
  s.version = atoi(environment_text("FAKE_CUDA_VERSION", "13000"));
  s.major = 9;
  s.minor = 0;
  sscanf(environment_text("FAKE_CUDA_CC", "9.0"), "%d.%d", &s.major, &s.minor);
  s.memory = parse_bytes(environment_text("FAKE_CUDA_MEMORY", "4G"));
  s.late = strcmp(environment_text("FAKE_CUDA_STREAMS", "at_once"), "late") == 0;
  s.rules = read_rules();
  return s;
}

std::vector<Fault> faults_of(const char *text) {
  std::vector<Fault> all;
  char name[64];
  long call = 0;
  int error = 0, used = 0;
  while (sscanf(text, "%63[^:]:%ld=%d%n", name, &call, &error, &used) == 3) {
    all.push_back({name, call, error});
    text += used;
    if (*text == ',') text++;
  }
  return all;
}

Session &current_session() {
  if (session == nullptr) {
    session = new Session;
    session->settings = read_settings();
    session->faults = faults_of(environment_text("FAKE_CUDA_FAIL", ""));
    session->log = environment_text("FAKE_CUDA_LOG", "");
  }
  return *session;
}

int next_planted_error(Session &w, const char *name) {
  const long n = ++w.calls[name];
  for (const Fault &f : w.faults)
    if (f.name == name && f.call == n) return f.error;
  return OK;
}

void write_log(const std::string &path, const char *name, const char *about, int answer) {
  FILE *f = fopen(path.c_str(), "a");
  if (f == nullptr) return;
  fprintf(f, "%s%s%s -> %d\n", name, *about != 0 ? " " : "", about, answer);
  fclose(f);
}

/* ---- errors ---- */

struct Named {
  int error;
  const char *name, *text;
};
const Named named[] = {
    {OK, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
const Named *find_named_error(int error) {
  for (const Named &n : named)
    if (n.error == error) return &n;
  return nullptr;
}

}  // namespace

std::mutex &lock() { return state_lock; }

const Settings &settings() {
  std::lock_guard<std::mutex> held(session_lock);
  return current_session().settings;
}

bool destroys_context(int error) {
  return error == ILLEGAL_ADDRESS || error == 702 || (error >= 714 && error <= 719);
}

void lose_context(int error, const std::string &text) {
  std::lock_guard<std::mutex> held(session_lock);
  if (current_session().lost_error != OK) return;
  current_session().lost_error = error;
  lost_text = text;
}

int lost_error() {
  std::lock_guard<std::mutex> held(session_lock);
  return current_session().lost_error;
}

Call::Call(const char *name, Needs needs, const char *form, ...) : name_(name), answer_(OK) {
  va_list list;
  va_start(list, form);
  vsnprintf(about_, sizeof about_, form, list);
  va_end(list);
  std::lock_guard<std::mutex> held(session_lock);
  Session &w = current_session();
  const int error = next_planted_error(w, name);
  if (w.lost_error != OK) {
    answer_ = w.lost_error;
  } else if (error != OK) {
    answer_ = error;
    if (destroys_context(error)) w.lost_error = error;
  } else if (needs != nothing && !w.started) {
    answer_ = NOT_INITIALIZED;
  } else if (needs == context && current_device() < 0) {
    answer_ = INVALID_CONTEXT;
  }
}

Call::~Call() {
  std::lock_guard<std::mutex> held(session_lock);
  if (!current_session().log.empty()) write_log(current_session().log, name_, about_, answer_);
}

}  // namespace fake

using namespace fake;

/* ---- entry points ---- */

extern "C" {

__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char *name, void **out,
                                                               int version, uint64_t flags,
                                                               int *status) {
  (void)flags;
  static const struct {
    const char *name;
    int since;
    void *entry;
  } entries[] = {
#define VT_CU(name, since, params) {#name, since, reinterpret_cast<void *>(&fake_##name)},
#include "cu.def"
#undef VT_CU
  };
  if (name == nullptr || out == nullptr) return INVALID_VALUE;
  *out = nullptr;
  if (status != nullptr) *status = 1; /* status 1 means that there is no such entry point */
  for (const auto &e : entries) {
    if (strcmp(e.name, name) != 0) continue;
    /* status 2 means that only newer versions of the entry point exist */
    if (status != nullptr) *status = version < e.since ? 2 : 0;
    if (version < e.since || version > settings().version) return NOT_FOUND;
    *out = e.entry;
    return OK;
  }
  return NOT_FOUND;
}

/* For tests: reads the environment again and clears errors and call counts. Existing objects stay.
 */
__attribute__((visibility("default"))) void fake_cuda_reset(void) {
  std::lock_guard<std::mutex> held(session_lock);
  const bool started = session != nullptr && session->started;
  delete session;
  session = nullptr;
  current_session().started = started;
}

int fake_cuInit(unsigned flags) {
  Call c("cuInit", Call::nothing, "flags %u", flags);
  if (c.refused()) return c.answer();
  if (flags != 0) return c.done(INVALID_VALUE);
  std::lock_guard<std::mutex> held(session_lock);
  if (current_session().settings.devices == 0) {
    c.done(NO_DEVICE);
    return NO_DEVICE;
  }
  current_session().started = true;
  return OK;
}

int fake_cuDriverGetVersion(int *version) {
  Call c("cuDriverGetVersion", Call::nothing, "%s", "");
  if (c.refused()) return c.answer();
  if (version == nullptr) return c.done(INVALID_VALUE);
  *version = settings().version;
  return OK;
}

int fake_cuGetErrorName(int error, const char **text) {
  if (text == nullptr) return INVALID_VALUE;
  const Named *n = find_named_error(error);
  *text = n != nullptr ? n->name : nullptr;
  return n != nullptr ? OK : INVALID_VALUE;
}

/* For the error that destroyed the context, the text also says which kernel and which thread,
 * unlike a real driver's. */
int fake_cuGetErrorString(int error, const char **text) {
  if (text == nullptr) return INVALID_VALUE;
  const Named *n = find_named_error(error);
  std::lock_guard<std::mutex> held(session_lock);
  *text = n != nullptr ? n->text : nullptr;
  if (error == current_session().lost_error && error != OK && !lost_text.empty())
    *text = lost_text.c_str();
  return *text != nullptr ? OK : INVALID_VALUE;
}
}
