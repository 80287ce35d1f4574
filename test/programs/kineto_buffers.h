/* Part of kineto_client.c: its buffers.  Included after the options. */
#ifndef TEST_PROGRAMS_KINETO_BUFFERS_H
#define TEST_PROGRAMS_KINETO_BUFFERS_H

#define MOST_BUFFERS 4096

static struct {
	uint8_t *data;
	size_t valid;
	bool ready;
} buffers[MOST_BUFFERS];
static int n_buffers, n_allocated, n_asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = NULL;
	*size = o.small ? 1024 : 4 << 20;
	*most = 0;
	if (o.refuse)
		return;
	pthread_mutex_lock(&lock);
	n_asked++;
	if (n_buffers < MOST_BUFFERS) {
		*buffer = aligned_alloc(64, *size);
		buffers[n_buffers++].data = *buffer;
		n_allocated++;
	}
	pthread_mutex_unlock(&lock);
}

static void completed(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int i;

	(void)c, (void)stream, (void)size;
	pthread_mutex_lock(&lock);
	for (i = 0; i < n_buffers; i++)
		if (buffers[i].data == buffer && !buffers[i].ready)
			break;
	if (i == n_buffers) {
		printf("a buffer came back that was never given\n");
	} else {
		buffers[i].ready = true;
		buffers[i].valid = valid;
		n_allocated--;
	}
	pthread_mutex_unlock(&lock);
}

static void forget_buffers(void)
{
	int kept = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_buffers; i++) {
		if (buffers[i].ready) {
			free(buffers[i].data);
		} else {
			buffers[kept].data = buffers[i].data;
			buffers[kept].ready = false;
			kept++;
		}
	}
	for (int i = kept; i < n_buffers; i++)
		memset(&buffers[i], 0, sizeof buffers[i]);
	n_buffers = kept;
	pthread_mutex_unlock(&lock);
}

#endif
