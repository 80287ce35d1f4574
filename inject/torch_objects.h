/*
 * The nn.Modules of a process that were met: their numbers, and where in the model they hang.  An address and a class make an object; one
 * that took the place of one that was deleted is the same one here.
 *
 * All under the lock; two that hold it (lock.h) may give two objects one number or a wrong place, no more.
 */
#ifndef INJECT_TORCH_OBJECTS_H
#define INJECT_TORCH_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/python_dict.h"

#define TORCH_OBJECTS 24576u            /* that are known; the first two thirds may be taken by what a search came across */
#define TORCH_NONE    UINT32_MAX

struct torch_object {
	uint64_t address, type;
	uint64_t key;                   /* the str under which it stands in its parent's _modules; 0: no parent is known */
	struct py_trail trail;          /* from the parent to it */
	uint32_t parent;                /* its index */
	uint32_t number;                /* of its class, from 0; TORCH_NONE: none yet, or there were too many */
	uint32_t search;                /* the last one that came across it */
	uint8_t met, root, lost;        /* it was called; with nothing around it, at first; nothing around it holds it */
	uint8_t reserved;
};

struct torch_objects {
	uint32_t lock, epoch;
	uint32_t n;
	uint16_t index[32768];          /* by address and class: 1 + position in list; a power of two */
	struct { uint64_t type; uint32_t next; } classes[1024];
	struct torch_object list[TORCH_OBJECTS];
};

extern struct torch_objects torch_objects;

/* Takes the lock.  In a forked child nothing is known. */
void torch_objects_open(void);
void torch_objects_close(void);

/* Index of an object; TORCH_NONE: there are too many, or with `found`, that it was found by a search alone. */
uint32_t torch_object_at(uint64_t address, uint64_t type, bool found);

/* Objects of a class are numbered as they are met. */
uint32_t torch_object_number(uint32_t object);

#endif
