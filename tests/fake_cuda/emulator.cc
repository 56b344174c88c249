/* SPDX-License-Identifier: Apache-2.0
 * emulator.cc - thread blocks, their threads, barriers and warp operations. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include "emulator.h"
#include "fiber.h"

#if FAKE_WATCHED
extern "C" void __asan_poison_memory_region(const volatile void *from, size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void *from, size_t size);
#endif

__thread vt_gpu_indices_t vt_gpu_indices;

/* ---- the list of kernels ---- */

static vt_gpu_entry *first_entry;
vt_gpu_entry::vt_gpu_entry(const char *name_, size_t bytes_, unsigned threads_, vt_gpu_call *call_)
    : name(name_), bytes(bytes_), threads(threads_), call(call_), next(first_entry) {
  /* no lock is needed: the constructors of one library run one after the other */
  first_entry = this;
}

namespace fake {

const vt_gpu_entry *find_kernel(const char *name) {
  const vt_gpu_entry *e = first_entry;
  while (e != nullptr && strcmp(e->name, name) != 0) e = e->next;
  return e;
}

namespace {

enum class State { fresh, ready, at_block, at_warp, end_thread };
struct Copy {
  void *to;
  const void *from;
  unsigned bytes;
  bool there;
  unsigned group;
};
/* A CUDA thread. */
struct CudaThread {
  uint3 at;
  State state;
  std::unique_ptr<Fiber> fiber; /* the thread's stack, while the thread runs */
  std::vector<Copy> copies;     /* asynchronous copies that are not complete, oldest first */
  unsigned closed;              /* number of groups of copies that the thread has closed */
  vt_gpu_warp_op what;
  unsigned mask, from;
  uint64_t value, result;
};

enum { WARP = 32, FENCE = 256 };
const unsigned char FENCE_BYTE = 0x5a;

/* Runs thread blocks on one operating-system thread. */
class Engine {
 public:
  Engine() : lanes_(MOST_THREADS) {}
  ~Engine() { free(memory_); }
  Outcome run_block(const Launch &launch, const void *args, const Rules &rules, uint3 at,
                    const std::atomic<bool> &failed);
  void pause(); /* called by a thread that waits for another block */
  unsigned block_barrier(unsigned value);
  uint64_t warp_exchange(vt_gpu_warp_op what, unsigned mask, uint64_t value, unsigned from);
  unsigned active() const;
  unsigned lane() const { return me_ % WARP; }
  void async_copy(const Copy &copy);
  void async_close_group() { lanes_[me_].closed++; }
  void async_wait(unsigned left);
  [[noreturn]] void stop(int error, const char *text);
  bool running() const { return running_; }
  bool stack_is_full(const void *touched) const { return lanes_[me_].fiber->holds(touched); }

 private:
  static void enter(void *self);
  void begin_block(const Launch &launch, const Rules &rules, uint3 at);
  void prepare_shared();
  void order_threads(const Rules &rules, uint64_t number);
  bool
  /* runs every thread of the block that can continue; returns false if no thread can */
  run_ready_threads();
  void resume(unsigned t);
  void suspend(State state);
  void end_thread();
  void release_block();
  bool warp_has_arrived(unsigned base, const CudaThread &asking, unsigned *group) const;
  void release_warp(unsigned base, unsigned group);
  std::string hang_text() const;
  void check_fence();

