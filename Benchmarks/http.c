#define _GNU_SOURCE
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void reserve(Buffer *buffer, size_t more) {
    if (buffer->length + more <= buffer->capacity) return;
    buffer->capacity = (buffer->length + more) * 2;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (!buffer->bytes) perror("realloc"), exit(1);
}

void put(Buffer *buffer, const void *bytes, size_t length) {
    reserve(buffer, length + 1);
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = 0;
}

void print(Buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    reserve(buffer, length + 1);
    vsnprintf(buffer->bytes + buffer->length, length + 1, format, again);
    buffer->length += length;
    va_end(arguments);
    va_end(again);
}

void connect_to(Connection *connection, int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address)) perror("connect"), exit(1);
    int on = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(connection->socket, F_SETFL, O_NONBLOCK);
}

void begin(Connection *connection) {
    connection->in.length = connection->body.length = connection->out.length = 0;
    connection->sent = connection->head_length = connection->chunks_read = 0;
    connection->status = 0;
}

bool send_some(Connection *connection) {
    while (connection->sent < connection->out.length) {
        ssize_t count = send(connection->socket, connection->out.bytes + connection->sent,
                             connection->out.length - connection->sent, MSG_NOSIGNAL);
        if (count < 0) return errno == EAGAIN;
        connection->sent += count;
    }
    return true;
}

static bool read_head(Connection *connection) {
    char *end = memmem(connection->in.bytes, connection->in.length, "\r\n\r\n", 4);
    if (!end) return true;
    *end = 0;
    connection->head_length = end + 4 - connection->in.bytes;
    if (sscanf(connection->in.bytes, "HTTP/1.1 %d", &connection->status) != 1) return false;
    char *length = strcasestr(connection->in.bytes, "\r\ncontent-length:");
    if (length)
        connection->content_length = atoll(length + 17);
    else if (strcasestr(connection->in.bytes, "\r\ntransfer-encoding: chunked"))
        connection->content_length = -1;
    else
        return false;
    connection->chunks_read = connection->head_length;
    return true;
}

/* Returns 1 when the last chunk was read. */
static int read_chunks(Connection *connection) {
    for (;;) {
        char *from = connection->in.bytes + connection->chunks_read;
        size_t left = connection->in.length - connection->chunks_read;
        char *line = memmem(from, left, "\r\n", 2);
        if (!line) return 0;
        size_t size = strtoull(from, NULL, 16), head = line + 2 - from;
        if (left < head + size + 2) return 0;
        put(&connection->body, from + head, size);
        connection->chunks_read += head + size + 2;
        if (size == 0) return 1;
    }
}

int receive_some(Connection *connection) {
    for (;;) {
        reserve(&connection->in, 1 << 18);
        ssize_t count = recv(connection->socket, connection->in.bytes + connection->in.length, (1 << 18) - 1, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) return -1;
        if (count < 0) return 0;
        connection->in.length += count;
        connection->in.bytes[connection->in.length] = 0;
        if (!connection->status && !read_head(connection)) return -1;
        if (!connection->status) continue;
        if (connection->content_length < 0) {
            if (read_chunks(connection)) return 1;
        } else if (connection->in.length - connection->head_length >= (size_t)connection->content_length) {
            put(&connection->body, connection->in.bytes + connection->head_length, connection->content_length);
            return 1;
        }
    }
}
