import Foundation
import HesperModel
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// The contract as a file and as a page, and a page about each problem.
struct Documents: Resource {
    private let contract: ByteBuffer?
    private let made: ContractCache?

    /// - Parameter path: the file `openapi.yaml`; without it the API works, and the routes of it are 404.
    init(contract path: String?, logger: Logger) {
        guard let path, let data = FileManager.default.contents(atPath: path) else {
            // Whoever found none has said where it was looked for.
            if let path { logger.warning("\(path) cannot be read: there is no /openapi.yaml and no /docs.") }
            contract = nil
            made = nil
            return
        }
        contract = ByteBuffer(bytes: data)
        made = ContractCache(yaml: String(decoding: data, as: UTF8.self))
    }

    func add(to routes: inout Routes) {
        routes.open(.get, "/openapi.yaml", keeping: .shared, use: file)
        routes.open(.get, "/openapi.json", keeping: .shared, use: json)
        routes.open(.get, "/docs", keeping: .shared, use: docs)
        routes.open(.get, "/problems/{slug}", keeping: .shared, use: problem)
    }

    private static let missing = Problem(.notFound, "This server was installed without its contract, openapi.yaml.")

    @Sendable private func file(_ call: Call) throws -> Response {
        guard let contract else { throw Documents.missing }
        return Response(
            status: .ok, headers: [.contentType: "application/yaml"], body: .init(byteBuffer: contract))
    }

    @Sendable private func json(_ call: Call) async throws -> Response {
        guard let made else { throw Documents.missing }
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: try await made.value.json)
        )
    }

    @Sendable private func docs(_ call: Call) async throws -> Response {
        guard let made else { throw Documents.missing }
        return try await made.value.page.response()
    }

    @Sendable private func problem(_ call: Call) throws -> Response {
        guard let slug = Problem.Slug(rawValue: call.parameter) else {
            throw Problem(.notFound, "No problem is called \(call.parameter.prefix(64)).")
        }
        return ProblemPage.page(of: slug).response()
    }
}

/// The contract as a page and as JSON, made once, when somebody first asks for one of them.
private actor ContractCache {
    struct Made: Sendable {
        let page: HTMLPage
        let json: ByteBuffer
    }

    private let yaml: String
    private var made: Task<Made, any Error>?

    init(yaml: String) { self.yaml = yaml }

    var value: Made {
        get async throws {
            if let made { return try await made.value }
            let yaml = yaml
            // Reading the contract takes long enough to keep it off the threads that serve.
            let task = Task {
                try await NIOThreadPool.singleton.runIfActive {
                    let contract = try Contract(yaml: yaml)
                    return Made(
                        page: ContractPage(contract).page,
                        json: ByteBuffer(string: ContractExample.text(contract.root) + "\n"))
                }
            }
            made = task
            return try await task.value
        }
    }
}
