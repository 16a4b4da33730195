import HTTPTypes
import HesperArchive
import HesperModel
import HesperStore
import Hummingbird
import Logging

/// `GET /v1/export`: all contents of an account as one ZIP archive, which is created while it is sent (operating.md, Export).
struct Exports: Resource {
    let backend: Backend
    /// Limits how many exports run at the same time, because each needs temporary files and CPU time to compress.
    private let permits = Semaphore<ScopeID>(
        PermitLimits(perKey: Exports.maxConcurrent),
        refusal: Problem(
            .tooManyRequests,
            "\(Exports.maxConcurrent) exports of this account are running. Wait until one has finished.",
            context: ["retryAfter": .integer(30)]))

    /// The maximum number of concurrent exports per account.
    static let maxConcurrent = 2

    func add(to routes: inout Routes) {
        routes.get("/v1/export", cache: .never, tokens: .read, use: export)
    }

    @Sendable private func export(_ request: APIRequest, _ session: Session) async throws -> Response {
        let isHead = request.http.method == .head
        let date = backend.now()
        let headers: HTTPFields = [
            .contentType: "application/zip",
            .contentDisposition: "attachment; filename=\"\(Export.fileName(date))\"",
        ]
        guard !isHead else {
            // The response to `HEAD` has no `Content-Length`, because the length is not known before the archive is created.
            return Response(
                status: .ok, headers: headers + [.transferEncoding: "chunked"],
                body: ResponseBody { try await $0.finish(nil) })
        }
        let permit = try ExportPermit(permits, session.scope)
        let export = try await Export(of: session.scope, store: backend.store, blobs: backend.blobs, date: date)
        let logger = request.logger
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                var isWritable = true
                do {
                    let report = try await export.write { piece in
                        isWritable = false
                        try await writer.write(piece)
                        isWritable = true
                    }
                    for missing in report.missing { logger.error("\(missing.description)") }
                    try await writer.finish(nil)
                } catch {
                    // Throwing the error closes the connection, so that the client does not mistake part of an archive for a
                    // complete one. If writing to the client caused the error, it is not logged.
                    if isWritable { logger.error("Export failed", metadata: ["error": "\(error)"]) }
                    throw error
                }
                withExtendedLifetime(permit) {}
            })
    }
}

/// The permit of an export. It is released when the response is deallocated, whether the response was sent or not.
private final class ExportPermit: Sendable {
    private let permits: Semaphore<ScopeID>
    private let scope: ScopeID

    /// Takes a permit.
    /// - Throws: `too-many-requests` if no permit is free.
    init(_ permits: Semaphore<ScopeID>, _ scope: ScopeID) throws(Problem) {
        guard permits.tryAcquire(scope) else { throw permits.refusal }
        self.permits = permits
        self.scope = scope
    }

    deinit { permits.release(scope) }
}
