import Foundation
import NIOConcurrencyHelpers

/// A server that sends predefined responses, one per connection, and records the requests. It runs until the process ends.
final class ScriptedServer: Sendable {
    struct Response: Sendable {
        let status: String
        let headers: [String]
        let body: String
        /// The Content-Length. A response to HEAD has no body.
        let byteCount: Int

        init(status: String, headers: [String] = [], body: String = "", byteCount: Int? = nil) {
            self.status = status
            self.headers = headers
            self.body = body
            self.byteCount = byteCount ?? body.utf8.count
        }

        /// An error in the format of S3.
        static func error(_ status: String, _ code: String) -> Response {
            Response(
                status: status,
                body: "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>No</Message></Error>")
        }
    }

    let port: Int
    private let received = NIOLockedValueBox<[String]>([])

    /// - Parameter responses: the responses. The last one is repeated.
    init(_ responses: [Response]) throws {
        let (descriptor, port) = try Loopback.listen()
        self.port = port
        Thread.detachNewThread { [received] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let request = ScriptedServer.request(client) else { continue }
                let number = received.withLockedValue { received in
                    received.append(request)
                    return received.count
                }
                let response = responses[min(number, responses.count) - 1]
                let head =
                    ["HTTP/1.1 \(response.status)", "Connection: close", "Content-Length: \(response.byteCount)"]
                    + response.headers
                _ = Loopback.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + response.body).utf8), to: client)
                Loopback.end(client)
                close(client)
            }
        }
    }

    /// The first lines of the received requests.
    var requests: [String] { received.withLockedValue { $0 } }

    /// Reads a complete request.
    private static func request(_ client: Int32) -> String? {
        var all: [UInt8] = []
        while let bytes = Loopback.receive(client) {
            all += bytes
            // Invalid bytes are decoded as one character each, so that they can be counted.
            let text = String(String.UnicodeScalarView(all.prefix(4_096).map { Unicode.Scalar($0) }))
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let head = text[..<end.lowerBound]
            let length = head.firstMatch(of: #/(?i)content-length: (\d+)/#).flatMap { Int($0.1) }
            guard all.count - head.unicodeScalars.count - 4 >= length ?? 0 else { continue }
            return String(head.prefix { $0 != "\r\n" })
        }
        return nil
    }
}
