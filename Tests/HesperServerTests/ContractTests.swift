import Foundation
import HesperModel
import Testing
import Yams

@testable import HesperServer

/// The contract and the server know the same routes, and say the same of each.
@Suite struct ContractTests {
    static let yaml = try? String(contentsOfFile: "openapi.yaml", encoding: .utf8)

    private static func contract() throws -> Contract { try Contract(yaml: #require(yaml)) }

    private static func routes() throws -> [Route] {
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        return test.server.routes.all
    }

    @Test func everyRouteIsInTheContractAndTheReverse() throws {
        let routes = try ContractTests.routes()
        let served = Set(routes.filter(\.isInContract).map { "\($0.method.rawValue) \($0.path)" })
        let promised = Set(try ContractTests.contract().operations.map { "\($0.method) \($0.path)" })
        #expect(served.subtracting(promised).sorted() == [], "served, and not in openapi.yaml")
        #expect(promised.subtracting(served).sorted() == [], "in openapi.yaml, and not served")
        // Pages that are no part of the API are few, and known.
        let others = routes.filter { !$0.isInContract }.map { "\($0.method.rawValue) \($0.path)" }
        #expect(
            others.sorted() == [
                "GET /metrics", "GET /reset-password", "GET /sign-up", "GET /{page}", "POST /reset-password",
                "POST /sign-up",
            ])
    }

    @Test func everyRouteHasTheParametersAndTheAccessOfTheContract() throws {
        let routes = try ContractTests.routes()
        for operation in try ContractTests.contract().operations {
            let route = try #require(
                routes.first { $0.method.rawValue == operation.method && $0.path == operation.path })
            let promised = operation.parameters.filter { $0["in"]?.string == "query" }.compactMap { $0["name"]?.string }
            #expect(route.parameters.sorted() == promised.sorted(), "\(operation.id)")
            let isOpen = if case .open = route.handler { true } else { false }
            #expect(isOpen == operation.isOpen, "\(operation.id)")
        }
    }

    @Test func theServerTellsTheLimitsOfTheContract() async throws {
        let contract = try ContractTests.contract()
        let schema = contract.resolved(["$ref": "#/components/schemas/Limits"])
        let known = schema["properties"]?.mapping?.keys.compactMap(\.string) ?? []
        let required = schema["required"]?.sequence?.compactMap(\.string) ?? []
        #expect(!required.isEmpty)
        try await TestServer.test { client in
            let info = try await client.send(.get, "/v1/server").json
            guard case .object(let limits) = try info.member("limits") else { return #expect(Bool(false)) }
            #expect(limits.members.map(\.name).sorted() == known.sorted())
            #expect(Set(known).subtracting(required) == ["quotaBytes", "requestsPerMinute"], "which may be none")
        }
    }

    @Test(arguments: Problem.Slug.allCases) func everyProblemIsInTheContract(_ slug: Problem.Slug) throws {
        let contract = try ContractTests.contract()
        let schema = contract.resolved(["$ref": "#/components/schemas/Problem"])
        let description = try #require(schema["properties"]?["slug"]?["description"]?.string)
        #expect(description.contains("`\(slug.rawValue)`"))
    }

    /// The schemas of objects, changes and writes have what the table of fields has (development.md, Add a field to notes).
    @Test(arguments: Section.allCases) func everyFieldIsInTheSchemas(_ section: Section) throws {
        let contract = try ContractTests.contract()
        func expect(_ schema: String, has members: [String]) {
            let found = contract.resolved(["$ref": Node("#/components/schemas/\(schema)")])["properties"]?.mapping?.keys
            #expect(found?.compactMap(\.string).sorted() == members.sorted(), "\(schema)")
        }
        let name = ["Note", "Tag", "Attachment", "AppObject"][section.rawValue]
        let all = ["uniqueID"] + section.parts.map(\.name)
        let mutable = section.parts.filter { part in
            if case .field(let field) = part { field.rule == .register } else { true }
        }.map(\.name)
        expect("New\(name)", has: all)
        guard section != .attachments else {
            expect("AttachmentState", has: all)
            expect("AttachmentChange", has: all)
            return
        }
        let descent = section == .notes ? ["textBase", "textBaseValue", "textAfter"] : []
        expect(name, has: all)
        expect("\(name)Patch", has: mutable)
        expect("\(name)State", has: all + ["clocks"])
        expect("\(name)Clocks", has: mutable)
        expect("\(name)Change", has: all + ["clocks"] + descent)
        expect("\(name)ChangeClocks", has: mutable)
    }

    @Test(arguments: Field.allCases.filter { $0.rule == .register })
    func everyRegisterIsInTheProseOfTheContract(_ field: Field) throws {
        let contract = try ContractTests.contract()
        for (schema, member) in [("PushResult", "fields"), ("Edit", "attribute")] {
            // Only notes have a history.
            if schema == "Edit", field.section != .notes { continue }
            let properties = contract.resolved(["$ref": Node("#/components/schemas/\(schema)")])["properties"]
            let prose = try #require(properties?[member]?["description"]?.string)
            #expect(prose.contains("`\(field.rawValue)`"), "\(schema).\(member)")
        }
    }
}
