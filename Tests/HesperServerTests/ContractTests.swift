import Foundation
import HesperModel
import Testing
import Yams

@testable import HesperServer

/// The contract and the server agree on routes, parameters, limits, errors and fields.
@Suite struct ContractTests {
    static let yaml = try? String(contentsOfFile: "openapi.yaml", encoding: .utf8)

    private static func contract() throws -> Contract { try Contract(yaml: #require(yaml)) }

    private static func routes() throws -> [Route] {
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        return test.server.routes.all
    }

    @Test func routesAndContractAgree() throws {
        let routes = try ContractTests.routes()
        let served = Set(routes.filter(\.isInContract).map { "\($0.method.rawValue) \($0.path)" })
        let documented = Set(try ContractTests.contract().operations.map { "\($0.method) \($0.path)" })
        #expect(served.subtracting(documented).sorted() == [], "served, but not in openapi.yaml")
        #expect(documented.subtracting(served).sorted() == [], "in openapi.yaml, but not served")
        // The pages that are not part of the API.
        let others = routes.filter { !$0.isInContract }.map { "\($0.method.rawValue) \($0.path)" }
        #expect(
            others.sorted() == [
                "GET /metrics", "GET /reset-password", "GET /sign-up", "GET /{page}", "POST /reset-password",
            ])
    }

    @Test func parametersAndAuthenticationAgreeWithTheContract() throws {
        let routes = try ContractTests.routes()
        for operation in try ContractTests.contract().operations {
            let route = try #require(
                routes.first { $0.method.rawValue == operation.method && $0.path == operation.path })
            let documented = operation.parameters.filter { $0["in"]?.string == "query" }.compactMap {
                $0["name"]?.string
            }
            #expect(route.parameters.sorted() == documented.sorted(), "\(operation.id)")
            let isOpen = if case .open = route.handler { true } else { false }
            #expect(isOpen == operation.isOpen, "\(operation.id)")
        }
    }

    @Test func limitsOfTheServerAreInTheContract() async throws {
        let contract = try ContractTests.contract()
        let schema = contract.resolved(["$ref": "#/components/schemas/Limits"])
        let known = schema["properties"]?.mapping?.keys.compactMap(\.string) ?? []
        let required = schema["required"]?.sequence?.compactMap(\.string) ?? []
        #expect(!required.isEmpty)
        try await TestServer.test { client in
            let info = try await client.send(.get, "/v1/server").json
            guard case .object(let limits) = try info.member("limits") else { return #expect(Bool(false)) }
            #expect(limits.members.map(\.name).sorted() == known.sorted())
            #expect(Set(known).subtracting(required) == ["quotaBytes", "requestsPerMinute"], "the optional limits")
        }
    }

    @Test(arguments: Problem.Slug.allCases) func everyProblemIsInTheContract(_ slug: Problem.Slug) throws {
        let contract = try ContractTests.contract()
        let schema = contract.resolved(["$ref": "#/components/schemas/Problem"])
        let description = try #require(schema["properties"]?["slug"]?["description"]?.string)
        #expect(description.contains("`\(slug.rawValue)`"))
        for (_, response) in contract.members(contract.root["components"]?["responses"]) {
            for (_, media) in contract.members(response["content"]) {
                let examples = contract.members(media["examples"]).compactMap { $0.1["value"] }
                for example in examples + [media["example"]].compactMap(\.self)
                where example["slug"]?.string == slug.rawValue {
                    #expect(example["title"]?.string == slug.title)
                    #expect(example["status"]?.int == slug.status)
                }
            }
        }
    }

    @Test func everyFeatureIsInTheContract() throws {
        let contract = try ContractTests.contract()
        let schema = contract.resolved(["$ref": "#/components/schemas/ServerInfo"])
        let description = try #require(schema["properties"]?["features"]?["description"]?.string)
        for feature in ServerInfo.features + ["mail"] { #expect(description.contains("`\(feature)`"), "\(feature)") }
    }

    @Test func everyStatusAndOutcomeIsInTheContract() throws {
        let contract = try ContractTests.contract()
        func description(_ schema: String, _ field: String) throws -> String {
            let schema = contract.resolved(["$ref": .scalar(.init("#/components/schemas/\(schema)"))])
            return try #require(schema["properties"]?[field]?["description"]?.string)
        }
        let statuses = try description("PushResult", "status")
        for status in Receipt.Status.allCases { #expect(statuses.contains("`\(status.rawValue)`")) }
        let outcomes = try description("FieldResult", "outcome")
        for outcome in [Receipt.Field.Outcome.merged, .superseded, .deleted, .rejected] {
            #expect(outcomes.contains("`\(outcome.rawValue)`"))
        }
    }

    /// The schemas of objects, changes and writes contain exactly the fields of the model (development.md, Add a field to notes).
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
        // Plain writes can also name tags.
        let names = section == .notes ? ["tagNames"] : []
        expect("\(name)Draft", has: all + names)
        guard section != .attachments else {
            expect("AttachmentState", has: all)
            expect("AttachmentChange", has: all)
            return
        }
        let descent: [String] =
            switch section {
            case .notes: ["textBase", "textBaseValue", "textAfter"]
            case .objects: ["textBases", "textBaseValues", "textsAfter"]
            case .tags, .attachments: []
            }
        expect(name, has: all)
        expect("\(name)Patch", has: mutable + names)
        expect("\(name)State", has: all + ["clocks"])
        expect("\(name)Clocks", has: mutable)
        expect("\(name)Change", has: all + ["clocks"] + descent)
        expect("\(name)ChangeClocks", has: mutable)
    }

    @Test(arguments: Field.allCases.filter { $0.rule == .register })
    func everyRegisterIsInTheDescriptionsOfTheContract(_ field: Field) throws {
        let contract = try ContractTests.contract()
        for (schema, member) in [("PushResult", "fields"), ("Edit", "attribute")] {
            // Only notes and app objects have histories, and app objects have no fields that are registers.
            if schema == "Edit", field.section != .notes { continue }
            let properties = contract.resolved(["$ref": Node("#/components/schemas/\(schema)")])["properties"]
            let prose = try #require(properties?[member]?["description"]?.string)
            #expect(prose.contains("`\(field.rawValue)`"), "\(schema).\(member)")
        }
    }
}
