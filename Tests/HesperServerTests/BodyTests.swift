import HTTPTypes
import Testing

@testable import HesperServer

/// Validation of request bodies, before and while they are parsed.
@Suite struct BodyTests {
    static let good = #"{"email":"ada@example.org","password":"12345678","deviceName":"phone"}"#

    static let rows = [
        Row("JSON", .post, "/v1/accounts", good, status: 201),
        Row(
            "JSON with a parameter", .post, "/v1/accounts", good,
            headers: [.contentType: "Application/JSON ; charset=utf-8"], status: 201),
        Row(
            "another JSON type", .post, "/v1/accounts", good, headers: [.contentType: "application/merge-patch+json"],
            status: 201),
        Row(
            "a form", .post, "/v1/accounts", good, headers: [.contentType: "application/x-www-form-urlencoded"],
            status: 415,
            contains: ["curl --json", "unsupported-media-type"]),
        Row(
            "a type that only starts with application/json", .post, "/v1/accounts", good,
            headers: [.contentType: "application/jsonp"], status: 415),
        Row(
            "a body that is not in its Content-Encoding", .post, "/v1/accounts", good,
            headers: [.contentType: "application/json", .contentEncoding: "gzip"], status: 400,
            contains: ["malformed-request", "gzip"]),
        Row(
            "an unsupported Content-Encoding", .post, "/v1/accounts", good,
            headers: [.contentType: "application/json", .contentEncoding: "br"], status: 415,
            contains: ["unsupported-media-type", #""acceptEncoding":"gzip, deflate""#]),
        Row(
            "Content-Encoding identity", .post, "/v1/accounts", good,
            headers: [.contentType: "application/json", .contentEncoding: "identity"], status: 201),
        Row("an empty body", .post, "/v1/accounts", "", status: 400, contains: ["malformed-request"]),
        Row(
            "no body at all", .post, "/v1/accounts", headers: [.contentType: "application/json"], status: 411,
            contains: ["length-required"]),
        Row("no Content-Type", .post, "/v1/accounts", status: 415),
        Row("not JSON", .post, "/v1/accounts", "{", status: 400, contains: ["malformed-request"]),
        Row("a duplicate name", .post, "/v1/accounts", #"{"email":"a","email":"b"}"#, status: 400, contains: ["email"]),
        Row("not an object", .post, "/v1/accounts", "[]", status: 422, contains: [#""pointer":"""#]),
        Row(
            "too large", .post, "/v1/accounts", String(repeating: " ", count: 40_000), status: 413,
            contains: [#""limit":32768"#]),
        Row(
            "an unknown field", .post, "/v1/accounts", good.dropLast() + #","a/b~c":1}"#, status: 422,
            contains: ["unknown-field", #"/a~1b~0c"#]),
        Row(
            "a missing field", .post, "/v1/accounts", #"{"email":"ada@example.org","password":"12345678"}"#,
            status: 422,
            contains: ["/deviceName"]),
        Row(
            "a field of the wrong type", .post, "/v1/accounts", #"{"email":5}"#, status: 422,
            contains: ["/email", "a string"]),
        Row("a null field", .post, "/v1/accounts", #"{"email":null}"#, status: 422, contains: ["/email", "null"]),
        Row(
            "NUL", .post, "/v1/accounts", #"{"email":"ada@example.org","password":"12345678\u0000","deviceName":"x"}"#,
            status: 422, contains: ["/password"]),
    ]

    @Test(arguments: rows) func bodyResponses(_ row: Row) async throws {
        try await TestServer.test { try await row.check($0) }
    }
}

extension Substring {
    fileprivate static func + (left: Substring, right: String) -> String { String(left) + right }
}
