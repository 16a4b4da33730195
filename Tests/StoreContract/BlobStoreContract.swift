import Foundation
import HesperModel
import HesperStore
import NIOCore

/// The requirements for every ``BlobStore``. The tests of a store run all cases:
///
///     @Test(arguments: BlobStoreContract.cases)
///     func fulfils(_ contract: BlobStoreContract.Case) async throws {
///         let subject = BlobStoreContract.Subject(blobs: try FolderBlobs(path: path), folder: folder)
///         try await contract.run(subject)
///     }
public struct BlobStoreContract {
    /// The store under test, empty when a case begins.
    public struct Subject: Sendable {
        public let blobs: any BlobStore
        /// A folder for local files that are adopted.
        public let folder: URL

        public init(blobs: any BlobStore, folder: URL) {
            self.blobs = blobs
            self.folder = folder
        }
    }

    /// A requirement. It throws a ``Violation`` if it is not met.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }

        public var description: String { name }
    }

    public static let cases: [Case] =
        sizeCases + readingCases + failureCases + adoptionCases + listingCases + concurrencyCases

    /// More bytes than a store writes at a time, so that it has partial data that a failed write must remove.
    static let large: Int64 = 9 << 20
    public static let future = Timestamp(clamping: .max)
}

extension BlobStoreContract.Subject {
    public static func name(_ scope: Int64 = 1) -> BlobName { BlobName(scope: ScopeID(scope), attachment: .random()) }

    /// Writes a sample and checks the reported size and digest.
    @discardableResult
    public func write(_ sample: BlobSample, _ name: BlobName = Self.name(), pieces: Int = 100_000) async throws
        -> BlobName
    {
        let data = try await blobs.write(name, sample.pieces(of: pieces)) { data in
            try expect(data, is: sample.data, "argument of the check")
        }
        try expect(data, is: sample.data, "result of the write")
        return name
    }

    /// Checks that there is no blob with a name.
    public func expectNothing(_ name: BlobName, file: String = #fileID, line: Int = #line) async throws {
        try expect(try await blobs.byteCount(of: name), is: nil, "byteCount", file: file, line: line)
        try expect(try await entries().contains { $0.name == name }, is: false, "listed", file: file, line: line)
        do {
            _ = try await blobs.read(name, 0..<1)
            throw Violation(description: "\(file):\(line): a missing blob was read")
        } catch let missing as BlobMissing {
            try expect(missing, is: BlobMissing(name), file: file, line: line)
        }
    }

    /// Checks that failed writes have left no partial data behind.
    public func expectNothingUnfinished(file: String = #fileID, line: Int = #line) async throws {
        let count = try await blobs.removeUnfinished(before: BlobStoreContract.future)
        try expect(count, is: 0, "unfinished", file: file, line: line)
    }

    /// Checks that a range of a blob has the bytes of a sample.
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
        try expect(offset, is: range.upperBound, "end of the bytes", file: file, line: line)
    }

    public func entries() async throws -> [BlobEntry] {
        var found: [BlobEntry] = []
        try await blobs.entries { found.append($0) }
        return found
    }
}
