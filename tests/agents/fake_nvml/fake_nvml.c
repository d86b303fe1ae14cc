/* A libnvidia-ml.so.1 that says what a text file tells it to, for the real Python binding.
 *
 * $FAKE_NVML_STATE names the file, read again whenever it changes; a test changes the GPUs by
 * rewriting it. Lines are key=value:
 *   count, driver, init.rc, init.hang_ms, xid=<gpu>:<code>[:<turn>], cost.cpu_us, cost.sleep_us
 *   gpu.N.<key>   name uuid busid minor util mem_total mem_used power_mw energy_mj temp reasons clock
 *                 procs=pid:bytes[:gi:ci],…  procutil=pid:sm,…  samples=<per cent>  accounting
 *                 dead=pid:util:bytes:lived_ms,…  field.<id>=<number>  gpm.<metric>=<number>
 *                 gpm_supported  mig  mig.count  rc (every call)  handle_rc  hang_ms
 *   gpu.N.mig.M.<key>   uuid name gi ci slices mem_mb mem_used
 * A key that is not there is not supported. energy_mj, fields and GPM are as in the file; with
 * energy_watts=W the counter grows by itself.
 *
 * Where $FAKE_NVML_CLOCK names a file, its first eight bytes are what time it is, in nanoseconds
 * since 1970: days may then pass in minutes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef int R;
typedef unsigned int U;
typedef unsigned long long ULL;
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7,
       TIMEOUT = 10, WRONG_VERSION = 25 };
enum { MOST_GPUS = 16, MOST_SLICES = 8, MOST_KEYS = 4096 };

struct device { int gpu, slice; };
static struct device devices[MOST_GPUS][MOST_SLICES + 1];
static struct { char *key, *value; } table[MOST_KEYS];
static int keys, users;
static struct timespec read_at;
static char *text;

static void load(void) {
  const char *path = getenv("FAKE_NVML_STATE");
  struct stat found;
  if (!path || stat(path, &found)) return;
  if (text && found.st_mtim.tv_sec == read_at.tv_sec && found.st_mtim.tv_nsec == read_at.tv_nsec) return;
  read_at = found.st_mtim;
  FILE *file = fopen(path, "r");
  if (!file) return;
  free(text);
  text = calloc(1, (size_t)found.st_size + 1);
  keys = 0;
  if (fread(text, 1, (size_t)found.st_size, file) == 0) text[0] = 0;
  fclose(file);
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) && keys < MOST_KEYS;) {
    char *equals = strchr(line, '=');
    if (!equals) continue;
    *equals = 0;
    table[keys].key = line;
    table[keys++].value = equals + 1;
  }
}

static const char *find(const char *key) {
  for (int i = keys - 1; i >= 0; i--)
    if (!strcmp(table[i].key, key)) return table[i].value;
  return NULL;
}

static ULL number(const char *key, ULL otherwise) {
  const char *value = find(key);
  return value ? strtoull(value, NULL, 0) : otherwise;
}

static int64_t told_ns(void) {
  static const volatile int64_t *told;
  static int is_asked;
  const char *path = is_asked++ ? NULL : getenv("FAKE_NVML_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file >= 0) {
    void *mapped = mmap(NULL, sizeof *told, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) told = mapped;
    close(file);
  }
  return told ? *told : 0;
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  if (clock == CLOCK_MONOTONIC && told_ns()) return (double)told_ns() / 1e9;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static ULL now_us(void) {
  struct timeval now;
  if (told_ns()) return (ULL)told_ns() / 1000;
  gettimeofday(&now, NULL);
  return (ULL)now.tv_sec * 1000000ULL + (ULL)now.tv_usec;
}

static void rest(ULL microseconds) {
  struct timespec span = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000L};
  if (microseconds) nanosleep(&span, NULL);
}

/* What a call into a driver costs: some of it computing, some of it waiting. */
static void pay(void) {
  load();
  double until = seconds_of(CLOCK_THREAD_CPUTIME_ID) + (double)number("cost.cpu_us", 0) / 1e6;
  while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < until) {}
  rest(number("cost.sleep_us", 0));
}

