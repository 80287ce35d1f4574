#include "cli/model/nvtx/libraries.h"

#include <string.h>

#include "cli/model/model.h"
#include "trace/rules/libraries.h"

_Static_assert(N_LIBRARIES <= LIBRARY_DOMAINS, "no room for all libraries");

size_t model_library_domains(struct model *m, uint32_t ids[LIBRARY_DOMAINS])
{
	for (size_t i = 0; i < N_LIBRARIES; i++)
		ids[i] = model_intern(m, libraries[i].domain);
	return N_LIBRARIES;
}

bool model_domain_of_library(struct model *m, uint32_t process, uint32_t domain)
{
	const char *name = domain ? model_string(m, model_domain(m, process, domain)) : "";

	return *name && library_of_domain(name, strlen(name)) < N_LIBRARIES;
}
