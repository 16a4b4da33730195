import HesperModel

/// The state of the blob store, as recorded in the database.
public struct BlobStoreRecord: Sendable, Equatable {
    /// The nonce of the current marker; nil until the first marker has been written.
    public var currentNonce: UInt64?
    /// The nonce of a marker that is being written and may already have replaced the current marker; nil if no marker is being
    /// written.
    public var nextNonce: UInt64?
    /// The result of the most recent walk through all blobs; nil before the first walk.
    public var walk: BlobWalk?
    /// The number of blobs that had no row in the database and that an operator accepted with `hesper adopt-attachments`.
    public var acceptedUnknown: Int

    public init(
        currentNonce: UInt64? = nil, nextNonce: UInt64? = nil, walk: BlobWalk? = nil, acceptedUnknown: Int = 0
    ) {
        self.currentNonce = currentNonce
        self.nextNonce = nextNonce
        self.walk = walk
        self.acceptedUnknown = acceptedUnknown
    }

    /// Whether a marker with this nonce belongs to the database. It does if the database has recorded the nonce for the current
    /// marker, or for a marker that is being written.
    func accepts(_ nonce: UInt64) -> Bool { nonce == currentNonce || nonce == nextNonce }

    /// Whether there are too many blobs without a row in the database. Crashes leave only a few such blobs. If there are more, the
    /// database may be outdated, or the blobs may belong to another database.
    public var hasTooManyUnknown: Bool {
        guard let walk, walk.unknownFiles > acceptedUnknown else { return false }
        if walk.unknownFiles == walk.files { return true }
        let isMoreThanATenth =
            walk.unknownFiles * 10 > walk.files || Double(walk.unknownBytes) * 10 > Double(walk.bytes)
        return walk.unknownFiles - acceptedUnknown > 100 && isMoreThanATenth
    }
}

/// The results of a walk through all blobs. The sweeper does not count blobs that are less than a day old, because their rows may
/// not be committed yet.
public struct BlobWalk: Sendable, Equatable {
    public let date: Timestamp
    public internal(set) var files = 0
    public internal(set) var bytes: Int64 = 0
    /// The number of files for which the database has no row.
    public internal(set) var unknownFiles = 0
    public internal(set) var unknownBytes: Int64 = 0

    init(date: Timestamp) { self.date = date }

    public init(date: Timestamp, files: Int, bytes: Int64, unknownFiles: Int, unknownBytes: Int64) {
        self.date = date
        self.files = files
        self.bytes = bytes
        self.unknownFiles = unknownFiles
        self.unknownBytes = unknownBytes
    }

    /// The number of blobs that are looked up in one snapshot of the database.
    private static let batch = 500

    /// Counts all blobs and looks up each blob in the database.
    /// - Parameters:
    ///   - date: the date of the walk.
    ///   - end: only blobs that are older than this date are counted; nil to count all blobs.
    ///   - foreign: called with the path of each file that is not a blob.
    ///   - unknown: called once for each batch with the names of the blobs that have no row. The list of names may be empty.
    public static func run(
        in blobs: any BlobStore, knownTo store: any Store, at date: Timestamp, before end: Timestamp? = nil,
        foreign: (String) -> Void = { _ in }, unknown reportUnknown: ([BlobName]) async throws -> Void = { _ in }
    ) async throws -> BlobWalk {
        var walk = BlobWalk(date: date)
        var batch: [(name: BlobName, byteCount: Int64)] = []
        func count() async throws {
            let names = batch.map(\.name)
            let unknown = try await store.read { snapshot in
                try Set(names.filter { try !snapshot.isKnown($0) })
            }
            for (name, byteCount) in batch {
                walk.files += 1
                walk.bytes += byteCount
                guard unknown.contains(name) else { continue }
                walk.unknownFiles += 1
                walk.unknownBytes += byteCount
            }
            try await reportUnknown(Array(unknown))
            batch = []
        }
        try await blobs.entries { entry in
            guard let name = entry.name else { return foreign(entry.path) }
            if let end, entry.date >= end { return }
            batch.append((name, entry.byteCount))
            if batch.count >= BlobWalk.batch { try await count() }
        }
        if !batch.isEmpty { try await count() }
        return walk
    }
}
