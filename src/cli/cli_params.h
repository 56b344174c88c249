/* SPDX-License-Identifier: Apache-2.0
 * cli_params.h - what `run` and `parity` share: a model with its binding, parameters and inputs as
 * the flags gave them, ready to be made into a program on any backend. */
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H
#include "cli_plan.h"

typedef struct cli_input {
  char *name;
  const char *given; /* FILE or FILE:KEY, which outlives the job */
  char *path;
  const char *key; /* of the tensor or column in the file; NULL: the name of the input */
  vt_archive *archive;
  vt_tensor tensor;
} cli_input;

typedef struct cli_job {
  const char *path, *params_path, *passes; /* as the user wrote them; passes NULL: all */
  vt_model *model;
  cli_bind bind;
  cli_planning how;
  vt_archive *params; /* NULL: from the seed */
  cli_input *inputs;
  uint32_t n_inputs;
  int random; /* inputs without a file are drawn */
  uint64_t seed, inputs_seed;
  vt_cache *cache; /* of plans; NULL: none */
  int measure;     /* the time of each step is wanted */
} cli_job;

/* Reads every file that the flags name. On failure, too, cli_job_close releases what was read. */
vt_status cli_job_open(const cli_args *a, cli_job *out, cli_error *e) VT_NODISCARD;
void cli_job_close(cli_job *j);
/* A program with parameters and inputs set. `backend` may be NULL. */
vt_status cli_job_program(const cli_job *j, const char *backend, vt_program **out,
                          cli_error *e) VT_NODISCARD;
/* Writes every parameter to a safetensors file; does nothing when `path` is NULL. */
vt_status cli_params_save(const cli_job *j, vt_program *p, const char *path,
                          cli_error *e) VT_NODISCARD;
vt_status cli_job_run(const cli_job *j, vt_program *p, cli_error *e) VT_NODISCARD;

#endif