static const char *of(struct device *device, const char *name) {
  char key[160];
  if (device->slice >= 0) snprintf(key, sizeof key, "gpu.%d.mig.%d.%s", device->gpu, device->slice, name);
  else snprintf(key, sizeof key, "gpu.%d.%s", device->gpu, name);
  return find(key);
}

static int value_of(struct device *device, const char *name, ULL *out) {
  const char *value = of(device, name);
  if (value) *out = strtoull(value, NULL, 0);
  return value != NULL;
}

static R enter(struct device *device) {
  char key[64];
  pay();
  if (!users) return UNINITIALIZED;
  if (!device) return INVALID;
  snprintf(key, sizeof key, "gpu.%d.hang_ms", device->gpu);
  rest(number(key, 0) * 1000);
  snprintf(key, sizeof key, "gpu.%d.rc", device->gpu);
  return (R)number(key, 0);
}
#define ENTER(device) do { R entered = enter(device); if (entered) return entered; } while (0)
#define TEXT(device, name, otherwise, out, size) do { const char *found = of(device, name); \
  snprintf(out, size, "%s", found ? found : otherwise); } while (0)

R nvmlInitWithFlags(U flags) {
  (void)flags;
  load();
  rest(number("init.hang_ms", 0) * 1000);
  R refused = (R)number("init.rc", 0);
  if (refused) return refused;
  users++;
  for (int gpu = 0; gpu < MOST_GPUS; gpu++)
    for (int slice = 0; slice <= MOST_SLICES; slice++)
      devices[gpu][slice] = (struct device){gpu, slice - 1};
  return OK;
}
R nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
R nvmlShutdown(void) { if (!users) return UNINITIALIZED; users--; return OK; }
const char *nvmlErrorString(R code) { static char said[64]; snprintf(said, sizeof said, "fake error %d", code); return said; }
R nvmlSystemGetDriverVersion(char *out, U size) {
  pay();
  const char *driver = find("driver");
  snprintf(out, size, "%s", driver ? driver : "580.95.05");
  return users ? OK : UNINITIALIZED;
}
R nvmlDeviceGetCount_v2(U *count) { pay(); *count = (U)number("count", 0); return users ? OK : UNINITIALIZED; }
R nvmlDeviceGetHandleByIndex_v2(U index, struct device **out) {
  char key[64];
  pay();
  if (!users) return UNINITIALIZED;
  if (index >= number("count", 0) || index >= MOST_GPUS) return INVALID;
  snprintf(key, sizeof key, "gpu.%u.handle_rc", index);
  R refused = (R)number(key, 0);
  if (!refused) *out = &devices[index][0];
  return refused;
}
R nvmlDeviceGetName(struct device *d, char *out, U size) { ENTER(d); TEXT(d, "name", "NVIDIA H100 80GB HBM3", out, size); return OK; }
/* named_rc: its name alone is still told, or refused otherwise than all else. */
R nvmlDeviceGetUUID(struct device *d, char *out, U size) {
  ULL named;
  if (users && d && value_of(d, "named_rc", &named)) { pay(); if (named) return (R)named; }
  else ENTER(d);
  TEXT(d, "uuid", "GPU-0", out, size);
  return OK;
}
R nvmlDeviceGetMinorNumber(struct device *d, U *out) { ULL n = (ULL)d->gpu; ENTER(d); value_of(d, "minor", &n); *out = (U)n; return OK; }
struct pci { char legacy[16]; U domain, bus, device, id, subsystem; char bus_id[32]; };
R nvmlDeviceGetPciInfo_v3(struct device *d, struct pci *out) {
  ENTER(d);
  memset(out, 0, sizeof *out);
  TEXT(d, "busid", "00000000:18:00.0", out->bus_id, sizeof out->bus_id);
  return OK;
}
static R plain(struct device *d, const char *name, U *out) {
  ULL value;
  ENTER(d);
  if (!value_of(d, name, &value)) return NOT_SUPPORTED;
  *out = (U)value;
  return OK;
}
R nvmlDeviceGetPowerUsage(struct device *d, U *out) { return plain(d, "power_mw", out); }
R nvmlDeviceGetTemperature(struct device *d, U sensor, U *out) { (void)sensor; return plain(d, "temp", out); }
struct temperature { U version, sensor; int celsius; };
R nvmlDeviceGetTemperatureV(struct device *d, struct temperature *out) { U value; R code = plain(d, "temp", &value); if (!code) out->celsius = (int)value; return code; }
R nvmlDeviceGetClockInfo(struct device *d, U type, U *out) { (void)type; return plain(d, "clock", out); }
R nvmlDeviceGetUtilizationRates(struct device *d, U *out) { R code = plain(d, "util", out); if (!code) out[1] = 0; return code; }
R nvmlDeviceGetCurrentClocksEventReasons(struct device *d, ULL *out) { ENTER(d); return value_of(d, "reasons", out) ? OK : NOT_SUPPORTED; }
R nvmlDeviceGetCurrentClocksThrottleReasons(struct device *d, ULL *out) { return nvmlDeviceGetCurrentClocksEventReasons(d, out); }
R nvmlDeviceGetTotalEnergyConsumption(struct device *d, ULL *out) {
  ULL watts;
  ENTER(d);
  if (value_of(d, "energy_watts", &watts)) { *out = (ULL)(seconds_of(CLOCK_MONOTONIC) * 1000.0 * (double)watts); return OK; }
  return value_of(d, "energy_mj", out) ? OK : NOT_SUPPORTED;
}
struct memory { U version; ULL total, reserved, free, used; };
R nvmlDeviceGetMemoryInfo_v2(struct device *d, struct memory *out) {
  ENTER(d);
  if (out->version != 0x02000028u) return WRONG_VERSION;
  out->total = 85899345920ULL;
  out->used = out->reserved = 0;
  value_of(d, "mem_total", &out->total);
  if (!value_of(d, "mem_used", &out->used)) return NOT_SUPPORTED;
  out->free = out->total - out->used;
  return OK;
}
R nvmlDeviceGetMemoryInfo(struct device *d, ULL *out) {
  ENTER(d);
  out[0] = 85899345920ULL;
  value_of(d, "mem_total", &out[0]);
  if (!value_of(d, "mem_used", &out[2])) { out[1] = out[0]; out[2] = 0; return d->slice < 0 ? OK : NOT_SUPPORTED; }
  out[1] = out[0] - out[2];
  return OK;
}

