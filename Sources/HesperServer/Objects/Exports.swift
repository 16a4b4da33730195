import HTTPTypes
import HesperArchive
import HesperModel
import HesperStore
import Hummingbird
import Logging

/// `GET /v1/export`: everything in the account as one zip, made while it is sent (operating.md, Export).
struct Exports: Resource {
    let backend: Backend
    /// Each export takes temporary files and time to compress.
    private let permits = Semaphore<ScopeID>(
        PermitLimits(perKey: Exports.atOnce),
        refusal: Problem(
            .tooManyRequests, "\(Exports.atOnce) exports of this account are under way: wait until one is done.",
            context: ["retryAfter": .integer(30)]))

    /// The maximum number of concurrent exports per account.
    static let atOnce = 2

    func add(to routes: inout Routes) {
        routes.get("/v1/export", keeping: .never, use: export)
    }

    @Sendable private func export(_ call: Call, _ session: Session) async throws -> Response {
        let isHead = call.request.method == .head
        let date = backend.now()
        let headers: HTTPFields = [
            .contentType: "application/zip",
            .contentDisposition: "attachment; filename=\"\(Export.fileName(date))\"",
        ]
        guard !isHead else {
            // How long it would be, only making it would tell.
            return Response(
                status: .ok, headers: headers + [.transferEncoding: "chunked"],
                body: ResponseBody { try await $0.finish(nil) })
        }
        let permit = try ExportPermit(permits, session.scope)
        let export = try await Export(of: session.scope, store: backend.store, blobs: backend.blobs, date: date)
        let logger = call.logger
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                var isTaken = true
                do {
                    let report = try await export.write { piece in
                        isTaken = false
                        try await writer.write(piece)
                        isTaken = true
                    }
                    for missing in report.missing { logger.error("\(missing.description)") }
                    try await writer.finish(nil)
                } catch {
                    // The connection is cut: nobody takes half an archive for a whole one.
                    if isTaken { logger.error("An export was broken off: \(error).") }
                    throw error
                }
                withExtendedLifetime(permit) {}
            })
    }
}

/// The permit of an export, held while it is sent, and by an answer that nobody takes until that is released.
private final class ExportPermit: Sendable {
    private let permits: Semaphore<ScopeID>
    private let scope: ScopeID

    /// - Throws: ``Problem`` `too-many-requests`.
    init(_ permits: Semaphore<ScopeID>, _ scope: ScopeID) throws(Problem) {
        guard permits.tryAcquire(scope) else { throw permits.refusal }
        self.permits = permits
        self.scope = scope
    }

    deinit { permits.release(scope) }
}