  std::vector<CudaThread> lanes_;
  std::vector<std::unique_ptr<Fiber>> idle_;
  std::vector<unsigned> order_;
  Place scheduler_;
  unsigned char *memory_ = nullptr;
  const Launch *launch_ = nullptr;
  const void *args_ = nullptr;
  const std::atomic<bool> *failed_ = nullptr; /* set when any block of this launch has failed */
  unsigned n_ = 0, live_ = 0, waiting_ = 0, votes_ = 0, me_ = 0;
  bool running_ = false; /* true while a block runs */
  Signals signals_;
  Outcome outcome_;
};

thread_local Engine engine;

std::string index_text(const char *word, uint3 at) {
  char text[96];
  snprintf(text, sizeof text, "%s (%u,%u,%u)", word, at.x, at.y, at.z);
  return text;
}

/* ---- a block ---- */

void Engine::order_threads(const Rules &rules, uint64_t number) {
  order_.resize(n_);
  for (unsigned i = 0; i < n_; i++) order_[i] = rules.order == Order::reverse ? n_ - 1 - i : i;
  if (rules.order != Order::shuffle) return;
  uint64_t s = (rules.seed + number) * 0x9e3779b97f4a7c15u | 1;
  for (unsigned i = n_; i > 1; i--) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    std::swap(order_[i - 1], order_[(s >> 16) % i]);
  }
}

/* Fills shared memory with NaNs, followed by a fence of bytes that must not change. */
void Engine::prepare_shared() {
  if (memory_ == nullptr &&
      posix_memalign(reinterpret_cast<void **>(&memory_), 1024, MOST_SHARED + FENCE) != 0) {
    memory_ = nullptr;
    return;
  }
#if FAKE_WATCHED
  __asan_unpoison_memory_region(memory_, MOST_SHARED + FENCE);
#endif
  memset(memory_, 0xff, launch_->shared);
  memset(memory_ + launch_->shared, FENCE_BYTE, FENCE);
#if FAKE_WATCHED
  __asan_poison_memory_region(memory_ + launch_->shared, MOST_SHARED + FENCE - launch_->shared);
#endif
}

void Engine::check_fence() {
#if !FAKE_WATCHED
  for (unsigned i = 0; i < FENCE && outcome_.error == RAN; i++)
    if (memory_[launch_->shared + i] != FENCE_BYTE)
      outcome_ = {ILLEGAL_ADDRESS, "the launch wrote after the end of its shared memory"};
#endif
}

void Engine::begin_block(const Launch &launch, const Rules &rules, uint3 at) {
  launch_ = &launch;
  outcome_ = Outcome();
  n_ = launch.threads.x * launch.threads.y * launch.threads.z;
  live_ = n_;
  waiting_ = votes_ = 0;
  for (unsigned i = 0; i < n_; i++) {
    CudaThread &l = lanes_[i];
    const unsigned row = i / launch.threads.x;
    l.at = {i % launch.threads.x, row % launch.threads.y, row / launch.threads.y};
    l.state = State::fresh;
    l.copies.clear();
    l.closed = 0;
  }
  const uint64_t number =
      at.x + (uint64_t)launch.blocks.x * (at.y + (uint64_t)launch.blocks.y * at.z);
  order_threads(rules, number);
  prepare_shared();
  vt_gpu_indices = {{0, 0, 0}, at, launch.threads, launch.blocks, memory_};
}

Outcome Engine::run_block(const Launch &launch, const void *args, const Rules &rules, uint3 at,
                          const std::atomic<bool> &failed) {
  begin_block(launch, rules, at);
  failed_ = &failed;
  if (memory_ == nullptr) return {LAUNCH_FAILED, "no memory for shared memory"};
  args_ = args;
  running_ = true;
  while (live_ > 0 && outcome_.error == RAN)
    if (!run_ready_threads()) outcome_ = {LAUNCH_FAILED, hang_text()};
  running_ = false;
  check_fence();
  /* a stopped launch leaves stacks of threads that have not ended */
  for (unsigned i = 0; i < n_; i++)
    if (lanes_[i].fiber) idle_.push_back(std::move(lanes_[i].fiber));
  if (outcome_.error != RAN)
    outcome_.text = "kernel " + std::string(launch.kernel->name) + ", " + index_text("block", at) +
                    ": " + outcome_.text;
  return outcome_;
}

bool Engine::run_ready_threads() {
  bool any = false;
  for (unsigned i = 0; i < n_ && outcome_.error == RAN; i++) {
    const unsigned t = order_[i];
    if (lanes_[t].state != State::fresh && lanes_[t].state != State::ready) continue;
    any = true;
    resume(t);
  }
  return any;
}

void Engine::enter(void *self) {
  Engine *e = static_cast<Engine *>(self);
  e->launch_->kernel->call(e->args_);
  e->end_thread();
  fiber_switch(e->lanes_[e->me_].fiber->place(), e->scheduler_, true);
}

void Engine::resume(unsigned t) {
  CudaThread &l = lanes_[t];
  me_ = t;
  vt_gpu_indices.thread = l.at;
  if (l.state == State::fresh) {
    if (idle_.empty()) idle_.push_back(std::unique_ptr<Fiber>(new Fiber));
    l.fiber = std::move(idle_.back());
    idle_.pop_back();
    if (!l.fiber->ok()) {
      outcome_ = {LAUNCH_FAILED, "no memory for a stack"};
      return;
    }
    l.fiber->begin(enter, this);
  }
  l.state = State::ready;
  fiber_switch(scheduler_, l.fiber->place(), false);
  if (l.state == State::end_thread) idle_.push_back(std::move(l.fiber));
}

void Engine::suspend(State state) {
  CudaThread &l = lanes_[me_];
  l.state = state;
  fiber_switch(l.fiber->place(), scheduler_, false);
}

void Engine::stop(int error, const char *text) {
  outcome_ = {error, index_text("thread", lanes_[me_].at) + ": " + text};
  fiber_switch(lanes_[me_].fiber->place(), scheduler_, true);
  abort(); /* a stopped thread is never resumed */
}

void Engine::pause() {
  if (!launch_->cooperative) stop(LAUNCH_FAILED, "it waits for a block that may not be resident");
  if (*failed_) stop(LAUNCH_FAILED, "the block that it waits for has failed");
  std::this_thread::yield();
}

/* Ends a thread: barriers no longer wait for it. */
void Engine::end_thread() {
  const unsigned base = me_ / WARP * WARP;
  lanes_[me_].state = State::end_thread;
  live_--;
  if (live_ > 0 && waiting_ == live_) release_block();
  for (unsigned i = base; i < base + WARP && i < n_; i++) {
    unsigned group = 0;
    if (lanes_[i].state == State::at_warp && warp_has_arrived(base, lanes_[i], &group))
      release_warp(base, group);
  }
}

std::string Engine::hang_text() const {
  unsigned at_block = 0, at_warp = 0;
  std::string first;
  for (unsigned i = 0; i < n_; i++) {
    at_block += lanes_[i].state == State::at_block;
    if (lanes_[i].state != State::at_warp || at_warp++ > 0) continue;
    char text[80];
    snprintf(text, sizeof text, ", with mask %08x in warp operation %d", lanes_[i].mask,
             (int)lanes_[i].what);
    first = index_text("first thread", lanes_[i].at) + text;
  }
  char text[160];
  snprintf(text, sizeof text,
           "it hangs: %u of %u threads wait at a block barrier, %u in a warp operation", at_block,
           live_, at_warp);
  return text + (first.empty() ? "" : " (" + first + ")");
}

/* ---- barriers and warp operations ---- */

void Engine::release_block() {
  for (unsigned i = 0; i < n_; i++) {
    if (lanes_[i].state != State::at_block) continue;
    lanes_[i].state = State::ready;
    lanes_[i].result = votes_;
  }
  waiting_ = votes_ = 0;
}

unsigned Engine::block_barrier(unsigned value) {
  CudaThread &l = lanes_[me_];
  l.state = State::at_block;
  waiting_++;
  votes_ += value;
  if (waiting_ == live_) release_block();
  if (l.state == State::at_block) suspend(State::at_block);
  return (unsigned)l.result;
}

/* Returns true if all lanes of the mask that have not ended wait in the same warp operation. */
bool Engine::warp_has_arrived(unsigned base, const CudaThread &asking, unsigned *group) const {
  unsigned there = 0;
  for (unsigned i = 0; i < WARP && base + i < n_; i++) {
    const CudaThread &l = lanes_[base + i];
    if ((asking.mask >> i & 1) == 0 || l.state == State::end_thread) continue;
    if (l.state != State::at_warp || l.what != asking.what || l.mask != asking.mask) return false;
    there |= 1u << i;
  }
  *group = there;
  return true;
}

/* Computes the results of a warp operation for all lanes at once, because one lane may store new
 * values before the others resume. */
void Engine::release_warp(unsigned base, unsigned group) {
  uint64_t value[WARP], votes = 0;
  for (unsigned i = 0; i < WARP; i++) {
    value[i] = 0xdeadbeefdeadbeefu; /* junk, as the value of lanes that do not take part */
    if ((group >> i & 1) == 0) continue;
    value[i] = lanes_[base + i].value;
    votes |= (uint64_t)(value[i] != 0) << i;
  }
  for (unsigned i = 0; i < WARP; i++) {
    if ((group >> i & 1) == 0) continue;
    CudaThread &l = lanes_[base + i];
    const bool shuffles = l.what >= VT_GPU_SHFL && l.what <= VT_GPU_SHFL_XOR;
    l.result = shuffles ? value[l.from] : votes;
    if (l.what == VT_GPU_MATCH) {
      l.result = 0;
      for (unsigned k = 0; k < WARP; k++)
        l.result |= (uint64_t)((group >> k & 1) != 0 && value[k] == l.value) << k;
    }
    l.state = State::ready;
  }
}

uint64_t Engine::warp_exchange(vt_gpu_warp_op what, unsigned mask, uint64_t value, unsigned from) {
  CudaThread &l = lanes_[me_];
  const unsigned base = me_ / WARP * WARP;
  if ((mask >> lane() & 1) == 0) stop(LAUNCH_FAILED, "the mask of a warp lacks the thread itself");
  l.what = what;
  l.mask = mask;
  l.value = value;
  l.from = from;
  l.state = State::at_warp;
  unsigned group = 0;
  if (warp_has_arrived(base, l, &group)) release_warp(base, group);
  if (l.state == State::at_warp) suspend(State::at_warp);
  return l.result;
}

unsigned Engine::active() const {
  unsigned mask = 0;
  const unsigned base = me_ / WARP * WARP;
  for (unsigned i = 0; i < WARP && base + i < n_; i++)
    mask |= (unsigned)(lanes_[base + i].state != State::end_thread) << i;
  return mask;
}

/* ---- asynchronous copies ---- */

/* Starts a copy. The destination becomes NaN at once, because it must not be read before the copy
 * completes. */
void Engine::async_copy(const Copy &copy) {
  if (reinterpret_cast<uintptr_t>(copy.to) % copy.bytes != 0)
    stop(MISALIGNED, "an asynchronous copy has a destination that is not aligned");
  if (copy.there && reinterpret_cast<uintptr_t>(copy.from) % copy.bytes != 0)
    stop(MISALIGNED, "an asynchronous copy has a source that is not aligned");
  CudaThread &l = lanes_[me_];
  memset(copy.to, 0xff, copy.bytes);
  l.copies.push_back(copy);
  l.copies.back().group = l.closed;
}

void Engine::async_wait(unsigned left) {
  CudaThread &l = lanes_[me_];
  size_t done = 0;
  while (done < l.copies.size() && l.copies[done].group + left < l.closed) {
    const Copy &c = l.copies[done++];
    if (c.there) memcpy(c.to, c.from, c.bytes);
    if (!c.there) memset(c.to, 0, c.bytes);
  }
  l.copies.erase(l.copies.begin(), l.copies.begin() + (ptrdiff_t)done);
}

/* ---- a grid ---- */

struct Grid {
  const Launch &launch;
  const void *args;
  const Rules &rules;
  uint64_t total, step;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex lock;
  Outcome outcome;
};

uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Returns the number of the block that runs as the i-th in the configured order. */
uint64_t block_in_order(const Grid &g, uint64_t i) {
  if (g.rules.order == Order::forward) return i;
  if (g.rules.order == Order::reverse) return g.total - 1 - i;
  return (uint64_t)((unsigned __int128)i * g.step % g.total);
}

void run_blocks(Grid *g) {
  for (;;) {
    const uint64_t i = g->next++;
    if (i >= g->total) return;
    const uint64_t b = block_in_order(*g, i), x = g->launch.blocks.x, y = g->launch.blocks.y;
    const uint3 at = {(unsigned)(b % x), (unsigned)(b / x % y), (unsigned)(b / x / y)};
    Outcome o = engine.run_block(g->launch, g->args, g->rules, at, g->failed);
    if (o.error == RAN) continue;
    std::lock_guard<std::mutex> held(g->lock);
    if (g->outcome.error == RAN) g->outcome = o;
    g->failed = true;
    g->next = g->total;
  }
}

}  // namespace

