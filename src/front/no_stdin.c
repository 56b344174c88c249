/* SPDX-License-Identifier: Apache-2.0
 * no_stdin.c - a `stdin` of the library's own, for libvolta alone.
 * jansson's archive compares a stream with stdin, in a function that is never called, and where
 * that archive is not compiled for shared libraries this one comparison keeps it out of them. The
 * linker is told (--wrap=stdin) to let it read this null pointer instead. Volta's own code reads no
 * stdin. */
extern void *const __wrap_stdin __attribute__((visibility("hidden")));
void *const __wrap_stdin = (void *)0;
