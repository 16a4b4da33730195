import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `/v1/imports`: imports files from other apps, and archives that Hesper exported (protocol.md, Imports). ``ImportWorker`` reads
/// the files and writes their notes.
struct Imports: Resource {
    let backend: Backend
    let stage: any UploadStage
    let limits: ImportLimits
    let worker: ImportWorker

    /// The maximum size of the request that creates an import, in bytes.
    private static let bodyBytes = 8 << 10

    func add(to routes: inout Routes) {
        routes.get("/v1/imports", cache: .never, use: list)
        routes.post("/v1/imports", cache: .never, use: create)
        routes.get("/v1/imports/{uniqueID}", cache: .never, use: get)
        routes.delete("/v1/imports/{uniqueID}", cache: .never, use: delete)
        routes.on(.head, "/v1/imports/{uniqueID}/data", cache: .never, use: head)
        routes.patch("/v1/imports/{uniqueID}/data", cache: .never, use: append)
        routes.post("/v1/imports/{uniqueID}/start", cache: .never, use: start)
    }

    // MARK: The import

    @Sendable private func list(_ request: APIRequest, _ session: Session) async throws -> Response {
        let record = try await backend.store.read { try $0.importRecord(of: session.scope) }
        return .object { writer in
            writer.name("imports")
            writer.array { writer in
                if let record { writer.object { record.write(to: &$0) } }
            }
        }
    }

    @Sendable private func create(_ request: APIRequest, _ session: Session) async throws -> Response {
        var fields = try Fields(await request.json(limit: Imports.bodyBytes))
        let name = try fields.optionalString("name", bytes: 1...limits.nameBytes)
        if let name, name.contains("/") || name == "." || name == ".." {
            throw fields.invalid("name", "must be the name of a file, without folders")
        }
        guard case .integer(let byteCount)? = fields.value("byteCount"), byteCount > 0 else {
            throw fields.invalid("byteCount", "must be the size of the file in bytes, at least 1")
        }
        try fields.end()
        guard byteCount <= limits.bytes else {
            throw Problem(
                .tooLarge, "byteCount must be at most \(limits.bytes). Split the file.",
                at: "/byteCount", context: ["limit": .integer(limits.bytes)])
        }
        if let free = limits.diskBytes, free - byteCount < limits.freeBytes {
            throw Problem.storageFull
        }
        let record = ImportRecord(
            uniqueID: .random(), name: name, byteCount: byteCount, creationDate: backend.now(),
            requestedBy: session.device.node)
        try await stage.create(record.uniqueID)
        do {
            try await backend.scope(of: session).commit { transaction in
                if let other = try transaction.importRecord(of: session.scope) {
                    guard !other.state.hasBytes else {
                        throw Problem(
                            .importConflict,
                            "This account has an unfinished import, \(other.uniqueID). Finish or delete it first.")
                    }
                    _ = try transaction.deleteImport(other.uniqueID, in: session.scope)
                }
                try transaction.insert(record, in: session.scope)
            }
        } catch let problem as Problem {
            try await stage.remove(record.uniqueID)
            throw problem
        }
        backend.hub.announceImport(record.event, in: session.scope)
        return .object(status: .created, headers: [.location: "/v1/imports/\(record.uniqueID)"]) {
            record.write(to: &$0)
        }
    }

