/* The load generator: N keep-alive connections, each of which sends its next request when it has received a response.
 *
 *   load KIND --port P --connections N (--seconds S | --requests K) [--notes K] [--bytes B] [--rate R]
 *        [--sessions FILE] [--sessions-out FILE] [--paths FILE]
 *
 * KIND: push    K new notes per push to Hesper, with the sync token of the previous response
 *       poll    Hesper's GET /v1/changes?since=
 *       read    Hesper's first sync, page by page (one connection)
 *       create  one new record in PocketBase
 *       batch   K new records in PocketBase
 *       upload  a new attachment of B bytes to Hesper
 *       get     each line of --paths in turn
 *       turns   accounts in turn: each polls, if it has a sync token, and pushes K notes
 *
 * With --rate R, R requests a second are due, and each is sent by a connection that has no open request. Latencies are measured
 * from when a request was due. For `turns`, they are those of pushes only.
 *
 * A line of --sessions is an account: bearer token, clock node, sync token (`-`: none). Each connection has its own.
 * Prints one line of JSON. Ends on an unexpected response, so that figures never include errors.
 */
#define _GNU_SOURCE
#include "http.h"
#include "notes.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { MAX_CONNECTIONS = 1024, MAX_ACCOUNTS = 16384, MAX_PATHS = 100000 };

typedef struct {
    char bearer[1024], node[32], token[256];
    bool busy; /* for turns: whether a connection is using it */
} Account;

typedef struct {
    Connection connection;
    Account *account;
    bool polls; /* for turns: whether this request is a poll */
    double began;
    Buffer payload;
    bool finished;
    size_t uncounted; /* for read: the length of the body whose objects have not been counted */
} Session;

static Session sessions[MAX_CONNECTIONS];
static Account accounts[MAX_ACCOUNTS];
static int account_count;
static const char *kind, *sessions_out;
static int port, connections = 1, notes = 1, bytes = 500, path_count, next_path;
static char *paths[MAX_PATHS];
static double seconds = 1e9, rate;
static long requests = 1L << 60, started, answered;
static uint64_t objects, received;
static double *latencies;
static size_t latency_count, latency_capacity;

static void write_push(Session *session) {
    Buffer *payload = &session->payload;
    const Account *account = session->account;
    print(payload, "{");
    if (account->token[0] != '-') print(payload, "\"syncToken\":\"%s\",", account->token);
    print(payload, "\"changes\":{\"notes\":[");
    for (int note = 0; note < notes; note++) {
        char date[32];
        unsigned counter;
        stamp(date, &counter);
        print(payload, "%s{\"uniqueID\":\"", note ? "," : "");
        put_note_id(payload);
        print(payload, "\",\"creationDate\":\"%s\",\"text\":\"", date);
        put_text(payload, bytes);
        print(payload, "\",\"clocks\":{\"text\":\"%s-%04x-%s\"}}", date, counter, account->node);
    }
    print(payload, "]}}");
}

static void write_records(Session *session) {
    Buffer *payload = &session->payload;
    if (!strcmp(kind, "batch")) print(payload, "{\"requests\":[");
    for (int note = 0; note < notes; note++) {
        char date[32];
        unsigned counter;
        stamp(date, &counter);
        if (!strcmp(kind, "batch"))
            print(payload, "%s{\"method\":\"POST\",\"url\":\"/api/collections/notes/records\",\"body\":", note ? "," : "");
        print(payload, "{\"creationDate\":\"%s\",\"text\":\"", date);
        put_text(payload, bytes);
        print(payload, "\"}");
        if (!strcmp(kind, "batch")) print(payload, "}");
    }
    if (!strcmp(kind, "batch")) print(payload, "]}");
}

static bool pushes(Session *session) { return !strcmp(kind, "push") || (!strcmp(kind, "turns") && !session->polls); }

/* The next account that no connection is using, after the current one has polled and pushed. Without a token it does not poll. */
static void take_turn(Session *session) {
    if (session->polls) {
        session->polls = false;
        return;
    }
    static int next;
    if (session->account) session->account->busy = false;
    while (accounts[next].busy) next = (next + 1) % account_count;
    session->account = &accounts[next];
    session->account->busy = true;
    session->polls = session->account->token[0] != '-';
    next = (next + 1) % account_count;
}

