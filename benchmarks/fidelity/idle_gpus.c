/* A CUDA runtime whose GPUs do nothing.
 *
 * Preloaded before the CUDA build of PyTorch, it stands in for libcudart on a machine without a GPU: devices
 * exist, memory is host memory and copies are real, but kernels are not run. PyTorch's own code - the
 * dispatcher, the generated device checks, the checks in its operators - is the shipped binary, so what it
 * refuses and in which words is the real thing; only the numbers that come out are meaningless.
 * idle_gpus.py builds it and adds functions that return 0 for the rest of CUDA's libraries.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int current;

/* Two GPUs, or as many as CUDA_VISIBLE_DEVICES lists. */
static int count(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return 2;
  int n = *visible != 0;
  for (; *visible; visible++) n += *visible == ',';
  return n;
}

/* --- devices --- */

cudaError_t cudaGetDeviceCount(int *n) { *n = count(); return *n ? cudaSuccess : cudaErrorNoDevice; }
cudaError_t cudaGetDevice(int *device) { *device = current; return cudaSuccess; }
static cudaError_t sticky;
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= count()) return sticky = cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void) { cudaError_t last = sticky; sticky = cudaSuccess; return last; }
cudaError_t cudaPeekAtLastError(void) { return sticky; }
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidDevice ? "invalid device ordinal" : "unknown error";
}
const char *cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }
cudaError_t cudaDriverGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device) {
  strncpy(id, "0000:00:00.0", length);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  memset(p, 0, sizeof *p);
  strcpy(p->name, "Idle GPU");
  p->major = 8;
  p->totalGlobalMem = 24UL << 30;
  p->multiProcessorCount = 108;
  p->warpSize = 32;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->sharedMemPerBlock = 49152;
  p->sharedMemPerBlockOptin = 166912;
  p->sharedMemPerMultiprocessor = 167936;
  p->l2CacheSize = 40 << 20;
  p->textureAlignment = 512;
  p->unifiedAddressing = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  struct cudaDeviceProp p;
  cudaGetDeviceProperties(&p, device);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = 1024; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 2147483647; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 166912; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 167936; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    default: *value = 1;
  }
  return cudaSuccess;
}

/* --- memory: on the host, zeroed, with a note of whose it is --- */

#define MOST 65536
static struct { char *start; size_t size; int device, host; } blocks[MOST];
static int used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t allocate(void **pointer, size_t size, int host) {
  size_t padded = (size + 4096) & ~(size_t)511;
  if (posix_memalign(pointer, 512, padded)) return cudaErrorMemoryAllocation;
  memset(*pointer, 0, padded);
  pthread_mutex_lock(&lock);
  int slot = 0;
  while (slot < used && blocks[slot].start) slot++;
  if (slot < MOST) {
    blocks[slot].start = *pointer, blocks[slot].size = padded;
    blocks[slot].device = current, blocks[slot].host = host;
    if (slot == used) used++;
  }
  pthread_mutex_unlock(&lock);
  return cudaSuccess;
}

static cudaError_t release(void *pointer) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < used; i++)
    if (blocks[i].start == pointer) blocks[i].start = NULL;
  pthread_mutex_unlock(&lock);
  free(pointer);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size) { return allocate(pointer, size, 0); }
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t s) { return allocate(pointer, size, 0); }
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags) { return allocate(pointer, size, 1); }
cudaError_t cudaFree(void *pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t s) { return release(pointer); }
cudaError_t cudaFreeHost(void *pointer) { return release(pointer); }
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = 24UL << 30;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *pointer) {
  memset(a, 0, sizeof *a);
  a->type = cudaMemoryTypeUnregistered;
  a->device = -2;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < used; i++)
    if (blocks[i].start && (char *)pointer >= blocks[i].start &&
        (char *)pointer < blocks[i].start + blocks[i].size) {
      a->type = blocks[i].host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
      a->device = blocks[i].device;
      a->devicePointer = a->hostPointer = (void *)pointer;
    }
  pthread_mutex_unlock(&lock);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind) {
  memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t s) {
  memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void *to, int there, const void *from, int here, size_t n, cudaStream_t s) {
  memmove(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t n) { memset(to, value, n); return cudaSuccess; }
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t s) {
  memset(to, value, n);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) { return allocate(pointer, 65536, 0); }

/* --- streams and events: all has happened already --- */

cudaError_t cudaStreamCreate(cudaStream_t *s) { *s = calloc(1, 64); return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { return cudaStreamCreate(s); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
  return cudaStreamCreate(s);
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { *priority = 0; return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = calloc(1, 64); return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) { return cudaEventCreate(event); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
  *ms = 1;
  return cudaSuccess;
}

/* --- kernels: registered, described, never run --- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *function) {
  memset(a, 0, sizeof *a);
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = 80;
  a->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *function,
                                                                   int block, size_t shared,
                                                                   unsigned flags) {
  *n = 2;
  return cudaSuccess;
}
static int nothing(void) { return 0; }
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
  *function = (void *)nothing;
  if (status) *status = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
#if CUDART_VERSION < 13000
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, status);
}
#endif
void **__cudaRegisterFatBinary(void *binary) { return calloc(1, 64); }
static _Thread_local struct { dim3 grid, block; size_t shared; void *stream; } launch;
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  launch.grid = grid, launch.block = block, launch.shared = shared, launch.stream = stream;
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  *grid = launch.grid, *block = launch.block, *shared = launch.shared;
  *(void **)stream = launch.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(void **kernel, const void *function) {
  *kernel = (void *)function;
  return cudaSuccess;
}
