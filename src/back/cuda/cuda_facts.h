/* SPDX-License-Identifier: Apache-2.0
 * cuda_facts.h - one fact each, as a sentence for `volta doctor`. */
#ifndef VT_CUDA_FACTS_H
#define VT_CUDA_FACTS_H
#include <stddef.h>

void vt_cuda_say_driver(char *out, size_t n);
void vt_cuda_say_devices(char *out, size_t n);
void vt_cuda_say_kernels(char *out, size_t n);
void vt_cuda_say_nvrtc(char *out, size_t n);
#endif
