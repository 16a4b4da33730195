/* One keep-alive HTTP/1.1 connection of the load generator: bytes out, one answer in, without blocking. */
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
    Buffer out, in, body;     /* in: what has come of the answer; body: its body, chunks put together */
    size_t sent;              /* of out */
    int status;               /* of the answer; 0 while its head has not come */
    size_t head_length;       /* where the body begins in `in` */
    long long content_length; /* -1: chunked */
    size_t chunks_read;       /* how far `in` is taken apart into chunks */
} Connection;

void put(Buffer *buffer, const void *bytes, size_t length);
void print(Buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Waits until it is connected to a loopback port; ends the program if it cannot. */
void connect_to(Connection *connection, int port);
/* Forgets the answer before; `out` is the request. */
void begin(Connection *connection);
/* Writes what the socket takes. False: the connection broke. */
bool send_some(Connection *connection);
/* Reads what has come. 1: the answer is whole; 0: not yet; -1: the connection broke or it is no HTTP. */
int receive_some(Connection *connection);

#endif
