import Foundation
import HesperModel
import HesperStore
import NIOCore

/// What every ``UploadStage`` must do, wherever it keeps its bytes.
public struct UploadStageContract {
    /// The stage under test, empty when a case begins, and somewhere to give its uploads to.
    public struct Subject: Sendable {
        public let stage: any UploadStage
        public let blobs: any BlobStore
        /// The same stage, as another server would open it; nil where there is but one.
        public let other: (any UploadStage)?

        public init(stage: any UploadStage, blobs: any BlobStore, other: (any UploadStage)? = nil) {
            self.stage = stage
            self.blobs = blobs
            self.other = other
        }
    }

    /// One thing that must hold. It throws a ``Violation`` where it does not.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void
        public var description: String { name }

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    public static let cases: [Case] = growingCases + endingCases + turnCases

    /// More than any stage writes at once, and no whole number of its parts.
    static let large: Int64 = (5 << 20) + 77
    static let noLimit = Int64.max
}

extension UploadStageContract.Subject {
    /// Where a request may arrive that goes on with what another began.
    var elsewhere: any UploadStage { other ?? stage }

    /// An upload that has the first bytes of a sample.
    func begun(_ sample: BlobSample) async throws -> UniqueID {
        let id = UniqueID.random()
        try await stage.create(id)
        let end = try await stage.append(
            sample.pieces(), to: id, at: 0, limit: UploadStageContract.noLimit, checking: nil)
        try expect(end, is: sample.byteCount, "the end of what was appended")
        return id
    }

    /// Sees that an upload has the first bytes of a sample that has no end, by giving it to the blob store.
    func expectBytes(of id: UniqueID, toEndAt byteCount: Int64, file: String = #fileID, line: Int = #line) async throws
    {
        try expect(try await elsewhere.byteCount(of: id), is: byteCount, "byteCount", file: file, line: line)
        let (name, sample) = (BlobStoreContract.Subject.name(), BlobSample(byteCount))
        let data = try await elsewhere.copy(id, to: blobs, as: name) { told in
            try expect(told, is: sample.data, "what the check was told", file: file, line: line)
        }
        try expect(data, is: sample.data, "what was given", file: file, line: line)
        try expect(try await blobs.byteCount(of: name), is: byteCount, "the blob", file: file, line: line)
        try await blobs.remove(name)
    }
}

/// Bytes of a sample from somewhere on, which may break off.
struct Rest: AsyncSequence, Sendable {
    let range: Range<Int64>
    var size: Int64 = 100_000
    /// Told the offset before each piece; what it throws, the sequence throws.
    var meanwhile: @Sendable (Int64) async throws -> Void = { _ in }

    func makeAsyncIterator() -> Iterator { Iterator(rest: self, offset: range.lowerBound) }

    struct Iterator: AsyncIteratorProtocol {
        let rest: Rest
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
