/* Opens event streams, and pushes changes that they receive.
 *
 *   listen idle --port P --sessions FILE [--path PATH]
 *       Opens a stream per line, prints "ready" when each has received its first bytes, and keeps them open until stdin ends.
 *
 *   listen live --port P --sessions FILE --scopes S --listeners L --pushes N --rate R
 *       For each scope, the lines are one session that pushes and L sessions that listen. R pushes per second, each of one
 *       note with 500 bytes, are sent to the scopes in turn. Measures the seconds from when a push was due, so that the
 *       commit is included, until each listener receives its event. Prints one line of JSON: p50 and p99 of these, and
 *       `last`, the median of the seconds until the last listener received the event.
 *
 * A line of --sessions is a bearer token, a clock node, and a sync token.
 */
#define _GNU_SOURCE
#include "http.h"
#include "notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MARK = 10, MAX_SESSIONS = 8192 }; /* a push is marked @@000123@@ */

typedef struct {
    Connection connection;
    char bearer[128], node[32], token[256];
    bool listens, is_open;
    char tail[MARK]; /* a possible start of a mark */
    int tail_length;
    int queue[4096], queued, sent; /* the pushes that are due, for sessions that push */
    bool is_waiting;
} Session;

static Session *sessions;
static const char *kind, *path = "/v1/events";
static int port, session_count, scopes = 1, listeners = 1, pushes = 1, open_streams;
static double rate = 1, *due, *last_delays, *delays;
static int *receipts;
static long delay_count;

static void fail(const char *why) { fprintf(stderr, "listen: %s\n", why), exit(1); }

static void listen_on(Session *session) {
    session->listens = true;
    connect_to(&session->connection, port);
    begin(&session->connection);
    print(&session->connection.out, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", path,
          session->bearer);
    if (!send_some(&session->connection) || session->connection.sent < session->connection.out.length) fail("cannot send a request");
    free(session->connection.out.bytes);
    session->connection.out = (Buffer){0};
}

static void receive_events(Session *session, const char *bytes, int length) {
    if (!session->is_open) session->is_open = true, open_streams++;
    if (strcmp(kind, "live")) return;
    double time = now();
    static char whole[(1 << 16) + MARK];
    memcpy(whole, session->tail, session->tail_length);
    memcpy(whole + session->tail_length, bytes, length);
    length += session->tail_length;
    char *at = whole, *end = whole + length;
    while ((at = memmem(at, end - at, "@@", 2)) && end - at >= MARK) {
        int push = atoi(at + 2);
        if (push < 0 || push >= pushes || memcmp(at + 8, "@@", 2)) fail("received an unknown mark");
        delays[delay_count++] = time - due[push];
        last_delays[push] = time - due[push];
        receipts[push]++;
        at += MARK;
    }
    session->tail_length = at && at < end ? end - at : (length && end[-1] == '@');
    if (session->tail_length >= MARK) session->tail_length = 0;
    memcpy(session->tail, end - session->tail_length, session->tail_length);
}

static void send_next(Session *session) {
    if (session->is_waiting || session->sent == session->queued) return;
    int push = session->queue[session->sent++ % 4096];
    static Buffer payload;
    payload.length = 0;
    char date[32];
    unsigned counter;
    stamp(date, &counter);
    print(&payload, "{\"syncToken\":\"%s\",\"changes\":{\"notes\":[{\"uniqueID\":\"", session->token);
    put_uuid(&payload);
    print(&payload, "\",\"creationDate\":\"%s\",\"text\":\"@@%06d@@", date, push);
    put_text(&payload, 490);
    print(&payload, "\",\"clocks\":{\"text\":\"%s-%04x-%s\"}}]}}", date, counter, session->node);
    begin(&session->connection);
    print(&session->connection.out,
          "POST /v1/sync HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
          "Content-Length: %zu\r\n\r\n%s",
          session->bearer, payload.length, payload.bytes);
    session->is_waiting = true;
    if (!send_some(&session->connection)) fail("cannot send a push");
}

static void take_answer(Session *session) {
    Connection *connection = &session->connection;
    int got = receive_some(connection);
    if (got < 0) fail("the connection for pushes was closed");
    if (got == 0) return;
    static const char key[] = "\"syncToken\":\"";
    char *at = memmem(connection->body.bytes, connection->body.length, key, sizeof key - 1);
    if (connection->status != 200 || !at || sscanf(at + sizeof key - 1, "%255[^\"]", session->token) != 1)
        fail(connection->body.bytes);
    session->is_waiting = false;
    send_next(session);
}

