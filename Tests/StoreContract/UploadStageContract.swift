import Foundation
import HesperModel
import HesperStore
import NIOCore

/// The requirements for every ``UploadStage``.
public struct UploadStageContract {
    /// The stage under test, empty when a case begins, and a blob store to which uploads are copied.
    public struct Subject: Sendable {
        public let stage: any UploadStage
        public let blobs: any BlobStore
        /// The same stage in another opening, as if by another server; nil if a stage can be opened only once.
        public let other: (any UploadStage)?

        public init(stage: any UploadStage, blobs: any BlobStore, other: (any UploadStage)? = nil) {
            self.stage = stage
            self.blobs = blobs
            self.other = other
        }
    }

    /// A requirement. It throws a ``Violation`` if it is not met.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void
        public var description: String { name }

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    public static let cases: [Case] = appendCases + failureCases + concurrencyCases

    /// More than any stage writes at a time, and not a multiple of its part size.
    static let large: Int64 = (5 << 20) + 77
    static let noLimit = Int64.max
}

extension UploadStageContract.Subject {
    /// The stage at which the next request for an upload may arrive.
    var nextStage: any UploadStage { other ?? stage }

    /// Creates an upload with the bytes of a sample.
    func begun(_ sample: BlobSample) async throws -> UniqueID {
        let id = UniqueID.random()
        try await stage.create(id)
        let end = try await stage.append(
            sample.pieces(), to: id, at: 0, limit: UploadStageContract.noLimit, checking: nil)
        try expect(end, is: sample.byteCount, "length after the append")
        return id
    }

    /// Checks that an upload has the bytes of a sample of this length, by copying it to the blob store.
    func expectBytes(of id: UniqueID, toEndAt byteCount: Int64, file: String = #fileID, line: Int = #line) async throws
    {
        try expect(try await nextStage.byteCount(of: id), is: byteCount, "byteCount", file: file, line: line)
        let (name, sample) = (BlobStoreContract.Subject.name(), BlobSample(byteCount))
        let data = try await nextStage.copy(id, to: blobs, as: name) { data in
            try expect(data, is: sample.data, "argument of the check", file: file, line: line)
        }
        try expect(data, is: sample.data, "result of the copy", file: file, line: line)
        try expect(try await blobs.byteCount(of: name), is: byteCount, "the blob", file: file, line: line)
        try await blobs.remove(name)
    }
}

/// A range of a sample's bytes in pieces, which may end with an error.
struct SampleRange: AsyncSequence, Sendable {
    let range: Range<Int64>
    var size: Int64 = 100_000
    /// Called with the offset before each piece. The sequence rethrows its errors.
    var meanwhile: @Sendable (Int64) async throws -> Void = { _ in }

    func makeAsyncIterator() -> Iterator { Iterator(rest: self, offset: range.lowerBound) }

    struct Iterator: AsyncIteratorProtocol {
        let rest: SampleRange
        var offset: Int64

        mutating func next() async throws -> ByteBuffer? {
            try await rest.meanwhile(offset)
            guard offset < rest.range.upperBound else { return nil }
            let end = Swift.min(offset + rest.size, rest.range.upperBound)
            defer { offset = end }
            return BlobSample(rest.range.upperBound)[offset..<end]
        }
    }
}
