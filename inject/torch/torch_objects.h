/*
 * The nn.Modules that were seen in a process: their numbers, and their place in the model.  Address and class identify an object: a new
 * object of the same class at the address of a freed one is the same object here.
 *
 * Call everything under the lock.  Two threads may hold it (lock.h): two objects may then get one number or a wrong place, no more.
 */
#ifndef INJECT_TORCH_TORCH_OBJECTS_H
#define INJECT_TORCH_TORCH_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/python/python_dict.h"

#define TORCH_OBJECTS 24576u            /* most objects; a search may use only the first two thirds */
#define TORCH_NONE    UINT32_MAX

struct torch_object {
	uint64_t address, type;
	uint64_t key;                   /* str key in its parent's _modules; 0: parent unknown */
	struct py_trail trail;          /* from the parent to this object */
	uint32_t parent;                /* index of the parent */
	uint32_t number;                /* number within its class, from 0; TORCH_NONE: none yet, or too many classes */
	uint32_t search;                /* the last search that found it */
	uint8_t met, root, lost;        /* it was called; outermost, with no parent known; no module around it holds it */
	uint8_t reserved;
};

struct torch_objects {
	uint32_t lock, epoch;
	uint32_t n;
	uint16_t index[32768];          /* hash table by address and class: 1 + index in list; size a power of two */
	struct { uint64_t type; uint32_t next; } classes[1024];
	struct torch_object list[TORCH_OBJECTS];
	uint16_t queue[TORCH_OBJECTS];  /* of the search in torch_paths.c */
};

/* NULL before the first torch_objects_open(). */
extern struct torch_objects *torch_objects;

/* Takes the lock.  Clears everything in a forked child.  False: no memory, the lock is not held, and no other function may be called. */
bool torch_objects_open(void);
void torch_objects_close(void);

/*
 * Returns the object's index, adding the object if it is new.  found: it was found by a search, not called.  TORCH_NONE: the table is full.
 */
uint32_t torch_object_at(uint64_t address, uint64_t type, bool found);

/* Returns the object's number within its class; gives the next one at the first call for the object. */
uint32_t torch_object_number(uint32_t object);

#endif
