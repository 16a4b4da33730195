import Foundation
import NIOConcurrencyHelpers

/// A server that gives answers it was told, one to each connection, and keeps what it was asked. It is
/// there until the process ends.
final class ScriptedServer: Sendable {
    struct Answer: Sendable {
        let status: String
        let headers: [String]
        let body: String
        /// What the head says of the body; an answer to HEAD has none.
        let byteCount: Int

        init(status: String, headers: [String] = [], body: String = "", byteCount: Int? = nil) {
            self.status = status
            self.headers = headers
            self.body = body
            self.byteCount = byteCount ?? body.utf8.count
        }

        /// As S3 says no.
        static func error(_ status: String, _ code: String) -> Answer {
            Answer(
                status: status,
                body: "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>No</Message></Error>")
        }
    }

    let port: Int
    private let asked = NIOLockedValueBox<[String]>([])

    /// - Parameter answers: the last is given again and again.
    init(_ answers: [Answer]) throws {
        let (descriptor, port) = try Loopback.listen()
        self.port = port
        Thread.detachNewThread { [asked] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let request = ScriptedServer.request(client) else { continue }
                let number = asked.withLockedValue { asked in
                    asked.append(request)
                    return asked.count
                }
                let answer = answers[min(number, answers.count) - 1]
                let head =
                    ["HTTP/1.1 \(answer.status)", "Connection: close", "Content-Length: \(answer.byteCount)"]
                    + answer.headers
                _ = Loopback.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + answer.body).utf8), to: client)
                Loopback.end(client)
                close(client)
            }
        }
    }

    /// The first lines of the requests that came.
    var requests: [String] { asked.withLockedValue { $0 } }

    /// Reads one to its end.
    private static func request(_ client: Int32) -> String? {
        var all: [UInt8] = []
        while let bytes = Loopback.receive(client) {
            all += bytes
            // A byte that is no text stands for one character, so that they can be counted.
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
