/* Runs our SQL statements on our tables in PostgreSQL through libpq, as the limit that Hesper is compared with.
 *
 *   postgres push NOTES SECONDS CONNECTIONS   new 500-byte notes, NOTES per commit, one scope per connection
 *   postgres copy                             COPY objects TO STDOUT
 *
 * Connects as set with PGHOST, PGDATABASE and so on, to a database created by hesper. The statements are those of a push of
 * new notes (statements.h, from PushStatements.swift), pipelined as in the store. The search index is not written.
 * Prints JSON.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "note_id.h"
#include "statements.h"

enum { TEXT_BYTES = 500, MAX_CONNECTIONS = 64, MAX_PARAMETERS = 17 };
/* The limit of the bodies of existing objects that one query may return. */
enum { FORESIGHT_BYTES = 32 << 20 };
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT4 = 23, TEXT = 25, JSON = 114, DATE = 1184, UUID = 2950 };
enum { BOOLS = 1000, BYTEAS = 1001, INT4S = 1007, TEXTS = 1009, INT8S = 1016, JSONS = 199, UUIDS = 2951, DATES = 1185 };

static int notes;
static double seconds;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(PGconn *connection, const char *what) {
    fprintf(stderr, "postgres: %s: %s\n", what, PQerrorMessage(connection)), exit(1);
}

static PGconn *connected(void) {
    PGconn *connection = PQconnectdb("");
    if (PQstatus(connection) != CONNECTION_OK) fail(connection, "connect");
    return connection;
}

/* The binary parameters of one statement. */
typedef struct {
    char *bytes;
    size_t length, capacity, starts[MAX_PARAMETERS];
    int count;
} Parameters;

