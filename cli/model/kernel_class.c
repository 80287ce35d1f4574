#include "cli/model/kernel_class.h"

#include "cli/model/model.h"
#include "cli/model/names.h"

#include <string.h>

bool kernel_name_communicates(const char *demangled)
{
	static const char *const starts[] = { "nccl", "hip", "hccl" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(demangled, starts[i], strlen(starts[i])) == 0)
			return true;
	return strstr(demangled, "ncclKernel") != NULL;
}

bool model_kernel_communicates(struct model *m, uint32_t name)
{
	return kernel_name_communicates(model_string(m, model_name(m, name, NAME_DEMANGLED)));
}
