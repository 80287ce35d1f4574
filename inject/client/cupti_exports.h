/*
 * Functions of libcupti that the object exports.  The object is preloaded, so libraries linked to libcupti call these instead.  A call is
 * answered by cupti_client.c while the tracer uses the same libcupti; otherwise it is passed to the libcupti that the caller is linked to.
 *
 * Only functions that concern both the tracer and the client.  libcupti's calls to its own functions do not arrive here: it is linked with
 * -Bsymbolic.
 */
#ifndef INJECT_CLIENT_CUPTI_EXPORTS_H
#define INJECT_CLIENT_CUPTI_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#include "inject/cupti/cupti_abi.h"

#define CLIENT_CALLBACK  void (*callback)(void *user, int domain, uint32_t cbid, const void *data)
#define CLIENT_REQUESTED void (*requested)(uint8_t **buffer, size_t *size, size_t *max_records)
#define CLIENT_COMPLETED void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)

int cuptiSubscribe(void **subscriber, CLIENT_CALLBACK, void *user);
int cuptiSubscribe_v2(void **subscriber, CLIENT_CALLBACK, void *user, struct cupti_subscriber_params *params);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
int cuptiEnableAllDomains(uint32_t enable, void *subscriber);
int cuptiGetCallbackState(uint32_t *enable, void *subscriber, int domain, uint32_t cbid);
int cuptiActivityRegisterCallbacks(CLIENT_REQUESTED, CLIENT_COMPLETED);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityEnableAndDump(int kind);
int cuptiActivityEnableContext(void *context, int kind);
int cuptiActivityDisableContext(void *context, int kind);
int cuptiActivityFlush(void *context, uint32_t stream, uint32_t flag);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiActivityEnableAllSyncRecords(uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
int cuptiGetTimestamp(uint64_t *timestamp);
int cuptiSetThreadIdType(int type);
int cuptiGetThreadIdType(int *type);
int cuptiFinalize(void);

#undef CLIENT_CALLBACK
#undef CLIENT_REQUESTED
#undef CLIENT_COMPLETED

#endif
