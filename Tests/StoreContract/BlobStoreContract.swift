import Foundation
import HesperModel
import HesperStore
import NIOCore

/// What every ``BlobStore`` must do, wherever it keeps its bytes. A store's own tests put it through all cases:
///
///     @Test(arguments: BlobStoreContract.cases)
///     func keeps(_ contract: BlobStoreContract.Case) async throws {
///         let subject = BlobStoreContract.Subject(blobs: try FolderBlobs(path: path), folder: folder)
///         try await contract.run(subject)
///     }
public struct BlobStoreContract {
    /// The store under test, empty when a case begins.
    public struct Subject: Sendable {
        public let blobs: any BlobStore
        /// Where local files may lie, to be adopted.
        public let folder: URL

        public init(blobs: any BlobStore, folder: URL) {
            self.blobs = blobs
            self.folder = folder
        }
    }

    /// One thing that must hold. It throws a ``Violation`` where it does not.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }

        public var description: String { name }
    }

    public static let cases: [Case] = sizeCases + readingCases + endingCases + adoptionCases + listingCases + crowdCases

    /// More bytes than a store takes at once, so that what it has begun to keep is to be seen and to be undone.
    static let large: Int64 = 9 << 20
    public static let future = Timestamp(clamping: .max)
}

extension BlobStoreContract.Subject {
    public static func name(_ scope: Int64 = 1) -> BlobName { BlobName(scope: ScopeID(scope), attachment: .random()) }

    /// Keeps a sample, and sees that what is told of it is right.
    @discardableResult
    public func write(_ sample: BlobSample, _ name: BlobName = Self.name(), pieces: Int = 100_000) async throws
        -> BlobName
    {
        let data = try await blobs.write(name, sample.pieces(of: pieces)) { told in
            try expect(told, is: sample.data, "what the check was told")
        }
        try expect(data, is: sample.data, "what arrived")
        return name
    }

    /// Sees that nothing has a name.
    public func expectNothing(_ name: BlobName, file: String = #fileID, line: Int = #line) async throws {
        try expect(try await blobs.byteCount(of: name), is: nil, "byteCount", file: file, line: line)
        try expect(try await entries().contains { $0.name == name }, is: false, "listed", file: file, line: line)
        do {
            _ = try await blobs.read(name, 0..<1)
            throw Violation(description: "\(file):\(line): what is not there was read")
        } catch let missing as BlobMissing {
            try expect(missing, is: BlobMissing(name), file: file, line: line)
        }
    }

    /// Sees that writes which broke off have left nothing behind.
    public func expectNothingUnfinished(file: String = #fileID, line: Int = #line) async throws {
        let count = try await blobs.removeUnfinished(before: BlobStoreContract.future)
        try expect(count, is: 0, "unfinished", file: file, line: line)
    }

    /// Sees that a blob is what was written, in a range.
    public func expectBytes(
        _ name: BlobName, are sample: BlobSample, in range: Range<Int64>? = nil, file: String = #fileID,
        line: Int = #line
    ) async throws {
        let range = range ?? 0..<sample.byteCount
        var offset = range.lowerBound
        for try await buffer in try await blobs.read(name, range) {
            let end = offset + Int64(buffer.readableBytes)
            guard end <= range.upperBound, buffer == sample[offset..<end] else {
                throw Violation(description: "\(file):\(line): other bytes between \(offset) and \(end) of \(range)")
            }
            offset = end
        }
        try expect(offset, is: range.upperBound, "the end of what was read", file: file, line: line)
    }

    public func entries() async throws -> [BlobEntry] {
        var found: [BlobEntry] = []
        try await blobs.entries { found.append($0) }
        return found
    }
}