static void put(Parameters *to, const void *bytes, size_t length) {
    if (to->length + length > to->capacity)
        to->bytes = realloc(to->bytes, to->capacity = (to->length + length) * 2);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put32(Parameters *to, uint32_t value) { put(to, &(uint32_t){htobe32(value)}, 4); }
static void begin(Parameters *to) { to->starts[to->count++] = to->length; }
static void clear(Parameters *to) { to->length = 0, to->count = 0; }
static void integer(Parameters *to, int64_t value) { begin(to), put(to, &(int64_t){htobe64(value)}, 8); }

static void array(Parameters *to, uint32_t element, int count) {
    begin(to);
    put32(to, 1), put32(to, 1), put32(to, element), put32(to, count), put32(to, 1);
}

static void element(Parameters *to, const void *value, size_t length) { put32(to, length), put(to, value, length); }
static void element64(Parameters *to, int64_t value) { element(to, &(int64_t){htobe64(value)}, 8); }

static void prepare(PGconn *connection, const char *name, const char *sql, int count, const Oid *types) {
    PGresult *result = PQprepare(connection, name, sql, count, types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(connection, sql);
    PQclear(result);
}

static void send(PGconn *connection, const char *name, const Parameters *parameters) {
    const char *values[MAX_PARAMETERS];
    int lengths[MAX_PARAMETERS], formats[MAX_PARAMETERS];
    for (int i = 0; i < parameters->count; i++) {
        values[i] = parameters->bytes + parameters->starts[i], formats[i] = 1;
        lengths[i] = (i + 1 < parameters->count ? parameters->starts[i + 1] : parameters->length) - parameters->starts[i];
    }
    if (!PQsendQueryPrepared(connection, name, parameters->count, values, lengths, formats, 1)) fail(connection, name);
}

/* Waits for the results of some statements, and returns the last one. */
static PGresult *settled(PGconn *connection, int count) {
    PGresult *last = NULL;
    if (!PQpipelineSync(connection)) fail(connection, "sync");
    for (int i = 0; i <= count; i++) {
        PGresult *result = PQgetResult(connection);
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            break;
        }
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(connection, "a statement");
        PQclear(last);
        last = result;
        if (PQgetResult(connection)) fail(connection, "unexpected result");
    }
    return last;
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
static void make(Note *note, const char *text) {
    if (getrandom(note->random, sizeof note->random, 0) != sizeof note->random) perror("getrandom"), exit(1);
    make_note_id(note->id);
    const uint8_t *id = note->id;
    const char *date = "2026-11-21T08:47:12.345Z", *clock = "2026-11-21T08:47:12.345Z-0003-9f86d081884c7d65";
    note->body_length = snprintf(note->body, sizeof note->body,
        "{\"uniqueID\":\"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\",\"creationDate\":\"%s\","
        "\"text\":\"%s\",\"archived\":false,\"sortDate\":\"%s\",\"tags\":[],\"attachments\":[],\"attributes\":{},"
        "\"clocks\":{\"text\":\"%s\",\"tags\":{},\"attachments\":{},\"attributes\":{}}}",
        id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11], id[12], id[13], id[14],
        id[15], date, text, date, clock);
    note->parcel_length = snprintf(note->parcel, sizeof note->parcel,
        "[[\"creationDate\",null,{\"date\":\"%s\"}],[\"text\",\"%s\",\"%s\"]]", date, clock, text);
}

static void prepare_all(PGconn *connection) {
    prepare(connection, "begin", "BEGIN ISOLATION LEVEL READ COMMITTED", 0, NULL);
    prepare(connection, "commit", "COMMIT", 0, NULL);
    prepare(connection, "lock", POSTGRES_lock, 1, (Oid[]){INT8S});
    prepare(connection, "states", POSTGRES_states, 3, (Oid[]){INT8S, UUIDS, INT8});
    prepare(connection, "objects", POSTGRES_insertObjects, 8, (Oid[]){INT8S, UUIDS, INT4S, TEXTS, INT8S, INT8S, BYTEAS, JSONS});
    prepare(connection, "parcels", POSTGRES_insertParcels, 17,
            (Oid[]){INT8S, INT8S, UUIDS, INT8S, TEXTS, BOOLS, BOOLS, BYTEAS, BYTEAS, BYTEAS, BYTEAS, JSONS, BYTEAS, BYTEAS, INT8S, TEXTS,
                    DATES});
    prepare(connection, "advance", POSTGRES_advance, 7, (Oid[]){INT8S, INT8S, BYTEAS, BYTEAS, BYTEAS, INT8S, INT8S});
}

static int64_t column(PGresult *result, int column) {
    int64_t value;
    memcpy(&value, PQgetvalue(result, 0, column), sizeof value);
    return be64toh(value);
}

static void integers(Parameters *to, int64_t value, int count) {
    array(to, INT8, count);
    for (int i = 0; i < count; i++) element64(to, value);
}

static void send_objects(PGconn *connection, Parameters *p, int64_t scope, int64_t sequence, const Note *created) {
    clear(p), integers(p, scope, notes);
    array(p, UUID, notes);
    for (int i = 0; i < notes; i++) element(p, created[i].id, 16);
    array(p, INT4, notes);
    for (int i = 0; i < notes; i++) element(p, "\0\0\0", 4);
    array(p, TEXT, notes);
    for (int i = 0; i < notes; i++) element(p, "note", 4);
    array(p, INT8, notes);
    for (int i = 0; i < notes; i++) element64(p, sequence + 1 + i);
    array(p, INT8, notes);
    for (int i = 0; i < notes; i++) element64(p, created[i].body_length);
    array(p, BYTEA, notes);
    for (int i = 0; i < notes; i++) element(p, created[i].digest, 16);
    array(p, JSON, notes);
    for (int i = 0; i < notes; i++) element(p, created[i].body, created[i].body_length);
    send(connection, "objects", p);
}

static void send_parcels(PGconn *connection, Parameters *p, int64_t scope, int64_t number, int64_t sequence, const Note *created) {
    clear(p), integers(p, scope, notes);
    array(p, INT8, notes);
    for (int i = 0; i < notes; i++) element64(p, number + 1 + i);
    array(p, UUID, notes);
    for (int i = 0; i < notes; i++) element(p, created[i].id, 16);
    array(p, INT8, notes);
    for (int i = 0; i < notes; i++) element64(p, sequence + 1 + i);
    array(p, TEXT, notes);
    for (int i = 0; i < notes; i++) element(p, "note", 4);
    for (int flag = 0; flag < 2; flag++) {
        array(p, BOOL, notes);
        for (int i = 0; i < notes; i++) element(p, "", 1);
    }
    for (int clock = 0; clock < 3; clock++) {
        array(p, BYTEA, notes);
        for (int i = 0; i < notes; i++) element(p, created[i].clock, 16);
    }
    array(p, BYTEA, notes);
    for (int i = 0; i < notes; i++) put32(p, -1); /* NULL */
    array(p, JSON, notes);
    for (int i = 0; i < notes; i++) element(p, created[i].parcel, created[i].parcel_length);
    array(p, BYTEA, notes);
    for (int i = 0; i < notes; i++) put32(p, -1); /* NULL */
    array(p, BYTEA, notes);
    for (int i = 0; i < notes; i++) element(p, created[0].digest, 8);
    array(p, INT8, notes);
    for (int i = 0; i < notes; i++) element64(p, 0x9abcdef0);
    array(p, TEXT, notes);
    for (int i = 0; i < notes; i++) put32(p, -1); /* NULL */
    array(p, DATE, notes);
    for (int i = 0; i < notes; i++) element64(p, 848479632345000);
    send(connection, "parcels", p);
}

typedef struct {
    pthread_t thread;
    int64_t scope, commits;
    double end;
} Pusher;

static void *push(void *argument) {
    Pusher *pusher = argument;
    int64_t scope = pusher->scope;
    PGconn *connection = connected();
    prepare_all(connection);
    if (!PQenterPipelineMode(connection)) fail(connection, "pipeline");
    char text[TEXT_BYTES + 1] = {0};
    for (int i = 0; i < TEXT_BYTES; i++) text[i] = i % 6 == 5 ? ' ' : 'a' + i % 23;
    Note *created = calloc(notes, sizeof *created);
    Parameters p = {0};
    for (double began = now(); (pusher->end = now()) - began < seconds; pusher->commits++) {
        clear(&p), send(connection, "begin", &p);
        integers(&p, scope, 1), send(connection, "lock", &p);
        PGresult *locked = settled(connection, 2);
        int64_t sequence = column(locked, 0), number = column(locked, 4);
        PQclear(locked);
        int64_t parcel_bytes = 0;
        for (int i = 0; i < notes; i++) make(&created[i], text), parcel_bytes += created[i].parcel_length;
        clear(&p), integers(&p, scope, notes), array(&p, UUID, notes);
        for (int i = 0; i < notes; i++) element(&p, created[i].id, 16);
        integer(&p, FORESIGHT_BYTES), send(connection, "states", &p);
        PQclear(settled(connection, 1));
        send_objects(connection, &p, scope, sequence, created);
        send_parcels(connection, &p, scope, number, sequence, created);
        clear(&p), integers(&p, scope, 1), integers(&p, sequence + notes, 1);
        array(&p, BYTEA, 1), element(&p, created[0].digest, 16);
        for (int clock = 0; clock < 2; clock++) array(&p, BYTEA, 1), element(&p, created[0].clock, 16);
        integers(&p, number + notes, 1), integers(&p, parcel_bytes, 1);
        send(connection, "advance", &p);
        clear(&p), send(connection, "commit", &p);
        PQclear(settled(connection, 4));
    }
    PQfinish(connection);
    return NULL;
}

static void push_all(int connections) {
    PGconn *connection = connected();
    PGresult *scopes = PQexec(connection, "SELECT id FROM scopes ORDER BY id");
    if (PQntuples(scopes) < connections) fail(connection, "there are fewer scopes than connections");
    Pusher pushers[MAX_CONNECTIONS] = {0};
    double began = now(), end = began;
    for (int i = 0; i < connections; i++) {
        pushers[i].scope = atoll(PQgetvalue(scopes, i, 0));
        if (pthread_create(&pushers[i].thread, NULL, push, &pushers[i])) perror("pthread_create"), exit(1);
    }
    long long commits = 0;
    for (int i = 0; i < connections; i++) {
        pthread_join(pushers[i].thread, NULL);
        commits += pushers[i].commits;
        if (pushers[i].end > end) end = pushers[i].end;
    }
    printf("{\"requests\": %lld, \"seconds\": %.6f, \"rate\": %.2f, \"objects\": %lld}\n", commits, end - began,
           commits / (end - began), commits * notes);
    PQfinish(connection);
}

static void copy_all(void) {
    PGconn *connection = connected();
    double began = now();
    PGresult *result = PQexec(connection, "COPY objects TO STDOUT");
    if (PQresultStatus(result) != PGRES_COPY_OUT) fail(connection, "copy");
    long long rows = 0, total = 0;
    char *row;
    for (int length; (length = PQgetCopyData(connection, &row, 0)) > 0; rows++, total += length) PQfreemem(row);
    if (PQresultStatus(PQgetResult(connection)) != PGRES_COMMAND_OK) fail(connection, "copy");
    double took = now() - began;
    printf("{\"objects\": %lld, \"seconds\": %.6f, \"rate\": %.2f, \"bytes\": %lld}\n", rows, took, rows / took, total);
    PQfinish(connection);
}

int main(int count, char **arguments) {
    if (count == 5 && !strcmp(arguments[1], "push")) {
        notes = atoi(arguments[2]), seconds = atof(arguments[3]);
        int connections = atoi(arguments[4]);
        if (notes < 1 || connections < 1 || connections > MAX_CONNECTIONS)
            fprintf(stderr, "postgres: see the comment in postgres.c\n"), exit(2);
        push_all(connections);
    } else if (count == 2 && !strcmp(arguments[1], "copy")) {
        copy_all();
    } else {
        fprintf(stderr, "postgres: see the comment in postgres.c\n"), exit(2);
    }
    return 0;
}
