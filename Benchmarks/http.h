/* A keep-alive HTTP/1.1 connection of the load generator, without blocking. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *bytes;
    size_t length, capacity;
} Buffer;

typedef struct {
    int socket;
    Buffer out, in, body;     /* in: the received response; body: its decoded body */
    size_t sent;              /* bytes of out that were sent */
    int status;               /* of the response; 0 before its head was received */
    size_t head_length;       /* the offset of the body in `in` */
    long long content_length; /* -1: chunked */
    size_t chunks_read;       /* the offset in `in` up to which chunks were decoded */
} Connection;

void put(Buffer *buffer, const void *bytes, size_t length);
void print(Buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Connects to a loopback port. Exits if it cannot. */
void connect_to(Connection *connection, int port);
/* Discards the previous response. The request is in `out`. */
void begin(Connection *connection);
/* Writes as much as the socket accepts. False if the connection was closed. */
bool send_some(Connection *connection);
/* Reads available bytes. 1: the response is complete; 0: not yet; -1: the connection was closed, or it is not HTTP. */
int receive_some(Connection *connection);

#endif
