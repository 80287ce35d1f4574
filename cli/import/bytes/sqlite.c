#include "cli/import/bytes/sqlite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define OK       0
#define ROW      100
#define DONE     101
#define NO_VALUE 5              /* SQLITE_NULL */
#define READONLY 1
#define COLUMNS  24

/* An open file, and the functions of libsqlite3 that it needs. */
struct sqlite {
	void *lib, *db;
	const char *path;
	int (*open)(const char *path, void **db, int flags, const char *vfs);
	int (*close)(void *db);
	int (*prepare)(void *db, const char *sql, int n, void **statement, const char **tail);
	int (*step)(void *statement);
	int (*finalize)(void *statement);
	int (*type)(void *statement, int column);
	int64_t (*whole)(void *statement, int column);
	double (*real)(void *statement, int column);
	const unsigned char *(*text)(void *statement, int column);
	int (*bytes)(void *statement, int column);
	int (*columns)(void *statement);
	const char *(*column)(void *statement, int column);     /* its name */
	const char *(*message)(void *db);
	/* NULL if the library is too old to have them. */
	int (*limit)(void *db, int what, int value);
	int (*config)(void *db, int what, ...);
	void (*progress)(void *db, int every, int (*fn)(void *arg), void *arg);
	int64_t (*heap)(int64_t most);
	uint64_t turns, most_turns;     /* units of TURN instructions: executed, allowed */
};

/*
 * A hostile file can make SQLite run for any time: its schema contains expressions, and its pages refer to pages, so a page
 * that refers to itself yields any number of rows.  Instructions of SQLite's virtual machine are limited by the size of the
 * file; a real export needs about 10 a byte.
 */
#define TURN          1000
#define FREE_TURNS    5000u
#define BYTES_A_TURN  20u               /* 50 instructions a byte */
#define MOST_VALUE    (64 << 20)        /* bytes of a text or blob */
#define MOST_HEAP     (256ll << 20)

static int count_turn(void *arg)
{
	struct sqlite *s = arg;

	return ++s->turns > s->most_turns;
}

/* Sets limits for hostile files.  The numbers are constants of sqlite3.h, which is not needed to build. */
static void restrain(struct sqlite *s)
{
	static const struct { int what, value; } limits[] = {
		{ 0, MOST_VALUE }, { 1, 1000000 }, { 3, 100 }, { 5, 25000 }, { 7, 0 }, { 10, 1 }, { 11, 0 },
	};      /* length, SQL length, depth of expressions, instructions, attached files, depth of triggers, threads */
	static const struct { int what, value; } settings[] = {
		{ 1003, 0 }, { 1010, 1 }, { 1015, 0 }, { 1017, 0 },
	};      /* triggers off, defensive, views off, the schema is not trusted */

	for (size_t i = 0; s->limit && i < sizeof limits / sizeof *limits; i++)
		s->limit(s->db, limits[i].what, limits[i].value);
	for (size_t i = 0; s->config && i < sizeof settings / sizeof *settings; i++)
		s->config(s->db, settings[i].what, settings[i].value, NULL);
	if (s->heap)
		s->heap(MOST_HEAP);
	if (s->progress)
		s->progress(s->db, TURN, count_turn, s);
}

static bool bind(struct sqlite *s)
{
	const struct { const char *name; void *to; } needed[] = {
		{ "sqlite3_open_v2", &s->open }, { "sqlite3_close", &s->close }, { "sqlite3_prepare_v2", &s->prepare },
		{ "sqlite3_step", &s->step }, { "sqlite3_finalize", &s->finalize }, { "sqlite3_column_type", &s->type },
		{ "sqlite3_column_int64", &s->whole }, { "sqlite3_column_text", &s->text },
		{ "sqlite3_column_bytes", &s->bytes }, { "sqlite3_column_count", &s->columns },
		{ "sqlite3_column_name", &s->column }, { "sqlite3_column_double", &s->real },
		{ "sqlite3_errmsg", &s->message },
	};

	const struct { const char *name; void *to; } newer[] = {
		{ "sqlite3_limit", &s->limit }, { "sqlite3_db_config", &s->config }, { "sqlite3_progress_handler", &s->progress },
		{ "sqlite3_hard_heap_limit64", &s->heap },
	};

	s->lib = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; s->lib && i < sizeof newer / sizeof *newer; i++) {
		void *fn = dlsym(s->lib, newer[i].name);

		memcpy(newer[i].to, &fn, sizeof fn);
	}
	for (size_t i = 0; s->lib && i < sizeof needed / sizeof *needed; i++) {
		void *fn = dlsym(s->lib, needed[i].name);

		if (!fn)
			return false;
		memcpy(needed[i].to, &fn, sizeof fn);
	}
	return s->lib != NULL;
}

