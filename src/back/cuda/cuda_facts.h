/* SPDX-License-Identifier: Apache-2.0
 * cuda_facts.h - sentences about the driver, the GPUs, the kernels and NVRTC for `volta doctor`,
 * one function each. */
#ifndef VT_CUDA_FACTS_H
#define VT_CUDA_FACTS_H
#include <stddef.h>

void vt_cuda_say_driver(char *out, size_t n);
void vt_cuda_say_devices(char *out, size_t n);
void vt_cuda_say_kernels(char *out, size_t n);
void vt_cuda_say_nvrtc(char *out, size_t n);
#endif
