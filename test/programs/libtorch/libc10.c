/* A stand-in for libc10: the function to which PyTorch's allocators report, and its record of these reports. */
#include <stdint.h>
#include <stddef.h>

struct device {
	int8_t type, index;
};

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
void REPORT(void *address, int64_t bytes, size_t allocated, size_t reserved, struct device device);
int64_t standin_told(void);

static int64_t told;

void REPORT(void *address, int64_t bytes, size_t allocated, size_t reserved, struct device device)
{
	(void)address, (void)allocated, (void)reserved;
	told += device.type == 1 && device.index == 2 ? bytes : 1;
}

int64_t standin_told(void)
{
	return told;
}