struct sample { ULL at; union { double d; U u; ULL ull; } value; };
enum { SAMPLE_US = 166667, MOST_SAMPLES = 100 };
/* One reading every sixth of a second, as far back as the driver keeps them. */
R nvmlDeviceGetSamples(struct device *d, U kind, ULL since, int *type, U *count, struct sample *out) {
  ULL per_cent, now = now_us() / SAMPLE_US;
  (void)kind;
  ENTER(d);
  if (!value_of(d, "samples", &per_cent)) return NOT_SUPPORTED;
  ULL first = since / SAMPLE_US + 1;
  if (first + MOST_SAMPLES < now) first = now - MOST_SAMPLES;
  if (first > now) return NOT_FOUND;
  *type = 1;
  U there = (U)(now - first + 1);
  if (!out) { *count = there; return OK; }
  if (*count < there) there = *count;
  for (U i = 0; i < there; i++) { out[i].at = (first + i) * SAMPLE_US; out[i].value.ull = 0; out[i].value.u = (U)per_cent; }
  *count = there;
  return OK;
}

struct process { U pid; ULL memory; U gpu_instance, compute_instance; };
static int listed(struct device *d, const char *key, U *count, struct process *out) {
  U there = 0, most = *count;
  ENTER(d);
  const char *at = of(d, key);
  while (at && *at) {
    U pid = 0, gi = 0xffffffffu, ci = 0xffffffffu;
    ULL bytes = 0;
    if (sscanf(at, "%u:%llu:%u:%u", &pid, &bytes, &gi, &ci) < 2) break;
    if (out && there < most) out[there] = (struct process){pid, bytes, gi, ci};
    there++;
    at = strchr(at, ',');
    if (at) at++;
  }
  *count = there;
  return there && (!out || there > most) ? TOO_SMALL : OK;
}
R nvmlDeviceGetComputeRunningProcesses_v3(struct device *d, U *count, struct process *out) { return listed(d, "procs", count, out); }
R nvmlDeviceGetMPSComputeRunningProcesses_v3(struct device *d, U *count, struct process *out) { return listed(d, "mps", count, out); }
R nvmlDeviceGetComputeRunningProcesses_v2(struct device *d, U *count, struct process *out) { return nvmlDeviceGetComputeRunningProcesses_v3(d, count, out); }
struct share { U pid; ULL at; U sm, memory, encoder, decoder; };
R nvmlDeviceGetProcessUtilization(struct device *d, struct share *out, U *count, ULL since) {
  U there = 0, most = *count;
  (void)since;
  ENTER(d);
  const char *at = of(d, "procutil");
  if (!at) return NOT_SUPPORTED;
  while (at && *at) {
    U pid, sm;
    if (sscanf(at, "%u:%u", &pid, &sm) < 2) break;
    if (sm && out && there < most) out[there] = (struct share){pid, now_us(), sm, 0, 0, 0};
    if (sm) there++;
    at = strchr(at, ',');
    if (at) at++;
  }
  if (!there) return NOT_FOUND;
  *count = there;
  return !out || there > most ? TOO_SMALL : OK;
}
R nvmlDeviceGetAccountingMode(struct device *d, U *out) { R code = plain(d, "accounting", out); return code; }
R nvmlDeviceGetAccountingBufferSize(struct device *d, U *out) { ENTER(d); *out = 64; return OK; }
struct accounting { U gpu, memory; ULL most, time, began; U running; U reserved[5]; };
static const char *dead(struct device *d, U pid, U *util, ULL *bytes, ULL *lived) {
  for (const char *at = of(d, "dead"); at && *at;) {
    U own = 0;
    if (sscanf(at, "%u:%u:%llu:%llu", &own, util, bytes, lived) == 4 && own == pid) return at;
    at = strchr(at, ',');
    if (at) at++;
  }
  return NULL;
}
R nvmlDeviceGetAccountingPids(struct device *d, U *count, U *out) {
  U there = 0;
  ENTER(d);
  for (const char *at = of(d, "dead"); at && *at && there < *count;) {
    out[there++] = (U)strtoul(at, NULL, 10);
    at = strchr(at, ',');
    if (at) at++;
  }
  *count = there;
  return OK;
}
R nvmlDeviceGetAccountingStats(struct device *d, U pid, struct accounting *out) {
  ENTER(d);
  memset(out, 0, sizeof *out);
  if (!dead(d, pid, &out->gpu, &out->most, &out->time)) return NOT_FOUND;
  out->began = now_us() - out->time * 1000;
  return OK;
}

