// SPDX-License-Identifier: Apache-2.0
// header_user.cc - a C++ program that includes every public header and calls the library.
#include <volta/volta.h>
#include <volta/volta_backend.h>
#include <volta/volta_ops.h>
#include <volta/volta_status.h>
#include <volta/volta_tools.h>

#include <cstdio>
#include <cstring>

int main() {
  static const char text[] = "volta 1\nmodel m {\n  input x: f32[2]\n  output y = x + 1.0\n}\n";
  vt_diag diag = {};
  vt_model *model = nullptr;
  if (vt_model_parse(text, std::strlen(text), nullptr, &model, &diag) != VT_OK) {
    std::fprintf(stderr, "%s\n", diag.text);
    return 1;
  }
  std::printf("%s %s %u\n", VT_VERSION, vt_model_name(model), vt_op_count());
  vt_model_free(model);
  return 0;
}
