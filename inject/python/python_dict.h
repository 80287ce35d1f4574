/*
 * Attributes of instances and entries of dicts of CPython 3.8 to 3.14, read in place: guarded reads (peek.h), no Python API, no references,
 * no GIL.  Another thread may change the objects during the read, so the result may be torn: the caller must check what it gets.
 */
#ifndef INJECT_PYTHON_PYTHON_DICT_H
#define INJECT_PYTHON_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

/* Location of a dict's entries, or of an instance's attributes. */
struct py_dict {
	uint64_t entries;
	uint64_t values;                /* address of the values if several dicts share the keys; 0: each entry has its value */
	uint32_t n;                     /* entries, deleted ones included */
	uint8_t size, key, value;       /* size of an entry; offsets of key and value in it */
};

struct py_entry {
	uint64_t key, value;            /* value 0: unset */
};

/*
 * The memory words through which a value was found.  While all of them are unchanged, the value is still there: each object on the way is
 * alive because the word before refers to it.
 */
#define PY_TRAIL 12u
struct py_trail {
	uint64_t at[PY_TRAIL], word[PY_TRAIL];
	uint32_t n;                     /* PY_TRAIL + 1: too many words; py_trail_holds() is then false */
};

/* A copy of an instance's words, from 4 words before its address on. */
struct py_instance {
	uint64_t object, type;
	uint64_t words[9];
};

/* An attribute's name, and the str object of this name that was found last (0: none). */
struct py_name {
	const char *text;               /* ASCII */
	uint64_t object;
};

/* The parts of a class that are needed to find its instances' attributes. */
struct py_class {
	uint64_t type, flags, keys;
	int64_t dict;                   /* tp_dictoffset: offset of the dict pointer in an instance; <= 0: no fixed offset */
	struct py_dict shared;          /* the keys that its instances share; size 0: not read yet */
	const struct py_name *name;     /* the name found last in `shared`, and in `at` its position */
	uint32_t at;
};

/* True if this interpreter's type objects match its version.  Call it only after python_ready() returned true. */
bool py_classes_ready(void);

/* Reads a class.  False: it was not made by a class statement (a heap type), or cannot be read. */
bool py_class_read(struct py_class *class, uint64_t type);

/* Copies an object's words.  False: they cannot be read, or are not an object's. */
bool py_instance_read(struct py_instance *i, uint64_t object);

/* Gets the value of an attribute of the instance itself, not of its class.  Starts a new trail.  False: not found. */
bool py_attribute(const struct py_instance *i, struct py_class *class, struct py_name *name, uint64_t *value, struct py_trail *t);

/* Opens a dict, or an instance of a subclass of dict, and appends to the trail.  False: it is neither, or cannot be read. */
bool py_dict_open(struct py_dict *d, uint64_t dict, struct py_trail *t);

/* Reads at most PY_ENTRIES entries from position `from` on.  Returns their number; 0: no more, or they cannot be read. */
#define PY_ENTRIES 128u
uint32_t py_dict_read(const struct py_dict *d, uint32_t from, struct py_entry out[PY_ENTRIES]);

/* Appends the i-th entry, as read into *e, to the trail. */
void py_trail_entry(struct py_trail *t, const struct py_dict *d, uint32_t i, const struct py_entry *e);

/* True if no word of the trail has changed.  One guarded read. */
bool py_trail_holds(const struct py_trail *t);

#endif
