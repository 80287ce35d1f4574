/*
 * Two functions of CUPTI's second family (..._v2), one new in 13.2, one new in 13.3.  Clients detect the release by their presence.  A call
 * returns an error: the caller has subscribed with the first family, and the families cannot be mixed.
 */
#include <cupti.h>

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind);
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *buffer, size_t valid, CUpti_Activity **record);

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind)
{
	(void)subscriber, (void)kind;
	return CUPTI_ERROR_INVALID_OPERATION;
}

#ifdef SINCE_13_3
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	(void)subscriber, (void)buffer, (void)valid, (void)record;
	return CUPTI_ERROR_INVALID_OPERATION;
}
#endif
