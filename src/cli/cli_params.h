/* SPDX-License-Identifier: Apache-2.0
 * cli_params.h - a job of `run` or `parity`: a model with the bindings, parameters and inputs that
 * the flags name. Programs for any backend are made from it. */
#ifndef CLI_PARAMS_H
#define CLI_PARAMS_H
#include "cli_model.h"
#include "cli_plan.h"

/* One --in NAME=FILE[:KEY]. */
typedef struct cli_input {
  char *name;          /* name of the model's input */
  const char *given;   /* FILE or FILE:KEY as the user wrote it; outlives the job */
  char *path;          /* FILE */
  const char *key;     /* name of the tensor or column in the file; NULL: the name of the input */
  vt_archive *archive; /* the file's content, which owns the tensor */
  vt_tensor tensor;
} cli_input;

typedef struct cli_job {
  const char *path, *passes; /* model and --passes as the user wrote them */
  cli_model source;          /* what `path` names */
  const vt_model *model;
  cli_bind bind;
  cli_planning how;    /* flags on planning */
  const char **params; /* --params, in the order of the command line */
  uint32_t n_params;
  const char *params_map; /* --params-map; NULL: tensors are not renamed */
  vt_weights *weights; /* the tensors of --params; NULL: parameters are initialised from `seed` */
  cli_input *inputs;
  uint32_t n_inputs;
  int random;                 /* 1: inputs without a file are random, from `inputs_seed` */
  uint64_t seed, inputs_seed; /* --seed, --random-inputs */
  vt_cache *cache;            /* cache of plans; NULL: no cache */
  int without_plans;          /* 1: do not use the plans of the bundle */
  int measure;                /* 1: runs record the time of each step */
} cli_job;

/* Reads every file that the flags name. cli_job_close must be called after a failure too. */
vt_status cli_job_open(const cli_args *a, cli_job *out, cli_error *e) VT_NODISCARD;
void cli_job_close(cli_job *j);
/* Reads the files of --params into a job with a model; part of cli_job_open. */
vt_status cli_job_open_params(const cli_args *a, cli_job *j, cli_error *e) VT_NODISCARD;
/* Creates a program with parameters and inputs set. `backend` NULL: the default backend. */
vt_status cli_job_new_program(const cli_job *j, const char *backend, vt_program **out,
                              cli_error *e) VT_NODISCARD;
/* Writes every parameter to a safetensors file; does nothing if `path` is NULL. */
vt_status cli_params_save(const cli_job *j, vt_program *p, const char *path,
                          cli_error *e) VT_NODISCARD;
vt_status cli_job_run(const cli_job *j, vt_program *p, cli_error *e) VT_NODISCARD;

#endif
