// Preloaded: every fsync and fdatasync takes at least 2 ms, as on a slow disk.
//
// The real call is made first; what is missing to 2 ms is slept.

#include <dlfcn.h>
#include <time.h>

static const long slow_ns = 2 * 1000 * 1000;

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  long began = now_ns();
  int result = real(fd);
  long left = slow_ns - (now_ns() - began);
  if (left > 0) {
    struct timespec pause = {0, left};
    nanosleep(&pause, NULL);
  }
  return result;
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
