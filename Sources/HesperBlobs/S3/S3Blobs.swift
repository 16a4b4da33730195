import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Stores blobs as objects in a bucket of Amazon S3 or a compatible service (storage.md, Attachment data).
///
/// An object becomes visible when its upload is complete. Objects larger than 8 MiB are uploaded in parts. Each write holds at
/// most two parts in memory.
///
///     let blobs = S3Blobs(try S3Location("s3://notes/home", environment: ProcessInfo.processInfo.environment))
///     try await blobs.check()
public struct S3Blobs: BlobStore {
    private let client: S3Client
    private let pool: NIOThreadPool

    /// - Parameter pool: the threads on which local files are read for ``adopt(_:as:checking:)``.
    public init(_ location: S3Location, pool: NIOThreadPool = .singleton) {
        client = S3Client(location)
        self.pool = pool
    }

    /// Verifies that the bucket exists and that the credentials allow access to it.
    /// - Throws: ``S3LocationError``, which names the setting to correct, or ``StoreError`` if the service is unavailable.
    public func check() async throws {
        do {
            try await S3Listing(client: client).check()
        } catch let failure as S3Failure {
            throw failure.settingError(in: client.location) ?? failure.storeError
        } catch StoreError.failed(let text) {
            throw S3LocationError(
                "AWS_ENDPOINT_URL_S3", "is \(client.location.endpoint), which is not an S3 service: \(text)")
        }
    }

    private func object(_ name: BlobName) -> S3Object { object(name.path) }

    private func object(_ path: String) -> S3Object {
        let prefix = client.location.prefix
        return S3Object(client: client, key: prefix.isEmpty ? path : "\(prefix)/\(path)")
    }

    // MARK: Writing

    public func write<Bytes: AsyncSequence & Sendable>(
        _ name: BlobName, _ bytes: Bytes, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData where Bytes.Element == ByteBuffer {
        try await translating {
            let object = object(name)
            var parts = S3Parts(bytes)
            guard let (part, isLast) = try await parts.next() else { throw StoreError.failed("no first part") }
            if isLast {
                try check(parts.data)
                try await S3Blobs.removingOnFailure(object) { try await object.put(part) }
                return parts.data
            }
            let upload = try await S3Blobs.uncancelled { try await S3Upload.begin(object.key, by: object.client) }
            do {
                let tags = try await S3Blobs.send(first: part, &parts, to: upload)
                let data = parts.data
                try check(data)
                try await S3Blobs.removingOnFailure(object) {
                    try await upload.complete(tags, byteCount: data.byteCount)
                }
                return data
            } catch {
                try? await S3Blobs.uncancelled { try await upload.abort() }
                throw error
            }
        }
    }

    /// Uploads all parts. While a part is being uploaded, the next part is read.
    private static func send<Bytes>(
        first: ByteBuffer, _ parts: inout S3Parts<Bytes>, to upload: S3Upload
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { sending in
            var tags: [String] = []
            sending.addTask { try await upload.send(first, number: 1) }
            while let (part, _) = try await parts.next() {
                if let tag = try await sending.next() { tags.append(tag) }
                sending.addTask { [number = tags.count + 1] in try await upload.send(part, number: number) }
            }
            if let tag = try await sending.next() { tags.append(tag) }
            return tags
        }
    }

    /// Runs `body`, which creates an object. Cancellation does not interrupt `body`, because the outcome of a cancelled request
    /// would be unknown. If `body` throws an error, the object may exist nevertheless, so the object is removed.
    private static func removingOnFailure(
        _ object: S3Object, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try Task.checkCancellation()
        do {
            try await uncancelled(body)
        } catch {
            try? await uncancelled { try await object.remove() }
            throw error
        }
    }

    /// Runs `body` to completion even if the current task is cancelled.
    private static func uncancelled<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await Task(operation: body).value
    }

    public func adopt(
        _ path: String, as name: BlobName, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData {
        let file = try await pool.runIfActive { try FileReader(path) }
        return try await write(name, file.bytes(0..<Int64.max, pool: pool), checking: check)
    }

    // MARK: Reading

    public func read(_ name: BlobName, _ range: Range<Int64>) async throws -> BlobBytes {
        let object = object(name)
        return try await translating(name) {
            guard !range.isEmpty else {
                guard try await object.byteCount() != nil else { throw BlobMissing(name) }
                return BlobBytes { nil }
            }
            let download = try await S3Download(object, range)
            return BlobBytes { try await S3Blobs.translated(name) { try await download.next() } }
        }
    }

    public func byteCount(of name: BlobName) async throws -> Int64? {
        try await translating { try await object(name).byteCount() }
    }

    public func entries(_ body: (BlobEntry) async throws -> Void) async throws {
        try await translating { try await S3Listing(client: client).entries(body) }
    }

    // MARK: Removing

    public func remove(_ name: BlobName) async throws { try await translating { try await object(name).remove() } }

    public func removeUnfinished(before date: Timestamp) async throws -> Int {
        try await translating {
            let uploads = try await S3Listing(client: client).uploads(before: date)
            for upload in uploads { try await upload.abort() }
            return uploads.count
        }
    }

    // MARK: The marker

    public func marker() async throws -> [UInt8]? {
        try await translating { try await object(BlobMarker.path).contents() }.map { Array($0.readableBytesView) }
    }

    public func setMarker(_ bytes: [UInt8]) async throws {
        let marker = object(BlobMarker.path)
        try await translating { try await S3Blobs.uncancelled { try await marker.put(ByteBuffer(bytes: bytes)) } }
    }
}
