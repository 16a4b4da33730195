internal import Foundation

/// A request to the server.
package struct ServerRequest: Sendable, Equatable {
    package var method: String
    /// The path, with the query if there is one: `/v1/changes?limit=500`.
    package var path: String
    /// The header fields, by lowercase name, without `Authorization` and `Host`.
    package var headers: [String: String]
    package var body: [UInt8]
    /// The token of the session; nil for requests that need none.
    package var token: String?

    package init(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = [], token: String? = nil
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.token = token
    }
}

/// The server's response to a request.
package struct ServerResponse: Sendable, Equatable {
    package var status: Int
    /// The header fields, by lowercase name.
    package var headers: [String: String]
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}

/// The reason why a request has no response: the server could not be reached, or the connection ended before the
/// response did.
package struct NoResponse: Error, Equatable {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// An event of the server's event stream (protocol.md, Events).
package struct ServerEvent: Sendable, Equatable {
    package var name: String
    package var data: [UInt8]
    /// The latest value of the stream's `retry` field, in milliseconds.
    package var retry: Int?

    package init(name: String, data: [UInt8], retry: Int? = nil) {
        self.name = name
        self.data = data
        self.retry = retry
    }
}

/// Sends requests to a server. The library's implementation uses HTTP; tests replace it with a server in memory.
package protocol Transport: Sendable {
    /// Sends a request and returns the response, whatever its status is.
    func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse

    /// Opens the event stream. The stream ends when the server closes it, the connection fails, or the task that reads it is
    /// cancelled.
    /// - Parameter request: the request that opens the stream.
    func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error>
}
