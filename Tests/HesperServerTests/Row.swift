import HTTPTypes
import Testing

@testable import HesperServer

/// A test of the API as a row: what is sent, and what the answer holds and must not hold.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var method: HTTPRequest.Method
    var url: String
    var body: String?
    var headers: HTTPFields = [:]
    var status: Int
    var contains: [String] = []
    var lacks: [String] = []

    init(
        _ name: String, _ method: HTTPRequest.Method, _ url: String, _ body: String? = nil, headers: HTTPFields = [:],
        status: Int, contains: [String] = [], lacks: [String] = []
    ) {
        self.name = name
        self.method = method
        self.url = url
        self.body = body
        self.headers = headers
        self.status = status
        self.contains = contains
        self.lacks = lacks
    }

    var testDescription: String { name }

    func check(_ client: TestClient) async throws {
        let answer = try await client.send(method, url, body, headers: headers)
        #expect(answer.status == status, "\(answer.text)")
        for text in contains { #expect(answer.text.contains(text), "\(text) is missing in \(answer.text)") }
        for text in lacks { #expect(!answer.text.contains(text), "\(text) stands in \(answer.text)") }
        if status >= 400 {
            // What every problem has.
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(answer.headers[.cacheControl] == "no-store")
            let problem = try answer.json
            #expect(try problem.member("requestID").string == answer.headers[.requestID])
            #expect(try problem.member("status") == .integer(Int64(status)))
            let slug = try problem.member("slug").string
            #expect(try problem.member("type").string == "/problems/\(slug)")
        }
    }
}
