/* SPDX-License-Identifier: Apache-2.0
 * fake_streams.cc - streams, whose work is executed at once, queued until it is awaited, or
 * recorded; graphs of recorded work; events. */
#include <chrono>
#include <memory>
#include <set>
#include <shared_mutex>
#include "fake_driver.h"

namespace fake {
namespace {

struct Graph {
  std::vector<Work> work;
};
struct Stream {
  /* locked while work executes, so that the work of a stream executes in order */
  std::recursive_mutex busy;
  std::vector<Work> queued;
  std::unique_ptr<Graph> recorded; /* graph under construction during a capture */
  bool invalid = false;            /* true if the capture is invalid */
};
struct Event {
  bool recorded = false, captured = false;
  std::chrono::steady_clock::time_point at;
};

Stream default_stream; /* the default stream, which has no handle */
std::set<Stream *> streams;
std::set<Graph *> graphs, execs;
std::set<Event *> events;
/* locked exclusively to destroy a stream, shared to wait for all streams */
std::shared_mutex ending;
thread_local Stream *recording; /* stream that this thread captures */

template <class T>
bool is_handle_in(const std::set<T *> &all, const void *p) {
  std::lock_guard<std::mutex> held(lock());
  for (const T *t : all)
    if (t == p) return true;
  return false;
}
template <class T>
T *create_handle(std::set<T *> &all) {
  std::lock_guard<std::mutex> held(lock());
  return *all.insert(new T).first;
}
template <class T>
void destroy_handle(std::set<T *> &all, T *t) {
  {
    std::lock_guard<std::mutex> held(lock());
    all.erase(t);
  }
  delete t;
}

Stream *stream_of(void *handle) {
  if (handle == nullptr) return &default_stream;
  return is_handle_in(streams, handle) ? static_cast<Stream *>(handle) : nullptr;
}

int execute_list(const std::vector<Work> &work) {
  int error = lost_error();
  for (size_t i = 0; error == OK && i < work.size(); i++) error = work[i]();
  return error;
}

int execute_queued(Stream *s) {
  std::lock_guard<std::recursive_mutex> held(s->busy);
  std::vector<Work> work;
  work.swap(s->queued);
  return execute_list(work);
}

}  // namespace

int issue(void *stream, Work work, bool at_once) {
  Stream *s = stream_of(stream);
  if (s == nullptr) return INVALID_HANDLE;
  std::lock_guard<std::recursive_mutex> held(s->busy);
  if (s->recorded && s->invalid) return CAPTURE_INVALIDATED;
  if (s->recorded) {
    s->recorded->work.push_back(std::move(work));
    return (int)OK;
  }
  /* refused, because work on the default stream would wait for the captured stream */
  if (s == &default_stream && is_recording()) return invalidate_recording();
  s->queued.push_back(std::move(work));
  return settings().late && !at_once ? (int)OK : execute_queued(s);
}

bool is_recording() { return recording != nullptr; }

int invalidate_recording() {
  recording->invalid = true;
  return CAPTURE_UNSUPPORTED;
}

int execute_all_streams() {
  std::shared_lock<std::shared_mutex> none_ends(ending);
  std::vector<Stream *> all = {&default_stream};
  {
    std::lock_guard<std::mutex> held(lock());
    all.insert(all.end(), streams.begin(), streams.end());
  }
  int error = OK;
  for (Stream *s : all) {
    const int e = execute_queued(s);
    if (error == OK) error = e;
  }
  return error;
}

}  // namespace fake

using namespace fake;