static void write_request(Session *session, double due) {
    begin(&session->connection);
    if (!strcmp(kind, "turns")) take_turn(session);
    const Account *account = session->account;
    Buffer *out = &session->connection.out, *payload = &session->payload;
    payload->length = 0;
    const char *path = "/v1/sync", *method = "POST";
    char poll_path[300];
    if (pushes(session)) {
        write_push(session);
    } else if (!strcmp(kind, "read")) {
        print(payload, account->token[0] == '-' ? "{\"limit\":5000}" : "{\"syncToken\":\"%s\",\"limit\":5000}", account->token);
    } else if (!strcmp(kind, "create") || !strcmp(kind, "batch")) {
        path = !strcmp(kind, "batch") ? "/api/batch" : "/api/collections/notes/records";
        write_records(session);
    } else if (!strcmp(kind, "upload")) {
        Buffer id = {0};
        put_uuid(&id);
        method = "PUT";
        snprintf(poll_path, sizeof poll_path, "/v1/attachments/%.*s/data", (int)id.length, id.bytes);
        path = poll_path;
        free(id.bytes);
        static char *content;
        if (!content) {
            content = malloc(bytes);
            for (int i = 0; i < bytes; i++) content[i] = (char)next_random();
        }
        put(payload, content, bytes);
    } else {
        method = "GET";
        snprintf(poll_path, sizeof poll_path, "/v1/changes?since=%s", account->token);
        path = strcmp(kind, "get") ? poll_path : paths[next_path++ % path_count];
    }
    print(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, path);
    if (account->bearer[0]) print(out, "Authorization: Bearer %s\r\n", account->bearer);
    if (payload->length) print(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", payload->length);
    print(out, "\r\n");
    put(out, payload->bytes ? payload->bytes : "", payload->length);
    session->began = due ? due : now();
    started++;
}

static void fail(Session *session, const char *why) {
    fprintf(stderr, "load: %s: status %d: %.600s\n", why, session->connection.status,
            session->connection.body.length ? session->connection.body.bytes : "");
    exit(1);
}

static long occurrences(Buffer *body, const char *what) {
    long count = 0;
    size_t length = strlen(what);
    for (char *at = body->bytes, *end = at + body->length; (at = memmem(at, end - at, what, length)); at += length) count++;
    return count;
}

/* Finds a member of a sync response after the lists. Only the end of the body is searched, because the server waits for the next
 * request of a first sync meanwhile. For the same reason, the objects of a page are counted after that request was sent. */
static char *find_at_end(const Buffer *body, const char *what) {
    size_t length = body->length < 1024 ? body->length : 1024;
    return memmem(body->bytes + body->length - length, length, what, strlen(what));
}

static void take_token(Session *session) {
    static const char key[] = "\"syncToken\":\"";
    char *at = find_at_end(&session->connection.body, key);
    if (!at || sscanf(at + sizeof key - 1, "%255[^\"]", session->account->token) != 1) fail(session, "no syncToken");
}

static void take_answer(Session *session) {
    Buffer *body = &session->connection.body;
    if (session->connection.status != (strcmp(kind, "upload") ? 200 : 201)) fail(session, "refused");
    if (pushes(session)) {
        if (occurrences(body, "\"status\":\"applied\"") != notes) fail(session, "not all applied");
        take_token(session);
        objects += notes;
    } else if (!strcmp(kind, "read")) {
        take_token(session);
        session->finished = find_at_end(body, "\"hasMore\":false") != NULL;
        session->uncounted = body->length;
    } else if (!strcmp(kind, "create") || !strcmp(kind, "batch")) {
        objects += notes;
    }
    if (strcmp(kind, "turns") || pushes(session)) {
        if (latency_count == latency_capacity)
            latencies = realloc(latencies, (latency_capacity = latency_capacity * 2 + 1024) * sizeof *latencies);
        latencies[latency_count++] = now() - session->began;
    }
    answered++;
    received += body->length;
}

static void count_objects(Session *session) {
    Buffer page = {.bytes = session->connection.body.bytes, .length = session->uncounted};
    if (page.length) objects += occurrences(&page, "\"creationDate\":");
    session->uncounted = 0;
}

static void read_arguments(int count, char **arguments) {
    FILE *file;
    kind = count > 1 ? arguments[1] : "";
    for (int i = 2; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (!strcmp(name, "--port")) port = atoi(value);
        else if (!strcmp(name, "--connections")) connections = atoi(value);
        else if (!strcmp(name, "--seconds")) seconds = atof(value);
        else if (!strcmp(name, "--rate")) rate = atof(value);
        else if (!strcmp(name, "--requests")) requests = atol(value);
        else if (!strcmp(name, "--notes")) notes = atoi(value);
        else if (!strcmp(name, "--bytes")) bytes = atoi(value);
        else if (!strcmp(name, "--sessions-out")) sessions_out = value;
        else if (!strcmp(name, "--sessions")) {
            if (!(file = fopen(value, "r"))) perror(value), exit(2);
            for (; account_count < MAX_ACCOUNTS; account_count++) {
                Account *account = &accounts[account_count];
                if (fscanf(file, "%1023s %31s %255s", account->bearer, account->node, account->token) != 3) break;
            }
            fclose(file);
        } else if (!strcmp(name, "--paths")) {
            char line[4096];
            if (!(file = fopen(value, "r"))) perror(value), exit(2);
            while (path_count < MAX_PATHS && fscanf(file, "%4095s", line) == 1) paths[path_count++] = strdup(line);
            fclose(file);
        } else fprintf(stderr, "load: unknown argument %s\n", name), exit(2);
    }
    if (!port || connections < 1 || connections > MAX_CONNECTIONS || (!strcmp(kind, "get") && !path_count))
        fprintf(stderr, "load: see the comment in load.c\n"), exit(2);
    if (!strcmp(kind, "turns") && account_count < connections) fprintf(stderr, "load: too few accounts\n"), exit(2);
}

int main(int count, char **arguments) {
    read_arguments(count, arguments);
    seed_random();
    int poll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        if (strcmp(kind, "turns")) sessions[i].account = &accounts[i];
        connect_to(&sessions[i].connection, port);
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &sessions[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, sessions[i].connection.socket, &event);
    }
    double begin_time = now(), end_time = begin_time;
    int *idle = malloc(connections * sizeof *idle), idle_count = 0; /* with --rate: the connections without an open request */
    for (int i = 0; i < connections && started < requests; i++) {
        if (rate) idle[idle_count++] = i;
        else write_request(&sessions[i], 0), send_some(&sessions[i].connection);
    }
    for (double heard = begin_time;;) {
        bool is_over = started >= requests || now() - begin_time >= seconds;
        while (rate && !is_over && idle_count && begin_time + started / rate <= now()) {
            Session *session = &sessions[idle[--idle_count]];
            write_request(session, begin_time + started / rate);
            if (!send_some(&session->connection)) fail(session, "the connection was closed");
        }
        if (answered == started && (!rate || is_over)) break;
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, rate ? 1 : 60000);
        if (ready) heard = now();
        else if (now() - heard > 59 && answered < started) fprintf(stderr, "load: no response within a minute\n"), exit(1);
        for (int i = 0; i < ready; i++) {
            Session *session = events[i].data.ptr;
            if (!send_some(&session->connection)) fail(session, "the connection was closed");
            if (!session->began) continue;
            int got = receive_some(&session->connection);
            if (got < 0) fail(session, "the connection was closed");
            if (got == 0) continue;
            take_answer(session);
            end_time = now();
            session->began = 0;
            if (rate) {
                idle[idle_count++] = session - sessions;
            } else if (started < requests && end_time - begin_time < seconds && !session->finished) {
                write_request(session, 0);
                if (!send_some(&session->connection)) fail(session, "the connection was closed");
            }
            count_objects(session);
        }
    }
    if (sessions_out) {
        FILE *file = fopen(sessions_out, "w");
        if (!file) perror(sessions_out), exit(1);
        for (int i = 0; i < account_count; i++)
            fprintf(file, "%s %s %s\n", accounts[i].bearer, accounts[i].node, accounts[i].token);
        fclose(file);
    }
    qsort(latencies, latency_count, sizeof *latencies, ascending);
    double took = end_time - begin_time;
    printf("{\"requests\": %ld, \"seconds\": %.6f, \"rate\": %.2f, \"objects\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"p50\": %.6f, \"p99\": %.6f, \"p999\": %.6f}\n",
           answered, took, answered / took, objects, received, latencies[latency_count / 2],
           latencies[latency_count * 99 / 100], latencies[latency_count * 999 / 1000]);
    return 0;
}
