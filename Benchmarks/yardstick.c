/* Runs our SQL statements on our tables in SQLite through its C API, as the limit that Hesper is compared with.
 *
 *   yardstick DATABASE push NOTES SECONDS   new 500-byte notes, NOTES per commit, in all scopes in turn
 *   yardstick DATABASE read SCOPE           reads all bodies of a scope, newest first
 *
 * DATABASE was created by hesper. The statements are those of a push of new notes (statements.h, from PushStatements.swift),
 * in the same order. The connection is set up like the server's writer. The search index is not written. Prints JSON.
 */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "note_id.h"
#include "statements.h"

#define TEXT(number) #number
#define AS_TEXT(number) TEXT(number)
enum { TEXT_BYTES = 500, MAX_SCOPES = 1024 };

static sqlite3 *database;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int code, int expected, const char *what) {
    if (code != expected) fprintf(stderr, "yardstick: %s: %s\n", what, sqlite3_errmsg(database)), exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK, sql); }

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK, sql);
    return statement;
}

static void done(sqlite3_stmt *statement) {
    check(sqlite3_step(statement), SQLITE_DONE, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void uuid_text(const uint8_t id[16], char text[37]) {
    static const char digits[] = "0123456789abcdef";
    char *at = text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = digits[id[i] >> 4], *at++ = digits[id[i] & 15];
    }
    *at = 0;
}

typedef struct {
    union {
        struct { uint8_t id[16], clock[16], digest[16]; };
        uint8_t random[48];
    };
    char body[1400], parcel[900];
    int body_length, parcel_length;
} Note;

/* A note as the store writes it: its body, and the parcel of its edits. */
static void make(Note *note) {
    static char text[TEXT_BYTES + 1];
    char id[37];
    if (!text[0])
        for (int i = 0; i < TEXT_BYTES; i++) text[i] = i % 6 == 5 ? ' ' : 'a' + i % 23;
    if (getrandom(note->random, sizeof note->random, 0) != sizeof note->random) perror("getrandom"), exit(1);
    make_note_id(note->id);
    uuid_text(note->id, id);
    const char *date = "2026-11-21T08:47:12.345Z", *clock = "2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65";
    note->body_length = snprintf(note->body, sizeof note->body,
        "{\"uniqueID\":\"%s\",\"creationDate\":\"%s\",\"text\":\"%s\",\"archived\":false,\"sortDate\":\"%s\",\"tags\":[],"
        "\"attachments\":[],\"attributes\":{},\"clocks\":{\"text\":\"%s\",\"tags\":{},\"attachments\":{},"
        "\"attributes\":{}}}", id, date, text, date, clock);
    note->parcel_length = snprintf(note->parcel, sizeof note->parcel,
        "[[\"creationDate\",null,{\"date\":\"%s\"}],[\"text\",\"%s\",\"%s\"]]", date, clock, text);
}

static void push(int notes, double seconds) {
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT"), *lock = prepare(SQL_lock),
                 *object = prepare(SQL_object), *tombstone = prepare(SQL_tombstone),
                 *insert_object = prepare(SQL_insertObject), *insert_parcel = prepare(SQL_insertParcel),
                 *advance = prepare(SQL_advance), *all = prepare("SELECT id FROM scopes ORDER BY id");
    int64_t scopes[MAX_SCOPES], commits = 0;
    int count = 0;
    while (count < MAX_SCOPES && sqlite3_step(all) == SQLITE_ROW) scopes[count++] = sqlite3_column_int64(all, 0);
    sqlite3_finalize(all);
    if (!count) fprintf(stderr, "yardstick: the database has no scopes\n"), exit(1);
    Note *created = calloc(notes, sizeof *created);
    double began = now(), took = 0;
    for (; took < seconds; took = now() - began, commits++) {
        int64_t scope = scopes[commits % count], sequence;
        done(begin);
        sqlite3_bind_int64(lock, 1, scope);
        check(sqlite3_step(lock), SQLITE_ROW, SQL_lock);
        sequence = sqlite3_column_int64(lock, 0);
        sqlite3_reset(lock);
        for (int i = 0; i < notes; i++) {
            make(&created[i]);
            sqlite3_bind_int64(object, 1, scope), sqlite3_bind_blob(object, 2, created[i].id, 16, SQLITE_STATIC), done(object);
            sqlite3_bind_int64(tombstone, 1, scope), sqlite3_bind_blob(tombstone, 2, created[i].id, 16, SQLITE_STATIC);
            done(tombstone);
        }
        for (int i = 0; i < notes; i++) {
            sqlite3_bind_int64(insert_object, 1, scope);
            sqlite3_bind_blob(insert_object, 2, created[i].id, 16, SQLITE_STATIC);
            sqlite3_bind_int(insert_object, 3, 0);
            sqlite3_bind_text(insert_object, 4, "note", 4, SQLITE_STATIC);
            sqlite3_bind_int64(insert_object, 5, sequence + 1 + i);
            sqlite3_bind_int(insert_object, 6, created[i].body_length);
            sqlite3_bind_blob(insert_object, 7, created[i].digest, 16, SQLITE_STATIC);
            sqlite3_bind_text(insert_object, 8, created[i].body, created[i].body_length, SQLITE_STATIC);
            done(insert_object);
        }
        int64_t parcel_bytes = 0;
        for (int i = 0; i < notes; i++) {
            parcel_bytes += created[i].parcel_length;
            sqlite3_bind_int64(insert_parcel, 1, scope);
            sqlite3_bind_blob(insert_parcel, 2, created[i].id, 16, SQLITE_STATIC);
            sqlite3_bind_int64(insert_parcel, 3, sequence + 1 + i);
            sqlite3_bind_blob(insert_parcel, 4, created[i].digest, 8, SQLITE_STATIC);
            sqlite3_bind_int64(insert_parcel, 5, 1795250832345);
            sqlite3_bind_text(insert_parcel, 6, "note", 4, SQLITE_STATIC);
            sqlite3_bind_int(insert_parcel, 7, 0);
            sqlite3_bind_blob(insert_parcel, 8, created[i].clock, 16, SQLITE_STATIC);
            sqlite3_bind_blob(insert_parcel, 9, created[i].clock, 16, SQLITE_STATIC);
            sqlite3_bind_blob(insert_parcel, 10, created[i].clock, 16, SQLITE_STATIC);
            sqlite3_bind_int64(insert_parcel, 13, 0);
            sqlite3_bind_int64(insert_parcel, 15, 0x9abcdef0);
            sqlite3_bind_null(insert_parcel, 11);
            sqlite3_bind_text(insert_parcel, 12, created[i].parcel, created[i].parcel_length, SQLITE_STATIC);
            done(insert_parcel);
        }
        sqlite3_bind_int64(advance, 1, scope);
        sqlite3_bind_int64(advance, 2, sequence + notes);
        sqlite3_bind_blob(advance, 3, created[0].digest, 16, SQLITE_STATIC);
        sqlite3_bind_blob(advance, 4, created[0].clock, 16, SQLITE_STATIC);
        sqlite3_bind_blob(advance, 5, created[0].clock, 16, SQLITE_STATIC);
        sqlite3_bind_int64(advance, 6, parcel_bytes);
        done(advance), done(commit);
    }
    printf("{\"requests\": %lld, \"seconds\": %.6f, \"rate\": %.2f, \"objects\": %lld}\n", (long long)commits, took,
           commits / took, (long long)commits * notes);
}

static void read_all(int64_t scope) {
    sqlite3_stmt *select = prepare(
        "SELECT sequence, section, id, body FROM objects WHERE scope = ?1 AND sequence BETWEEN 0 AND ?2 "
        "ORDER BY sequence DESC");
    sqlite3_bind_int64(select, 1, scope), sqlite3_bind_int64(select, 2, INT64_MAX);
    static char page[1 << 20];
    int64_t rows = 0, bytes = 0;
    double began = now();
    while (sqlite3_step(select) == SQLITE_ROW) {
        const void *body = sqlite3_column_blob(select, 3);
        int length = sqlite3_column_bytes(select, 3);
        memcpy(page, body, length < (int)sizeof page ? length : (int)sizeof page);
        __asm__ volatile("" : : "r"(page) : "memory"); /* prevents the compiler from removing the copy */
        rows++, bytes += length;
    }
    double took = now() - began;
    printf("{\"objects\": %lld, \"seconds\": %.6f, \"rate\": %.2f, \"bytes\": %lld}\n", (long long)rows, took, rows / took,
           (long long)bytes);
}

int main(int count, char **arguments) {
    if (count < 4) fprintf(stderr, "yardstick: see the comment in yardstick.c\n"), exit(2);
    check(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0), SQLITE_OK, "sqlite3_config");
    check(sqlite3_open(arguments[1], &database), SQLITE_OK, arguments[1]);
    run("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
        "PRAGMA cache_size = -" AS_TEXT(WRITER_CACHE) "; PRAGMA wal_autocheckpoint = " AS_TEXT(CHECKPOINT_PAGES));
    if (!strcmp(arguments[2], "push") && count == 5)
        push(atoi(arguments[3]), atof(arguments[4]));
    else if (!strcmp(arguments[2], "read"))
        read_all(atoll(arguments[3]));
    else
        fprintf(stderr, "yardstick: see the comment in yardstick.c\n"), exit(2);
    return 0;
}