/* Whether a query is valid and returns a row. */
static bool has_rows(struct sqlite *s, const char *sql)
{
	void *statement = NULL;
	bool has = s->prepare(s->db, sql, -1, &statement, NULL) == OK && s->step(statement) == ROW;

	s->finalize(statement);
	return has;
}

/* Why SQLite stopped, as a text for the user. */
static const char *why(const struct sqlite *s)
{
	return s->turns > s->most_turns ? "its tables are larger than the file, which is damaged" : s->message(s->db);
}

/* Opens the file and sets the limits before anything in it is read.  0 or -1. */
static int open_file(struct sqlite *s, const char *path)
{
	struct stat st;
	int rc = s->open(path, &s->db, READONLY, NULL);

	if (rc != OK || stat(path, &st) < 0)
		return -1;
	s->most_turns = FREE_TURNS + (uint64_t)st.st_size / BYTES_A_TURN;
	restrain(s);
	has_rows(s, "PRAGMA cell_size_check = 1");
	return 0;
}

struct sqlite *sqlite_open(const char *path, struct trace_error *err)
{
	struct sqlite *s = calloc(1, sizeof *s);

	if (!s) {
		trace_fail(err, 0, "out of memory");
		return NULL;
	}
	s->path = path;
	if (!bind(s))
		trace_fail(err, 0, "cannot read '%s': libsqlite3.so.0, which reads SQLite databases, is not installed", path);
	else if (open_file(s, path) < 0)
		trace_fail(err, 0, "cannot read '%s': %s", path, s->db ? s->message(s->db) : "out of memory");
	else if (!has_rows(s, "SELECT sum(1) FROM sqlite_master"))
		trace_fail(err, 0, "cannot read '%s': %s", path, why(s));
	else
		return s;
	sqlite_close(s);
	return NULL;
}

void sqlite_close(struct sqlite *s)
{
	if (!s)
		return;
	if (s->db)
		s->close(s->db);
	if (s->lib)
		dlclose(s->lib);
	free(s);
}

int64_t row_whole(const struct sqlite_row *r, int column)
{
	return r->there[column] ? r->s->whole(r->statement, column) : 0;
}

double row_real(const struct sqlite_row *r, int column)
{
	return r->there[column] ? r->s->real(r->statement, column) : 0;
}

bool row_null(const struct sqlite_row *r, int column)
{
	return !r->there[column] || r->s->type(r->statement, column) == NO_VALUE;
}

const char *row_text(const struct sqlite_row *r, int column, size_t *n)
{
	const unsigned char *text = r->there[column] ? r->s->text(r->statement, column) : NULL;
	int bytes = text ? r->s->bytes(r->statement, column) : 0;

	*n = bytes > 0 ? (size_t)bytes : 0;
	return text ? (const char *)text : "";
}