    @Sendable private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        let record = try await record(request, session)
        return .object { record.write(to: &$0) }
    }

    @Sendable private func delete(_ request: APIRequest, _ session: Session) async throws -> Response {
        try await end(try await record(request, session), session)
        return Response(status: .noContent)
    }

    @Sendable private func start(_ request: APIRequest, _ session: Session) async throws -> Response {
        var record = try await record(request, session)
        switch record.state {
        case .uploading, .reading, .failed:
            throw Problem(
                .importConflict,
                "The import is in the state \(record.state.rawValue). Only an import in the state ready can be started."
            )
        case .writing, .done: break
        case .ready:
            (record.state, record.done, record.total) = (.writing, 0, 0)
            record.requestedBy = session.device.node
            try await change(record, from: .ready, session)
        }
        return .object(status: .accepted) { record.write(to: &$0) }
    }

    // MARK: The bytes

    @Sendable private func head(_ request: APIRequest, _ session: Session) async throws -> Response {
        let fields = try UploadFields(request)
        let record = try await record(request, session)
        var offset = record.byteCount
        if record.state == .uploading {
            guard let received = try await stage.byteCount(of: record.uniqueID) else {
                // The bytes were lost, for example because the database was restored.
                try await end(record, session)
                throw Problem.notFound(record.uniqueID)
            }
            offset = received
        }
        let headers = fields.headers(
            offset: offset, isComplete: record.state != .uploading, length: record.byteCount, limit: limit(of: record))
        return Response(status: .noContent, headers: headers)
    }

    @Sendable private func append(_ request: APIRequest, _ session: Session) async throws -> Response {
        let part = try UploadPart(request)
        var record = try await record(request, session)
        guard record.state == .uploading else {
            // The client repeats the last part if it has not received the response.
            guard record.state.hasBytes, part.offset == record.byteCount else {
                throw Problem.uploadOffset(record.byteCount, requested: part.offset)
            }
            return complete(record, part)
        }
        let tooLong = Problem(
            .invalidField, "The upload has more bytes than the byteCount of the import, \(record.byteCount).",
            at: "Upload-Length")
        if let length = part.fields.length, length != record.byteCount {
            throw Problem(
                .invalidField,
                "The upload has \(length) bytes, but the byteCount of the import is \(record.byteCount).",
                at: "Upload-Length")
        }
        let bytes = try request.bytes(
            limit: max(record.byteCount - part.offset, 0), tooLarge: tooLong, isOptional: true)
        let end: Int64
        do {
            end = try await UploadPart.append(
                bytes, of: request, to: record.uniqueID, in: stage, at: part.offset, limit: record.byteCount,
                orThrow: tooLong)
        } catch is UploadMissing {
            try await self.end(record, session)
            throw Problem.notFound(record.uniqueID)
        }
        guard part.fields.isComplete ?? true else {
            let headers = part.fields.headers(offset: end, isComplete: false, limit: limit(of: record))
            return Response(status: part.fields.appendedStatus, headers: headers)
        }
        guard end == record.byteCount else {
            throw Problem(
                .invalidField,
                "The upload was completed with \(end) bytes, but the byteCount of the import is \(record.byteCount).",
                at: "Upload-Complete")
        }
        record.state = .reading
        try await change(record, from: .uploading, session)
        return complete(record, part)
    }

    private func complete(_ record: ImportRecord, _ part: UploadPart) -> Response {
        .object(headers: part.fields.headers(offset: record.byteCount, isComplete: true)) { record.write(to: &$0) }
    }

    /// The value of the header `Upload-Limit`: the maximum size in bytes, and the number of seconds until the import is removed.
    private func limit(of record: ImportRecord) -> String {
        let left = record.creationDate.milliseconds + limits.age - backend.now().milliseconds
        return "max-size=\(limits.bytes), max-age=\(max(left, 0) / 1_000)"
    }

    // MARK: Helpers

    private func record(_ request: APIRequest, _ session: Session) async throws -> ImportRecord {
        let id = try request.uniqueID()
        let record = try await backend.store.read { try $0.importRecord(of: session.scope) }
        guard let record, record.uniqueID == id else { throw Problem.notFound(id) }
        return record
    }

    /// Stores a new state, and begins the work that it requires.
    private func change(_ record: ImportRecord, from state: ImportRecord.State, _ session: Session) async throws {
        let isChanged = try await backend.scope(of: session).commit {
            try $0.update(record, in: session.scope, from: state)
        }
        guard isChanged else {
            throw Problem(.importConflict, "Another request has changed the state of the import. Get it again.")
        }
        backend.hub.announceImport(record.event, in: session.scope)
        worker.trigger.fire()
    }

    /// Deletes an import with its bytes. Notes that were already written remain.
    private func end(_ record: ImportRecord, _ session: Session) async throws {
        _ = try await backend.scope(of: session).commit {
            try $0.deleteImport(record.uniqueID, in: session.scope)
        }
        try await stage.remove(record.uniqueID)
        backend.hub.announceImport(record.deletionEvent, in: session.scope)
    }
}