extern "C" {

/* ---- streams ---- */

int fake_cuStreamCreate(void **stream, unsigned flags) {
  Call c("cuStreamCreate", Call::context, "flags %u", flags);
  if (c.refused()) return c.answer();
  if (stream == nullptr || flags > 1) return c.done(INVALID_VALUE);
  *stream = create_handle(streams);
  return OK;
}

int fake_cuStreamDestroy(void *stream) {
  Call c("cuStreamDestroy", Call::context, "%s", "");
  if (c.answer() == INVALID_CONTEXT || c.answer() == NOT_INITIALIZED) return c.answer();
  if (!is_handle_in(streams, stream)) return c.done(INVALID_HANDLE);
  Stream *s = static_cast<Stream *>(stream);
  if (recording == s) recording = nullptr;
  execute_queued(s);
  std::unique_lock<std::shared_mutex> ends(ending);
  destroy_handle(streams, s);
  return c.answer();
}

int fake_cuStreamSynchronize(void *stream) {
  Call c("cuStreamSynchronize", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  Stream *s = stream_of(stream);
  if (s == nullptr) return c.done(INVALID_HANDLE);
  if (is_recording()) return c.done(invalidate_recording());
  return c.done(execute_queued(s));
}

int fake_cuStreamBeginCapture(void *stream, int mode) {
  Call c("cuStreamBeginCapture", Call::context, "mode %d", mode);
  if (c.refused()) return c.answer();
  if (!is_handle_in(streams, stream)) return c.done(INVALID_HANDLE);
  if (mode < 0 || mode > 2) return c.done(INVALID_VALUE);
  if (is_recording()) return c.done(invalidate_recording());
  Stream *s = static_cast<Stream *>(stream);
  std::lock_guard<std::recursive_mutex> held(s->busy);
  if (s->recorded) return c.done(CAPTURE_UNSUPPORTED);
  s->recorded.reset(new Graph);
  s->invalid = false;
  recording = s;
  return OK;
}

int fake_cuStreamEndCapture(void *stream, void **graph) {
  Call c("cuStreamEndCapture", Call::context, "%s", "");
  if (recording != nullptr && recording == stream) recording = nullptr;
  if (!is_handle_in(streams, stream) || graph == nullptr) return c.done(INVALID_VALUE);
  Stream *s = static_cast<Stream *>(stream);
  std::lock_guard<std::recursive_mutex> held(s->busy);
  std::unique_ptr<Graph> g = std::move(s->recorded);
  *graph = nullptr;
  if (c.refused()) return c.answer();
  if (!g) return c.done(INVALID_VALUE);
  if (s->invalid) return c.done(CAPTURE_INVALIDATED);
  std::lock_guard<std::mutex> queued(lock());
  *graph = *graphs.insert(g.release()).first;
  return OK;
}

/* ---- graphs ---- */

int fake_cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  Call c("cuGraphInstantiateWithFlags", Call::context, "flags %llu", flags);
  if (c.refused()) return c.answer();
  if (exec == nullptr) return c.done(INVALID_VALUE);
  if (!is_handle_in(graphs, graph)) return c.done(INVALID_HANDLE);
  Graph *e = create_handle(execs);
  e->work = static_cast<Graph *>(graph)->work;
  *exec = e;
  return OK;
}

int fake_cuGraphLaunch(void *exec, void *stream) {
  Call c("cuGraphLaunch", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  if (!is_handle_in(execs, exec)) return c.done(INVALID_HANDLE);
  if (is_recording()) return c.done(invalidate_recording());
  const std::vector<Work> work = static_cast<Graph *>(exec)->work;
  return c.done(issue(
      stream, [work] { return execute_list(work); }, false));
}

int fake_cuGraphExecDestroy(void *exec) {
  Call c("cuGraphExecDestroy", Call::context, "%s", "");
  if (!is_handle_in(execs, exec)) return c.done(INVALID_HANDLE);
  destroy_handle(execs, static_cast<Graph *>(exec));
  return c.answer();
}

int fake_cuGraphDestroy(void *graph) {
  Call c("cuGraphDestroy", Call::context, "%s", "");
  if (!is_handle_in(graphs, graph)) return c.done(INVALID_HANDLE);
  destroy_handle(graphs, static_cast<Graph *>(graph));
  return c.answer();
}

/* ---- events ---- */

int fake_cuEventCreate(void **event, unsigned flags) {
  Call c("cuEventCreate", Call::context, "flags %u", flags);
  if (c.refused()) return c.answer();
  if (event == nullptr) return c.done(INVALID_VALUE);
  *event = create_handle(events);
  return OK;
}

int fake_cuEventDestroy(void *event) {
  Call c("cuEventDestroy", Call::context, "%s", "");
  if (!is_handle_in(events, event)) return c.done(INVALID_HANDLE);
  execute_all_streams(); /* a stream may still have queued work that records the event */
  destroy_handle(events, static_cast<Event *>(event));
  return c.answer();
}

int fake_cuEventRecord(void *event, void *stream) {
  Call c("cuEventRecord", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  Stream *s = stream_of(stream);
  if (s == nullptr || !is_handle_in(events, event)) return c.done(INVALID_HANDLE);
  Event *e = static_cast<Event *>(event);
  e->captured = s->recorded != nullptr;
  if (e->captured) return OK; /* events in a graph have no times */
  return c.done(issue(
      stream,
      [e] {
        e->at = std::chrono::steady_clock::now();
        e->recorded = true;
        return (int)OK;
      },
      false));
}

int fake_cuEventSynchronize(void *event) {
  Call c("cuEventSynchronize", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  if (!is_handle_in(events, event)) return c.done(INVALID_HANDLE);
  if (static_cast<Event *>(event)->captured) return c.done(CAPTURED_EVENT);
  if (is_recording()) return c.done(invalidate_recording());
  return c.done(execute_all_streams());
}

int fake_cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  Call c("cuEventElapsedTime", Call::context, "%s", "");
  if (c.refused()) return c.answer();
  if (!is_handle_in(events, begin) || !is_handle_in(events, end)) return c.done(INVALID_HANDLE);
  const Event *a = static_cast<Event *>(begin), *b = static_cast<Event *>(end);
  if (milliseconds == nullptr || a->captured || b->captured) return c.done(INVALID_VALUE);
  if (!a->recorded || !b->recorded) return c.done(NOT_READY);
  *milliseconds = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return OK;
}
}