struct field { U id, scope; long long at, took; U type, code; union { double d; ULL u; } value; };
R nvmlDeviceGetFieldValues(struct device *d, int count, struct field *out) {
  ENTER(d);
  for (int i = 0; i < count; i++) {
    char name[32];
    ULL value;
    snprintf(name, sizeof name, "field.%u", out[i].id);
    out[i].at = (long long)now_us();
    out[i].type = 3;
    out[i].code = value_of(d, name, &value) ? OK : NOT_SUPPORTED;
    if (!out[i].code) out[i].value.u = value;
  }
  return OK;
}

R nvmlDeviceGetMigMode(struct device *d, U *now, U *next) { ULL mode = 0; ENTER(d); value_of(d, "mig", &mode); *now = *next = (U)mode; return OK; }
R nvmlDeviceGetMaxMigDeviceCount(struct device *d, U *out) { ENTER(d); *out = 7; return OK; }
R nvmlDeviceGetMigDeviceHandleByIndex(struct device *d, U index, struct device **out) {
  ULL there = 0;
  ENTER(d);
  value_of(d, "mig.count", &there);
  if (index >= there || index >= MOST_SLICES) return NOT_FOUND;
  *out = &devices[d->gpu][index + 1];
  return OK;
}
R nvmlDeviceGetGpuInstanceId(struct device *d, U *out) { return d->slice < 0 ? NOT_SUPPORTED : plain(d, "gi", out); }
R nvmlDeviceGetComputeInstanceId(struct device *d, U *out) { ULL id = 0; ENTER(d); value_of(d, "ci", &id); *out = (U)id; return OK; }
struct attributes { U multiprocessors, copy, decoders, encoders, jpeg, flow, gpu_slices, compute_slices; ULL memory_mb; };
R nvmlDeviceGetAttributes_v2(struct device *d, struct attributes *out) {
  ULL slices = 1, megabytes = 9728;
  ENTER(d);
  if (d->slice < 0) return NOT_SUPPORTED;
  memset(out, 0, sizeof *out);
  value_of(d, "slices", &slices);
  value_of(d, "mem_mb", &megabytes);
  out->gpu_slices = out->compute_slices = (U)slices;
  out->memory_mb = megabytes;
  return OK;
}

