import HTTPTypes
import HesperArchive
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOConcurrencyHelpers

/// `GET /v1/export`: everything in the account as one zip, made while it is sent (operating.md, Export).
struct Exports: Resource {
    let backend: Backend
    private let gate = ExportGate()

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
        let place = try gate.enter(session.scope)
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
                withExtendedLifetime(place) {}
            })
    }
}

/// How many exports an account may have under way: each takes room for temporary files, and time to compress.
final class ExportGate: Sendable {
    private let counts = NIOLockedValueBox<[ScopeID: Int]>([:])

    static let atOnce = 2
    /// What whoever comes too often is told to wait, in seconds.
    static let wait: Int64 = 30

    /// - Returns: a place, free again when nobody holds it any more.
    /// - Throws: ``Problem`` `too-many-requests`.
    func enter(_ scope: ScopeID) throws(Problem) -> Place {
        let isFree = counts.withLockedValue { counts in
            guard counts[scope, default: 0] < ExportGate.atOnce else { return false }
            counts[scope, default: 0] += 1
            return true
        }
        guard isFree else {
            throw Problem(
                .tooManyRequests, "\(ExportGate.atOnce) exports of this account are under way: wait until one is done.",
                context: ["retryAfter": .integer(ExportGate.wait)])
        }
        return Place(self, scope)
    }

    private func leave(_ scope: ScopeID) {
        counts.withLockedValue { counts in
            let left = counts[scope, default: 1] - 1
            counts[scope] = left == 0 ? nil : left
        }
    }

    /// Held while an export is under way, and by an answer that nobody took, until that is gone.
    final class Place: Sendable {
        private let gate: ExportGate
        private let scope: ScopeID

        init(_ gate: ExportGate, _ scope: ScopeID) {
            self.gate = gate
            self.scope = scope
        }

        deinit { gate.leave(scope) }
    }
}
