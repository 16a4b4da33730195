import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// A server that the contract suite runs against.
enum ContractServer: String, CaseIterable, CustomTestStringConvertible {
    case memory
    /// The binary in the environment variable HESPER_BINARY.
    case binary

    static var available: [ContractServer] { RealServer.binary == nil ? [.memory] : [.memory, .binary] }

    var testDescription: String { rawValue }

    func transport() async throws -> any Transport {
        switch self {
        case .memory: MemoryServer(seed: 1)
        case .binary: try await RealServer.shared.transport()
        }
    }

    /// A new account with a device that is signed in.
    func device() async throws -> ContractDevice {
        let email = "\(UUID().uuidString.lowercased())@example.org"
        return try await ContractDevice(try await transport(), "/v1/accounts", email: email)
    }
}

/// A device that sends requests as a test says.
struct ContractDevice {
    static let password = "correct horse battery staple"
    let transport: any Transport
    let email: String
    let token: String
    let node: NodeID
    private var source: ClockSource

    init(_ transport: any Transport, _ path: String, email: String, name: String = "phone") async throws {
        let body: JSON = [
            "email": .string(email), "password": .string(ContractDevice.password), "deviceName": .string(name),
        ]
        let response = try await transport.send(
            ServerRequest("POST", path, headers: ["content-type": "application/json"], body: body.bytes))
        try #require(response.status == 201, "\(String(decoding: response.body, as: UTF8.self))")
        let json = try JSONReader.read(response.body)
        self.transport = transport
        self.email = email
        token = try #require(json["token"]?.string)
        node = try #require(json["device"]?["uniqueID"]?.string.flatMap { NodeID($0) })
        source = ClockSource(node: node)
    }

    /// Another device of the same account.
    func another() async throws -> ContractDevice {
        try await ContractDevice(transport, "/v1/devices", email: email, name: "laptop")
    }

    /// A new clock of this device.
    /// - Parameter milliseconds: the error of the device's wall clock.
    mutating func clock(off milliseconds: Int64 = 0) -> JSON {
        let wall = Int64(Date().timeIntervalSince1970 * 1_000) + milliseconds
        return .string(source.tick(at: UInt64(wall)).description)
    }

    mutating func observe(_ clock: JSON?) {
        if let clock = clock?.clock { source.observe(clock) }
    }

    func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> ServerResponse {
        try await transport.send(ServerRequest(method, path, headers: headers, body: body, token: token))
    }

    func send(_ method: String, _ path: String, _ json: JSON) async throws -> ServerResponse {
        try await send(method, path, headers: ["content-type": "application/json"], body: json.bytes)
    }

    func get(_ path: String) async throws -> JSON {
        let response = try await send("GET", path)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try JSONReader.read(response.body)
    }

    func sync(_ changes: JSON? = nil, since token: JSON? = nil, limit: Int64? = nil) async throws -> JSON {
        let body = JSON(members: [
            ("syncToken", token), ("changes", changes), ("limit", limit.map { .integer($0) }),
        ])
        let response = try await send("POST", "/v1/sync", body)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try JSONReader.read(response.body)
    }

    /// A note as a push contains it.
    mutating func note(_ id: UniqueID, _ text: String, tags: [UniqueID] = []) -> JSON {
        let members: [(String, JSON)] = tags.map { ($0.description, clock()) }
        return [
            "uniqueID": id.json, "creationDate": "2026-01-01T00:00:00.000Z", "text": .string(text),
            "tags": .array(tags.map(\.json)),
            "clocks": ["text": clock(), "tags": .object(JSONObject(members))],
        ]
    }

    mutating func tag(_ id: UniqueID, _ name: String) -> JSON {
        ["uniqueID": id.json, "name": .string(name), "clocks": ["name": clock()]]
    }

    func upload(_ bytes: [UInt8], as id: UniqueID, headers: [String: String] = [:]) async throws -> ServerResponse {
        try await send("PUT", "/v1/attachments/\(id)/data", headers: headers, body: bytes)
    }
}

extension UniqueID { var json: JSON { .string(description) } }

extension JSON {
    var names: [String] { members.map(\.name) }

    /// The member at a path such as `changes/notes/0/text`.
    func at(_ path: String) -> JSON? {
        var json: JSON? = self
        for part in path.split(separator: "/") {
            if let index = Int(part), case .array(let elements)? = json {
                json = elements.indices.contains(index) ? elements[index] : nil
            } else {
                json = json?[String(part)]
            }
        }
        return json
    }
}

/// Checks that a response is a problem of this kind (protocol.md, Errors).
func expectProblem(
    _ response: ServerResponse, _ slug: Problem.Slug, at pointer: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(response.status == slug.status, sourceLocation: sourceLocation)
    let type = response.headers["content-type"]
    #expect(type == "application/problem+json", sourceLocation: sourceLocation)
    let json = try JSONReader.read(response.body)
    #expect(json["slug"] == .string(slug.rawValue), sourceLocation: sourceLocation)
    #expect(json["title"] == .string(slug.title), sourceLocation: sourceLocation)
    #expect(json["status"] == .integer(Int64(slug.status)), sourceLocation: sourceLocation)
    #expect(json["requestID"] != nil && json["detail"] != nil, sourceLocation: sourceLocation)
    if let pointer { #expect(json["pointer"] == .string(pointer), sourceLocation: sourceLocation) }
}