Outcome run(const Launch &launch, const void *args, const Rules &rules) {
  const uint64_t total = (uint64_t)launch.blocks.x * launch.blocks.y * launch.blocks.z;
  const uint64_t threads = launch.cooperative ? total : rules.workers;
  Grid g{launch, args, rules, total, total / 2 + 1, {0}, {false}, {}, {}};
  while (greatest_common_divisor(g.step, total) != 1) g.step++;
  std::vector<std::thread> workers;
  for (uint64_t i = 1; i < threads && i < total; i++) workers.emplace_back(run_blocks, &g);
  run_blocks(&g);
  for (std::thread &t : workers) t.join();
  return g.outcome;
}

bool is_in_kernel() { return engine.running(); }
bool stack_is_full(const void *touched) { return engine.stack_is_full(touched); }
void stop(int error, const char *text) {
  if (!engine.running()) {
    fprintf(stderr, "not in a kernel: %s\n", text);
    abort();
  }
  engine.stop(error, text);
}

}  // namespace fake

unsigned vt_gpu_block_barrier(unsigned value) { return fake::engine.block_barrier(value); }
uint64_t vt_gpu_warp_exchange(vt_gpu_warp_op what, unsigned mask, uint64_t value, unsigned from) {
  return fake::engine.warp_exchange(what, mask, value, from);
}
unsigned vt_gpu_active_mask() { return fake::engine.active(); }
unsigned vt_gpu_lane() { return fake::engine.lane(); }
void vt_gpu_async_copy(void *to, const void *from, unsigned bytes, bool there) {
  fake::engine.async_copy({to, from, bytes, there, 0});
}
void vt_gpu_yield_to_blocks() { fake::engine.pause(); }
void vt_gpu_async_close_group() { fake::engine.async_close_group(); }
void vt_gpu_async_wait(unsigned left) { fake::engine.async_wait(left); }
