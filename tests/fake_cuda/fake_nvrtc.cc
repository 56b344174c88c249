/* SPDX-License-Identifier: Apache-2.0
 * fake_nvrtc.cc - NVRTC without a GPU: the C++ compiler of this build compiles source texts with
 * the primitives of gpu_emulated.h to shared libraries, which the emulated driver loads. A text can
 * include only the texts that the caller passes, as with NVRTC.
 *
 *   FAKE_NVRTC      compile: it works; refuse: every text has an error; otherwise even the version
 *                   is unavailable and nothing is compiled, because compiling is slow
 *   FAKE_NVRTC_LOG  a file to which each compilation appends a line with its options */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>
#include "fake_cubin.h"

#define VT_NVRTC(name, params) extern "C" __attribute__((visibility("default"))) int name params;
#include "nvrtc.def"
#undef VT_NVRTC
extern char **environ;

namespace {

enum { OK = 0, INVALID_INPUT = 3, COMPILATION = 6, INTERNAL = 11 };

struct Program {
  std::string text, log, cubin;
  std::vector<std::pair<std::string, std::string>> headers;
};

std::string environment(const char *name) {
  const char *text = getenv(name);
  return text != nullptr ? text : "";
}

/* ---- files ---- */

/* A temporary folder, removed by the destructor. */
class Folder {
 public:
  Folder() {
    std::string form = "/tmp/fake_nvrtc.XXXXXX";
    if (mkdtemp(&form[0]) != nullptr) path_ = form;
  }
  ~Folder() {
    for (const std::string &f : files_) unlink(f.c_str());
    if (!path_.empty()) rmdir(path_.c_str());
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  const std::string &path() const { return path_; }
  std::string name(const std::string &file) {
    files_.push_back(path_ + "/" + file);
    return files_.back();
  }
  bool write(const std::string &file, const std::string &text) {
    FILE *f = fopen(name(file).c_str(), "w");
    if (f == nullptr) return false;
    const bool whole = fwrite(text.data(), 1, text.size(), f) == text.size();
    return fclose(f) == 0 && whole;
  }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

std::string read(const std::string &path) {
  std::string all;
  char piece[4096];
  FILE *f = fopen(path.c_str(), "r");
  if (f == nullptr) return all;
  for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;) all.append(piece, n);
  fclose(f);
  return all;
}

void write_log(int options, const char *const *option) {
  const std::string path = environment("FAKE_NVRTC_LOG");
  FILE *f = path.empty() ? nullptr : fopen(path.c_str(), "a");
  if (f == nullptr) return;
  for (int i = 0; i < options; i++) fprintf(f, "%s%s", i > 0 ? " " : "", option[i]);
  fprintf(f, "\n");
  fclose(f);
}

/* ---- the compiler ---- */

bool run_compiler(const std::vector<std::string> &words, const std::string &messages) {
  std::vector<char *> argv;
  for (const std::string &w : words) argv.push_back(const_cast<char *>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 2, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child;
  const int failed = posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 1;
  if (failed == 0) waitpid(child, &status, 0);
  return failed == 0 && status == 0;
}

/* Writes the text and its headers to the folder. <stdint.h> is left to the system, because
 * gpu_emulated.h includes it too. */
bool write_program_files(Folder &folder, const Program &p) {
  bool written = folder.write("text.cc", p.text);
  for (const auto &h : p.headers)
    if (h.first != "stdint.h") written = written && folder.write(h.first, h.second);
  return written;
}

int compile(Program &p) {
  Folder folder;
  if (folder.path().empty() || !write_program_files(folder, p)) return INTERNAL;
  const std::string library = folder.name("text.so"), messages = folder.name("said");
  std::vector<std::string> words = {FAKE_NVRTC_COMPILER};
  std::istringstream flags(FAKE_NVRTC_FLAGS);
  for (std::string w; flags >> w;) words.push_back(w);
  for (const char *w : {"-w", "-fPIC", "-shared", "-iquote"}) words.push_back(w);
  words.insert(words.end(), {folder.path(), "-iquote", FAKE_NVRTC_WORDS, folder.path() + "/text.cc",
                             "-o", library, FAKE_NVRTC_DRIVER});
  const bool compiled = run_compiler(words, messages);
  p.log = read(messages);
  if (!compiled) return COMPILATION;
  const std::string bytes = read(library);
  fake_cubin head = {FAKE_CUBIN, bytes.size()};
  p.cubin.assign(reinterpret_cast<const char *>(&head), sizeof head);
  p.cubin += bytes;
  return OK;
}

Program *program_of(void *program) { return static_cast<Program *>(program); }

}  // namespace

int nvrtcVersion(int *major, int *minor) {
  const std::string mode = environment("FAKE_NVRTC");
  if (mode != "compile" && mode != "refuse") return INTERNAL;
  *major = 13;
  *minor = 0;
  return OK;
}

int nvrtcCreateProgram(void **program, const char *text, const char *, int headers,
                       const char *const *texts, const char *const *names) {
  if (program == nullptr || text == nullptr || headers < 0) return INVALID_INPUT;
  Program *p = new Program;
  p->text = text;
  for (int i = 0; i < headers; i++) p->headers.emplace_back(names[i], texts[i]);
  *program = p;
  return OK;
}

int nvrtcDestroyProgram(void **program) {
  delete program_of(*program);
  *program = nullptr;
  return OK;
}

int nvrtcCompileProgram(void *program, int options, const char *const *option) {
  write_log(options, option);
  if (environment("FAKE_NVRTC") == "compile") return compile(*program_of(program));
  program_of(program)->log = "a warning\ntext.cu(1): error: planted\n";
  return COMPILATION;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes) {
  *bytes = program_of(program)->log.size() + 1;
  return OK;
}
int nvrtcGetProgramLog(void *program, char *log) {
  memcpy(log, program_of(program)->log.c_str(), program_of(program)->log.size() + 1);
  return OK;
}
int nvrtcGetPTXSize(void *, size_t *bytes) {
  *bytes = 0;
  return OK;
}
int nvrtcGetPTX(void *, char *) { return INVALID_INPUT; }
int nvrtcGetCUBINSize(void *program, size_t *bytes) {
  *bytes = program_of(program)->cubin.size();
  return OK;
}
int nvrtcGetCUBIN(void *program, char *cubin) {
  memcpy(cubin, program_of(program)->cubin.data(), program_of(program)->cubin.size());
  return OK;
}
