/*
 * Masks secrets in command lines, URLs and environment values as "***", so that no trace contains them.  The rules are the tables of
 * secrets.c, described in docs/reference/privacy.md.  No function keeps state or does I/O.
 */
#ifndef TRACE_RULES_SECRETS_H
#define TRACE_RULES_SECRETS_H

#include "trace/buf.h"

#define SECRET_MASK "***"

/* Whether the value of an option, argument or field with this name is a secret: "auth-token" yes, "max_tokens" no. */
bool secret_name(const char *name, size_t n);

/* Whether the value of an environment variable is a secret.  Stricter than secret_name(): one word of the name suffices. */
bool secret_variable(const char *name, size_t n);

/* Appends a text to out and masks its secrets: values of secret names, passwords in URLs, tokens of known shape. */
void secrets_put(struct buf *out, const char *text, size_t n);

/* State of masking a command line argument by argument; { 0 } before the first argument. */
struct secret_args {
	char program[32];               /* base name of the first argument */
	bool begun;
	unsigned next;                  /* enum next of secrets.c: meaning of the next argument */
};

/* Appends one argument, masked as by secrets_put(); masks it whole if the option before it takes a secret. */
void secrets_put_arg(struct secret_args *a, struct buf *out, const char *arg, size_t n);

#endif