struct support { U version, is_supported; };
R nvmlGpmQueryDeviceSupport(struct device *d, struct support *out) { ULL has = 0; ENTER(d); value_of(d, "gpm_supported", &has); out->is_supported = (U)has; return OK; }
struct gpm_sample { struct device *device; int slice; double at; };
R nvmlGpmSampleAlloc(struct gpm_sample **out) { *out = calloc(1, sizeof **out); return *out ? OK : 20; }
R nvmlGpmSampleFree(struct gpm_sample *sample) { free(sample); return OK; }
R nvmlGpmSampleGet(struct device *d, struct gpm_sample *out) { ENTER(d); *out = (struct gpm_sample){d, -1, seconds_of(CLOCK_MONOTONIC)}; return OK; }
R nvmlGpmMigSampleGet(struct device *d, U instance, struct gpm_sample *out) {
  ENTER(d);
  for (int slice = 0; slice < MOST_SLICES; slice++) {
    ULL own;
    struct device *part = &devices[d->gpu][slice + 1];
    if (value_of(part, "gi", &own) && own == instance) { *out = (struct gpm_sample){part, slice, seconds_of(CLOCK_MONOTONIC)}; return OK; }
  }
  return NOT_FOUND;
}
struct metric { U id, code; double value; const char *names[3]; };
struct metrics { U version, count; struct gpm_sample *first, *second; struct metric each[]; };
R nvmlGpmMetricsGet(struct metrics *asked) {
  pay();
  if (asked->version != 1) return WRONG_VERSION;
  if (!asked->first || !asked->second || asked->second->at - asked->first->at < 0.1) return INVALID;
  for (U i = 0; i < asked->count; i++) {
    char name[32];
    snprintf(name, sizeof name, "gpm.%u", asked->each[i].id);
    const char *value = of(asked->first->device, name);
    asked->each[i].code = value ? OK : NOT_SUPPORTED;
    if (value) asked->each[i].value = atof(value);
  }
  return OK;
}

struct event { struct device *device; ULL type, data; U gpu_instance, compute_instance; };
static char heard[64];
R nvmlEventSetCreate(void **out) { *out = heard; return OK; }
R nvmlEventSetFree(void *set) { (void)set; return OK; }
R nvmlDeviceRegisterEvents(struct device *d, ULL kinds, void *set) { (void)kinds; (void)set; ENTER(d); return OK; }
R nvmlEventSetWait_v2(void *set, struct event *out, U milliseconds) {
  (void)set;
  (void)milliseconds;
  pay();
  const char *xid = find("xid");
  int gpu;
  ULL code;
  if (!xid || !strcmp(xid, heard) || sscanf(xid, "%d:%llu", &gpu, &code) < 2) return TIMEOUT;
  snprintf(heard, sizeof heard, "%s", xid);
  *out = (struct event){&devices[gpu][0], 8, code, 0xffffffffu, 0xffffffffu};
  return OK;
}
