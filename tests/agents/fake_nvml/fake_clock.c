/* Preloaded: the wall clock is off by as many seconds as the eight bytes of the file $FAKE_CLOCK say. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *off;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAKE_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *off, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) off = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *out) {
  int refused = (int)syscall(SYS_clock_gettime, clock, out);
  if (!refused && clock == CLOCK_REALTIME && off) out->tv_sec += *off;
  return refused;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
