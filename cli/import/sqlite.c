#include "cli/import/sqlite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OK       0
#define ROW      100
#define DONE     101
#define NO_VALUE 5              /* SQLITE_NULL */
#define READONLY 1
#define COLUMNS  24

/* What is used of libsqlite3, found when a file needs it. */
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
};

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

	s->lib = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; s->lib && i < sizeof needed / sizeof *needed; i++) {
		void *fn = dlsym(s->lib, needed[i].name);

		if (!fn)
			return false;
		memcpy(needed[i].to, &fn, sizeof fn);
	}
	return s->lib != NULL;
}

/* Whether a query can be made and has an answer. */
static bool has_rows(struct sqlite *s, const char *sql)
{
	void *statement = NULL;
	bool has = s->prepare(s->db, sql, -1, &statement, NULL) == OK && s->step(statement) == ROW;

	s->finalize(statement);
	return has;
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
		trace_fail(err, 0, "cannot read '%s': it is an SQLite database, and libsqlite3.so.0 is not installed", path);
	else if (s->open(path, &s->db, READONLY, NULL) != OK)
		trace_fail(err, 0, "cannot read '%s': %s", path, s->db ? s->message(s->db) : "out of memory");
	else if (!has_rows(s, "SELECT count(*) FROM sqlite_master"))
		trace_fail(err, 0, "cannot read '%s': %s", path, s->message(s->db));
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

/* What is no table, a view for instance, would be a program of whoever made the file. */
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

/* Its rows; 0 also where they cannot be counted. */
static uint64_t count_rows(struct sqlite *s, const char *table)
{
	void *statement = NULL;
	char sql[300];
	uint64_t n = 0;

	snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", table);
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

		/* Any other name is none of an export, and might be more than a name in a query. */
		if (table && strlen(table) < 200 && is_word(table) && wanted(table))
			fn(table, count_rows(s, table), arg);
	}
	s->finalize(statement);
}

/* "start, end, graphId" with NULL for what the table has not. */
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
	if (choose(s, table, columns, there, list, sizeof list) < 0)
		return trace_fail(err, 0, "cannot read '%s': %s: %s", s->path, table, s->message(s->db));
	snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\"%s%s ORDER BY %s", list, table, where ? " WHERE " : "",
		 where ? where : "", order);
	if (s->prepare(s->db, sql, -1, &row.statement, NULL) != OK)
		return trace_fail(err, 0, "cannot read '%s': %s: %s", s->path, table, s->message(s->db));
	while ((rc = s->step(row.statement)) == ROW)
		if (fn(&row, arg) < 0)
			break;
	s->finalize(row.statement);
	if (rc == ROW)
		return trace_fail(err, 0, "out of memory");
	return rc == DONE ? 0 : trace_fail(err, 0, "cannot read '%s': %s: %s", s->path, table, s->message(s->db));
}
