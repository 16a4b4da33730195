import Foundation
import HesperModel
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// Serves the contract (`openapi.yaml`) as YAML, as JSON and as an HTML page, and one HTML page for each type of error.
struct Documents: Resource {
    private let contract: ByteBuffer?
    private let cache: ContractCache?

    /// - Parameter path: the path of `openapi.yaml`; nil if there is none. Without the file, the routes that need it respond with
    ///   404, and all other routes work.
    init(contract path: String?, logger: Logger) {
        guard let path, let data = FileManager.default.contents(atPath: path) else {
            // If no path was given, nothing is logged here, because `hesper serve` has already logged where it searched for the
            // file.
            if let path { logger.warning("\(path) cannot be read; /openapi.yaml and /docs are unavailable") }
            contract = nil
            cache = nil
            return
        }
        contract = ByteBuffer(bytes: data)
        cache = ContractCache(yaml: String(decoding: data, as: UTF8.self))
    }

    func add(to routes: inout Routes) {
        routes.open(.get, "/openapi.yaml", cache: .shared, use: file)
        routes.open(.get, "/openapi.json", cache: .shared, use: json)
        routes.open(.get, "/docs", cache: .shared, use: docs)
        routes.open(.get, "/problems/{slug}", cache: .shared, use: problem)
    }

    private static let missing = Problem(.notFound, "This server was installed without its contract, openapi.yaml.")

    @Sendable private func file(_ request: APIRequest) throws -> Response {
        guard let contract else { throw Documents.missing }
        return Response(
            status: .ok, headers: [.contentType: "application/yaml"], body: .init(byteBuffer: contract))
    }

    @Sendable private func json(_ request: APIRequest) async throws -> Response {
        guard let cache else { throw Documents.missing }
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: try await cache.value.json)
        )
    }

    @Sendable private func docs(_ request: APIRequest) async throws -> Response {
        guard let cache else { throw Documents.missing }
        return try await cache.value.page.response()
    }

    @Sendable private func problem(_ request: APIRequest) throws -> Response {
        guard let slug = Problem.Slug(rawValue: request.parameter) else {
            throw Problem(.notFound, "There is no error type \(request.parameter.prefix(64)).")
        }
        return ProblemPage.page(of: slug).response()
    }
}

/// The contract as an HTML page and as JSON. Both are computed when one of them is first requested.
private actor ContractCache {
    struct Rendered: Sendable {
        let page: HTMLPage
        let json: ByteBuffer
    }

    private let yaml: String
    private var task: Task<Rendered, any Error>?

    init(yaml: String) { self.yaml = yaml }

    var value: Rendered {
        get async throws {
            if let task { return try await task.value }
            let yaml = yaml
            // The contract is parsed on a background thread, because this takes too long for the threads that handle requests.
            let newTask = Task {
                try await NIOThreadPool.singleton.runIfActive {
                    let contract = try Contract(yaml: yaml)
                    return Rendered(
                        page: ContractPage(contract).page,
                        json: ByteBuffer(string: ContractExample.text(contract.root) + "\n"))
                }
            }
            task = newTask
            return try await newTask.value
        }
    }
}