static void take(Session *session) {
    if (!session->listens) return take_answer(session);
    static char bytes[1 << 16];
    for (;;) {
        ssize_t count = recv(session->connection.socket, bytes, sizeof bytes, 0);
        if (count == 0) fail("a stream ended");
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) fail("a stream failed");
        if (!session->is_open && memcmp(bytes, "HTTP/1.1 200", 12)) bytes[count < 600 ? count : 600] = 0, fail(bytes);
        receive_events(session, bytes, count);
    }
}

static void turn(int poll, int milliseconds) {
    struct epoll_event events[256];
    int ready = epoll_wait(poll, events, 256, milliseconds);
    for (int i = 0; i < ready; i++) take(events[i].data.ptr);
}

static void idle(int poll) {
    double deadline = now() + 120;
    while (open_streams < session_count) {
        turn(poll, 100);
        if (now() > deadline) fail("timeout: not all streams were opened");
    }
    puts("ready"), fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, 0, &event)) fail("stdin is not a pipe");
    for (;;) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            if (!events[i].data.ptr) exit(0);
            take(events[i].data.ptr);
        }
    }
}

static void live(int poll) {
    while (open_streams < scopes * listeners) turn(poll, 100);
    double calm = now() + 1.5; /* until the events of all sign-ins were received */
    while (now() < calm) turn(poll, 10);
    delay_count = 0;
    double start = now(), deadline = start + pushes / rate + 60;
    long expected = (long)pushes * listeners;
    for (int next = 0; delay_count < expected;) {
        for (; next < pushes && start + next / rate <= now(); next++) {
            due[next] = start + next / rate;
            Session *session = &sessions[(next % scopes) * (listeners + 1)];
            session->queue[session->queued++ % 4096] = next;
            send_next(session);
        }
        double wait = next < pushes ? start + next / rate - now() : 0.1;
        turn(poll, wait > 0.001 ? (int)(wait * 1000) : 0);
        if (now() > deadline) fail("timeout: not all listeners received all pushes");
    }
    for (int push = 0; push < pushes; push++)
        if (receipts[push] != listeners) fail("a push was not received exactly once by each listener");
    qsort(delays, delay_count, sizeof *delays, ascending);
    qsort(last_delays, pushes, sizeof *last_delays, ascending);
    printf("{\"events\": %ld, \"p50\": %.6f, \"p99\": %.6f, \"last\": %.6f}\n", delay_count, delays[delay_count / 2],
           delays[delay_count * 99 / 100], last_delays[pushes / 2]);
}

int main(int count, char **arguments) {
    const char *file_name = "";
    kind = count > 1 ? arguments[1] : "";
    for (int i = 2; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (!strcmp(name, "--port")) port = atoi(value);
        else if (!strcmp(name, "--sessions")) file_name = value;
        else if (!strcmp(name, "--path")) path = value;
        else if (!strcmp(name, "--scopes")) scopes = atoi(value);
        else if (!strcmp(name, "--listeners")) listeners = atoi(value);
        else if (!strcmp(name, "--pushes")) pushes = atoi(value);
        else if (!strcmp(name, "--rate")) rate = atof(value);
        else fail("unknown argument; see the comment in listen.c");
    }
    FILE *file = fopen(file_name, "r");
    if (!file) perror(file_name), exit(2);
    sessions = calloc(MAX_SESSIONS, sizeof *sessions);
    for (; session_count < MAX_SESSIONS; session_count++) {
        Session *session = &sessions[session_count];
        if (fscanf(file, "%127s %31s %255s", session->bearer, session->node, session->token) != 3) break;
    }
    fclose(file);
    if (pushes > 999999 || (!strcmp(kind, "live") && session_count != scopes * (listeners + 1)))
        fail("see the comment in listen.c");
    seed_random();
    due = calloc(pushes, sizeof *due), last_delays = calloc(pushes, sizeof *last_delays);
    receipts = calloc(pushes, sizeof *receipts), delays = calloc((size_t)pushes * listeners + 1, sizeof *delays);
    int poll = epoll_create1(0);
    for (int i = 0; i < session_count; i++) {
        Session *session = &sessions[i];
        if (!strcmp(kind, "live") && i % (listeners + 1) == 0) connect_to(&session->connection, port);
        else listen_on(session);
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = session};
        epoll_ctl(poll, EPOLL_CTL_ADD, session->connection.socket, &event);
        if (i % 50 == 49) turn(poll, 0);
    }
    if (!strcmp(kind, "idle")) idle(poll);
    else live(poll);
    return 0;
}
