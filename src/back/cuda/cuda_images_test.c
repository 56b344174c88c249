/* SPDX-License-Identifier: Apache-2.0
 * cuda_images_test.c - what the build embeds: a module for each .cu file, and a closed set of
 * source texts: whatever one of them includes is in the set, and NVRTC, if there is one, compiles
 * all of the numerics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_images.h"
#include "cuda_nvrtc.h"
#include "cuda_options.h"
#include "vt_test.h"

static const char *const modules[] = {
#define VT_GPU(name, args)
#define VT_GPU_MODULE(name) #name,
#include "kernels.def"
#undef VT_GPU
};

static void test_one_image_per_module(void) {
  const uint32_t n = vt_cuda_images_count;
  CHECK(n == 0 || n == VT_CUDA_MODULES);
  CHECK((n == 0) == (vt_cuda_architectures[0] == 0));
  for (uint32_t i = 0; i < n; i++) {
    CHECK(strcmp(vt_cuda_images[i].module, modules[i]) == 0);
    CHECK(vt_cuda_images[i].size > 0 && vt_cuda_images[i].bytes != NULL);
  }
}

/* Writes the architectures of an image in the form in which the build lists them: "sm_80
 * compute_80". */
static void write_architectures(const vt_cuda_image *image, char *out, size_t n) {
  enum { PTX = 1, HEADER = 16, PART = 64 };
  size_t used = 0;
  uint64_t bytes = 0;
  out[0] = 0;
  for (uint64_t at = HEADER; at + PART <= image->size && used < n; at += bytes) {
    uint16_t kind;
    uint32_t header, arch;
    memcpy(&kind, image->bytes + at, sizeof kind);
    memcpy(&header, image->bytes + at + 4, sizeof header);
    memcpy(&bytes, image->bytes + at + 8, sizeof bytes);
    memcpy(&arch, image->bytes + at + 28, sizeof arch);
    bytes += header;
    used += (size_t)snprintf(out + used, n - used, "%s%s_%u", used == 0 ? "" : " ",
                             kind == PTX ? "compute" : "sm", arch);
  }
}

/* Checks that every image is a fatbin with every architecture that the build lists. */
static void test_images_have_all_architectures(void) {
  char parts[256];
  if (vt_cuda_compiler[0] == 0) return;
  for (uint32_t i = 0; i < vt_cuda_images_count; i++) {
    uint32_t magic;
    memcpy(&magic, vt_cuda_images[i].bytes, sizeof magic);
    CHECK(magic == 0xba55ed50u);
    write_architectures(&vt_cuda_images[i], parts, sizeof parts);
    CHECK(strcmp(parts, vt_cuda_architectures) == 0);
  }
}

static const char *find_text(const char *name, size_t length) {
  for (uint32_t i = 0; i < vt_cuda_texts_count; i++)
    if (strlen(vt_cuda_texts[i].name) == length && memcmp(vt_cuda_texts[i].name, name, length) == 0)
      return vt_cuda_texts[i].text;
  return NULL;
}

/* Returns 1 for headers that texts include only if __CUDACC__ is not defined, so that they are not
 * embedded. */
static int is_host_only(const char *name) {
  return strncmp(name, "gpu_emulated.h", 14) == 0 || strncmp(name, "vt_words.h", 10) == 0;
}

static void test_included_texts_are_embedded(void) {
  uint32_t includes = 0;
  for (uint32_t i = 0; i < vt_cuda_texts_count; i++) {
    const char *at = vt_cuda_texts[i].text;
    while ((at = strstr(at, "\n#include ")) != NULL) {
      const char *name = at + strlen("\n#include ") + 1;
      const size_t length = strcspn(name, "\">\n");
      includes++;
      at = name;
      if (is_host_only(name) || find_text(name, length) != NULL) continue;
      fprintf(stderr, "%s includes %.*s\n", vt_cuda_texts[i].name, (int)length, name);
      CHECK(0);
    }
  }
  CHECK(includes > 20);
}

/* ---- NVRTC ---- */

static const char program[] =
    "#include \"gpu_words.cuh\"\n#include \"vt_words_cuda.h\"\n#include \"num_all.inc\"\n"
    "extern \"C\" __global__ void try_one(float *x) { x[0] = vt_ff_exp(x[1]); }\n";

static void print_log(const vt_nvrtc *n, void *p) {
  size_t bytes = 0;
  char *log = n->nvrtcGetProgramLogSize(p, &bytes) == 0 ? malloc(bytes + 1) : NULL;
  if (log != NULL && n->nvrtcGetProgramLog(p, log) == 0) fprintf(stderr, "%.4000s\n", log);
  free(log);
}

static void *new_program_of_all_texts(const vt_nvrtc *n) {
  enum { MOST = 128 };
  const char *texts[MOST], *names[MOST];
  void *p = NULL;
  CHECK(vt_cuda_texts_count <= MOST);
  for (uint32_t i = 0; i < vt_cuda_texts_count && i < MOST; i++) {
    texts[i] = vt_cuda_texts[i].text;
    names[i] = vt_cuda_texts[i].name;
  }
  CHECK(n->nvrtcCreateProgram(&p, program, "try.cu", (int)vt_cuda_texts_count, texts, names) == 0);
  return p;
}

static void test_nvrtc_compiles_numerics(void) {
  static char words[] = VT_CUDA_STANDARD " " VT_CUDA_NO_HOST " -arch=sm_80 " VT_CUDA_OPTIONS;
  const char *option[16];
  const vt_nvrtc *n;
  int count = 0;
  if (vt_nvrtc_get(&n, NULL) != VT_OK) return;
  for (char *w = strtok(words, " "); w != NULL; w = strtok(NULL, " ")) option[count++] = w;
  void *p = new_program_of_all_texts(n);
  const int error = n->nvrtcCompileProgram(p, count, option);
  if (error != 0) print_log(n, p);
  CHECK(error == 0);
  size_t bytes = 0;
  CHECK(n->nvrtcGetCUBINSize(p, &bytes) == 0);
  CHECK(bytes > 0);
  n->nvrtcDestroyProgram(&p);
}

int main(void) {
  test_one_image_per_module();
  test_images_have_all_architectures();
  test_included_texts_are_embedded();
  test_nvrtc_compiles_numerics();
  TEST_DONE();
}
