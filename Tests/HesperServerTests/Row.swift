import HTTPTypes
import Testing

@testable import HesperServer

/// A test of the API as a row of a table: a request, and what its response must and must not contain.
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
        let response = try await client.send(method, url, body, headers: headers)
        #expect(response.status == status, "\(response.text)")
        for text in contains { #expect(response.text.contains(text), "\(text) is missing in \(response.text)") }
        for text in lacks { #expect(!response.text.contains(text), "\(text) must not be in \(response.text)") }
        if status >= 400 {
            // Common to all problems.
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(response.headers[.cacheControl] == "no-store")
            let problem = try response.json
            #expect(try problem.member("requestID").string == response.headers[.requestID])
            #expect(try problem.member("status") == .integer(Int64(status)))
            let slug = try problem.member("slug").string
            #expect(try problem.member("type").string == "/problems/\(slug)")
        }
    }
}
