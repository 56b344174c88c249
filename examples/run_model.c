/* SPDX-License-Identifier: Apache-2.0
 * run_model.c - an example in C that uses only the public header. It reads a model, runs it once
 * with parameters and inputs from fixed seeds, and prints the digest of the run.
 *   run_model [MODEL.vt [BACKEND]] */
#include <stdio.h>
#include <volta/volta.h>

static const char text[] =
    "volta 1\n"
    "model tiny {\n"
    "  dim B\n"
    "  input x: f32[B, 8]\n"
    "  param w: f32[8, 4] = he_normal(stream=1)\n"
    "  output y = softmax(matmul(x, w))\n"
    "}\n";

static vt_status run_seeded(vt_program *p, uint8_t digest[32], vt_diag *d) {
  VT_TRY(vt_program_init_params(p, 0, d));
  VT_TRY(vt_program_random_inputs(p, 7, d));
  VT_TRY(vt_program_run(p, d));
  return vt_program_digest(p, digest, d);
}

int main(int argc, char **argv) {
  vt_binding bind[8];
  vt_diag d = {0};
  vt_model *model = NULL;
  vt_program *program = NULL;
  uint8_t digest[32];
  vt_status s = argc > 1 ? vt_model_read(argv[1], NULL, &model, &d)
                         : vt_model_parse(text, sizeof text - 1, NULL, &model, &d);
  if (s == VT_OK) {
    vt_options o = {.size = sizeof o, .bind = bind, .n_bind = vt_model_dims(model)};
    /* A dim whose name begins with B, as a batch does, is 2, others are 16; at most 8 dims. */
    for (uint32_t i = 0; i < o.n_bind; i++) {
      const char *name = vt_model_dim(model, i);
      bind[i] = (vt_binding){name, name[0] == 'B' ? 2 : 16};
    }
    o.backend = argc > 2 ? argv[2] : NULL;
    s = vt_program_new(model, &o, &program, &d);
  }
  if (s == VT_OK) s = run_seeded(program, digest, &d);
  if (s == VT_OK) {
    for (int i = 0; i < 32; i++) printf("%02x", digest[i]);
    printf("  %s on %s\n", vt_model_name(model), vt_program_backend(program));
  } else {
    fprintf(stderr, "error: %s\n", d.text);
  }
  vt_program_free(program);
  vt_model_free(model);
  return vt_status_exit(s);
}
