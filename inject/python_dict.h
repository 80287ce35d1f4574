/*
 * What instances and dicts of CPython 3.8 to 3.14 hold, read where they lie: guarded (peek.h), no Python API, no reference counts, no
 * GIL.  Another thread may change them meanwhile, so what is read may be torn: it is for those who can check what they find.
 */
#ifndef INJECT_PYTHON_DICT_H
#define INJECT_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

/* Where the entries of a dict, or the attributes of an instance, lie. */
struct py_dict {
	uint64_t entries;
	uint64_t values;                /* keys are shared by several dicts, their values lie here; 0: values lie with their keys */
	uint32_t n;                     /* entries, deleted ones among them */
	uint8_t size, key, value;       /* of an entry */
};

struct py_entry {
	uint64_t key, value;            /* value 0: none */
};

/*
 * The words of memory that something was found by.  As long as they are the same, it is where it was, for the objects that lead to it
 * have their places by being led to.
 */
#define PY_TRAIL 12u
struct py_trail {
	uint64_t at[PY_TRAIL], word[PY_TRAIL];
	uint32_t n;                     /* PY_TRAIL + 1: more than there is room for, which never holds */
};

/* An instance as it was read: from 4 words before it on. */
struct py_instance {
	uint64_t object, type;
	uint64_t words[9];
};

/* An attribute's name, and the object of this name that was found last. */
struct py_name {
	const char *text;               /* ASCII */
	uint64_t object;
};

/* A class, as far as its instances' attributes need it. */
struct py_class {
	uint64_t type, flags, keys;
	int64_t dict;                   /* where its instances have theirs, if that is at a fixed place */
	struct py_dict shared;          /* the keys that its instances share, once they were looked at */
	const struct py_name *name;     /* one of them, and its position */
	uint32_t at;
};

/* Are classes of this interpreter as its version has them?  Once python_ready() said yes. */
bool py_classes_ready(void);

/* False: it is no class made by a class statement, or cannot be read. */
bool py_class_read(struct py_class *class, uint64_t type);

/* An object that may be an instance of such a class. */
bool py_instance_read(struct py_instance *i, uint64_t object);

/* The value of an attribute that the instance has itself.  The trail begins with it. */
bool py_attribute(const struct py_instance *i, struct py_class *class, struct py_name *name, uint64_t *value, struct py_trail *t);

/* The entries of a dict, or of an object of a class below it. */
bool py_dict_open(struct py_dict *d, uint64_t dict, struct py_trail *t);

/* At most PY_ENTRIES of them from the given one on; how many.  0: there are no more, or they cannot be read. */
#define PY_ENTRIES 128u
uint32_t py_dict_read(const struct py_dict *d, uint32_t from, struct py_entry out[PY_ENTRIES]);

/* One of them, the i-th, as it was read. */
void py_trail_entry(struct py_trail *t, const struct py_dict *d, uint32_t i, const struct py_entry *e);

/* By one guarded read. */
bool py_trail_holds(const struct py_trail *t);

#endif
