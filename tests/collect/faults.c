/* Counts the calls of a process at which something can fail, and lets one of them fail, once.

   Preloaded. NAYSAY_FAULTS is the file that the processes share: eight counters for each process, then which counter to
   watch (or -1), at which call it fails, and whether it has failed. NAYSAY_FAULTS_FIRST is the first counter of this
   process; NAYSAY_FAULTS_FILES a part of the paths of the files that count; NAYSAY_FAULTS_CODE a part of the path of the
   library or program whose allocations, sends and receipts count. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WRITE, SYNC, TRUNCATE, ALLOCATE, SEND, RECEIVE };

typedef struct {
  int64_t counts[16], on, watched, at, fired;
} control;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static control *shared;
static int first;
static const char *files, *code;
static uintptr_t low, high; /* where the code lies that counts */

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("NAYSAY_FAULTS"), *number = getenv("NAYSAY_FAULTS_FIRST");
  int fd = path ? open(path, O_RDWR) : -1;
  if (fd < 0) return;
  void *place = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  first = number ? atoi(number) : 0, files = getenv("NAYSAY_FAULTS_FILES"), code = getenv("NAYSAY_FAULTS_CODE");
  if (place != MAP_FAILED && files && code) shared = place;
}

static int fails(int kind) {
  int64_t call = __atomic_add_fetch(&shared->counts[first + kind], 1, __ATOMIC_SEQ_CST), never = 0;
  return shared->watched == first + kind && shared->at == call &&
         __atomic_compare_exchange_n(&shared->fired, &never, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static int is_watched_file(int fd) {
  char link[64], path[4096];
  if (!shared || !shared->on) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  return size > 0 && (path[size] = 0, strstr(path, files) != NULL);
}

/* The last one whose path fits: a Python module may be called like the library that it loads after itself. */
static int look(struct dl_phdr_info *object, size_t size, void *program) {
  char path[4096] = "";
  const char *name = object->dlpi_name;
  (void)size;
  if (!*(int *)program) { /* the program itself stands first, without a name */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) name = path;
  }
  ++*(int *)program;
  if (!strstr(name, code)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
      low = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
      high = low + object->dlpi_phdr[i].p_memsz;
    }
  return 0;
}

static int is_watched_code(void *caller) {
  int objects = 0;
  if (!shared || !shared->on) return 0;
  if (!high) dl_iterate_phdr(look, &objects);
  return (uintptr_t)caller >= low && (uintptr_t)caller < high;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))
#define OF_FILE(name, kind, problem, type, parameters, words, ...)      \
  type name parameters {                                                \
    if (is_watched_file(fd) && fails(kind)) return errno = problem, -1; \
    return REAL(type, #name, __VA_ARGS__) words;                        \
  }

OF_FILE(write, WRITE, ENOSPC, ssize_t, (int fd, const void *data, size_t size), (fd, data, size), int, const void *, size_t)
OF_FILE(pwrite, WRITE, ENOSPC, ssize_t, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), int,
        const void *, size_t, off_t)
OF_FILE(pwrite64, WRITE, ENOSPC, ssize_t, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at), int,
        const void *, size_t, off64_t)
OF_FILE(fsync, SYNC, EIO, int, (int fd), (fd), int)
OF_FILE(fdatasync, SYNC, EIO, int, (int fd), (fd), int)
OF_FILE(ftruncate, TRUNCATE, EIO, int, (int fd, off_t size), (fd, size), int, off_t)
OF_FILE(ftruncate64, TRUNCATE, EIO, int, (int fd, off64_t size), (fd, size), int, off64_t)

ssize_t send(int fd, const void *data, size_t size, int flags) {
  if (is_watched_code(__builtin_return_address(0)) && fails(SEND)) {
    shutdown(fd, SHUT_RDWR); /* a connection on which nothing can be sent is gone: else the driver waits for an answer */
    return errno = EPIPE, -1;
  }
  return REAL(ssize_t, "send", int, const void *, size_t, int)(fd, data, size, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
  if (is_watched_code(__builtin_return_address(0)) && fails(RECEIVE)) return errno = ECONNRESET, -1;
  return REAL(ssize_t, "recv", int, void *, size_t, int)(fd, data, size, flags);
}

void *malloc(size_t size) {
  if (is_watched_code(__builtin_return_address(0)) && fails(ALLOCATE)) return errno = ENOMEM, NULL;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  if (is_watched_code(__builtin_return_address(0)) && fails(ALLOCATE)) return errno = ENOMEM, NULL;
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  if (is_watched_code(__builtin_return_address(0)) && fails(ALLOCATE)) return errno = ENOMEM, NULL;
  return __libc_realloc(old, size);
}
