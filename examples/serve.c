/* SPDX-License-Identifier: Apache-2.0
 * serve.c - an example in C: four threads run one model on inputs of different lengths. Each thread
 * has a program of its own length; all of them read the same weights, of which a device has one
 * copy. Prints the digest of each thread's run.
 *   serve MODEL.vt WEIGHTS [BACKEND] */
#include <pthread.h>
#include <stdio.h>
#include <volta/volta.h>

enum { THREADS = 4 };

/* A request: what a thread is given, and what it answers. */
typedef struct request {
  const vt_model *model;
  vt_weights *weights;
  const char *backend;
  int64_t length;
  uint8_t digest[32];
  vt_diag d;
  vt_status status;
} request;

static vt_status answer(request *r, vt_program **program) {
  vt_binding bind[8];
  vt_options o = {.size = sizeof o,
                  .bind = bind,
                  .n_bind = vt_model_dims(r->model), /* at most 8 */
                  .backend = r->backend,
                  .threads = 1,
                  .weights = r->weights};
  for (uint32_t i = 0; i < o.n_bind; i++) {
    const char *name = vt_model_dim(r->model, i);
    bind[i] = (vt_binding){name, name[0] == 'B' ? 1 : r->length};
  }
  VT_TRY(vt_program_new(r->model, &o, program, &r->d));
  VT_TRY(vt_program_random_inputs(*program, 7, &r->d));
  VT_TRY(vt_program_run(*program, &r->d));
  return vt_program_digest(*program, r->digest, &r->d);
}

static void *serve(void *context) {
  request *r = context;
  vt_program *program = NULL;
  r->status = answer(r, &program);
  vt_program_free(program);
  return NULL;
}

static vt_status print_answer(const request *r) {
  for (int i = 0; r->status == VT_OK && i < 32; i++) printf("%02x", r->digest[i]);
  if (r->status == VT_OK) printf("  length %d\n", (int)r->length);
  if (r->status != VT_OK) fprintf(stderr, "error: %s\n", r->d.text);
  return r->status;
}

int main(int argc, char **argv) {
  request all[THREADS];
  pthread_t thread[THREADS];
  vt_model *model = NULL;
  vt_weights *weights = NULL;
  vt_diag d = {0};
  if (argc < 3) return fprintf(stderr, "usage: serve MODEL.vt WEIGHTS [BACKEND]\n"), 2;
  vt_status s = vt_model_read(argv[1], NULL, &model, &d);
  if (s == VT_OK) s = vt_weights_read(1, (const char *const *)&argv[2], NULL, &weights, &d);
  if (s != VT_OK) fprintf(stderr, "error: %s\n", d.text);
  int started = 0;
  for (; s == VT_OK && started < THREADS; started++) {
    all[started] = (request){.model = model, .weights = weights, .length = 5 + 4 * started};
    all[started].backend = argc > 3 ? argv[3] : NULL;
    if (pthread_create(&thread[started], NULL, serve, &all[started]) != 0) break;
  }
  for (int i = 0; i < started; i++) {
    (void)pthread_join(thread[i], NULL);
    if (print_answer(&all[i]) != VT_OK) s = all[i].status;
  }
  vt_weights_free(weights);
  vt_model_free(model);
  return vt_status_exit(started == THREADS || s != VT_OK ? s : VT_NOMEM);
}