/* Only ordinary tables: views and virtual tables would run code from the file. */
bool sqlite_has(struct sqlite *s, const char *table)
{
	char sql[200];

	snprintf(sql, sizeof sql, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '%s' AND sql LIKE 'CREATE TABLE%%'", table);
	return has_rows(s, sql);
}

static bool has_column(struct sqlite *s, void *statement, const char *name, size_t length)
{
	for (int i = 0, n = s->columns(statement); i < n; i++) {
		const char *is = s->column(statement, i);

		if (is && strlen(is) == length && strncasecmp(is, name, length) == 0)
			return true;
	}
	return false;
}

bool sqlite_has_column(struct sqlite *s, const char *table, const char *column)
{
	void *all = NULL;
	char sql[200];
	bool has;

	snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
	has = sqlite_has(s, table) && s->prepare(s->db, sql, -1, &all, NULL) == OK && has_column(s, all, column, strlen(column));
	s->finalize(all);
	return has;
}

static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* Whether the table has generated columns, whose expressions run for each row. */
static bool has_computed(struct sqlite *s, const char *table)
{
	char sql[200];

	snprintf(sql, sizeof sql, "SELECT 1 FROM pragma_table_xinfo('%s') WHERE hidden IN (2, 3)", table);
	return has_rows(s, sql);
}

/* Number of rows of a table; 0 if they cannot be counted. */
static uint64_t count_rows(struct sqlite *s, const char *table)
{
	void *statement = NULL;
	char sql[300];
	uint64_t n = 0;

	/* Not count(*): it is one instruction, which the limit on instructions cannot interrupt. */
	snprintf(sql, sizeof sql, "SELECT sum(1) FROM \"%s\"", table);
	if (s->prepare(s->db, sql, -1, &statement, NULL) == OK && s->step(statement) == ROW)
		n = (uint64_t)s->whole(statement, 0);
	s->finalize(statement);
	return n;
}

void sqlite_tables(struct sqlite *s, bool (*wanted)(const char *table), void (*fn)(const char *table, uint64_t rows, void *arg),
		   void *arg)
{
	static const char sql[] = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' ORDER BY rowid";
	void *statement = NULL;

	if (s->prepare(s->db, sql, -1, &statement, NULL) != OK)
		return;
	while (s->step(statement) == ROW) {
		const char *table = (const char *)s->text(statement, 0);

		/* Tables of an export have such names; any other name could inject SQL. */
		if (table && strlen(table) < 200 && is_word(table) && wanted(table))
			fn(table, count_rows(s, table), arg);
	}
	s->finalize(statement);
}

/* Writes the columns of a query to list, with NULL for columns that the table does not have, and sets there[].  0 or -1. */
static int choose(struct sqlite *s, const char *table, const char *columns, bool there[COLUMNS], char *list, size_t size)
{
	void *all = NULL;
	char sql[200];
	size_t at = 0;

	snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
	if (s->prepare(s->db, sql, -1, &all, NULL) != OK)
		return -1;
	for (int n = 0; *columns && n < COLUMNS; n++) {
		size_t length = strcspn(columns, ",");

		there[n] = has_column(s, all, columns, length);
		at += (size_t)snprintf(list + at, at < size ? size - at : 0, there[n] ? "%s\"%.*s\"" : "%sNULL", n ? ", " : "",
				       (int)length, columns);
		columns += length;
		columns += strspn(columns, ", ");
	}
	s->finalize(all);
	return at < size ? 0 : -1;
}

int sqlite_each(struct sqlite *s, const char *table, const char *columns, const char *where,
		int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err)
{
	return sqlite_each_by(s, table, columns, where, "rowid", fn, arg, err);
}

int sqlite_each_by(struct sqlite *s, const char *table, const char *columns, const char *where, const char *order,
		   int (*fn)(const struct sqlite_row *r, void *arg), void *arg, struct trace_error *err)
{
	bool there[COLUMNS] = { false };
	struct sqlite_row row = { .s = s, .there = there };
	char list[800], sql[1200];
	int rc = DONE;

	if (!sqlite_has(s, table))
		return 0;
	if (has_computed(s, table))
		return trace_fail(err, 0, "cannot read '%s': table %s has generated columns, so nsys did not write it", s->path, table);
	if (choose(s, table, columns, there, list, sizeof list) < 0)
		return trace_fail(err, 0, "cannot read '%s': table %s: %s", s->path, table, why(s));
	snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\"%s%s ORDER BY %s", list, table, where ? " WHERE " : "",
		 where ? where : "", order);
	if (s->prepare(s->db, sql, -1, &row.statement, NULL) != OK)
		return trace_fail(err, 0, "cannot read '%s': table %s: %s", s->path, table, why(s));
	while ((rc = s->step(row.statement)) == ROW)
		if (fn(&row, arg) < 0)
			break;
	s->finalize(row.statement);
	if (rc == ROW)
		return trace_fail(err, 0, "out of memory");
	return rc == DONE ? 0 : trace_fail(err, 0, "cannot read '%s': table %s: %s", s->path, table, why(s));
}
