import HesperModel
import HesperStore
import NIOCore

extension UploadStageContract {
    private static let sizes: [Int64] = [0, 1, 1_000, 512 << 10, large]

    /// Uploads that grow, in one request and in many.
    static let growingCases: [Case] = [
        Case("has what was appended, to the byte") { subject in
            for size in sizes {
                try await subject.expectBytes(of: try await subject.begun(BlobSample(size)), toEndAt: size)
            }
        },
        Case("goes on where it ended, whoever asks") { subject in
            let id = try await subject.begun(BlobSample(1))
            var end: Int64 = 1
            for next in [Int64](arrayLiteral: 2, 1_000, 700_000, 700_000, large) {
                end = try await subject.elsewhere.append(
                    Rest(range: end..<next), to: id, at: end, limit: large, checking: nil)
                try expect(end, is: next, "the end")
            }
            try await subject.expectBytes(of: id, toEndAt: large)
        },
        Case("knows nothing of what was never begun") { subject in
            let id = UniqueID.random()
            try expect(try await subject.stage.byteCount(of: id), is: nil)
            try await refuses(UploadMissing.self) {
                _ = try await subject.stage.append(
                    Rest(range: 0..<5), to: id, at: 0, limit: noLimit, checking: nil)
            }
            try await refuses(UploadMissing.self) {
                _ = try await subject.stage.copy(id, to: subject.blobs, as: BlobStoreContract.Subject.name()) { _ in }
            }
            try await subject.stage.remove(id)
        },
        Case("names all there are, and removes one alone") { subject in
            let (first, second) = (
                try await subject.begun(BlobSample(large)), try await subject.begun(BlobSample(10))
            )
            try expect(Set(try await subject.elsewhere.all()), is: [first, second])
            try await subject.elsewhere.remove(first)
            try expect(try await subject.stage.all(), is: [second])
            try expect(try await subject.stage.byteCount(of: first), is: nil)
            try await subject.expectBytes(of: second, toEndAt: 10)
        },
        Case("makes no upload twice") { subject in
            let id = try await subject.begun(BlobSample(10))
            try await refuses(StoreError.self) { try await subject.stage.create(id) }
            try await subject.expectBytes(of: id, toEndAt: 10)
        },
    ]

    /// Requests that do not come to a good end.
    static let endingCases: [Case] = [
        Case("keeps what arrived before the connection broke") { subject in
            for size in sizes where size > 0 {
                let id = try await subject.begun(BlobSample(1))
                let broken = Rest(range: 1..<large) { if $0 >= size { throw Deliberate() } }
                try await refuses(Deliberate.self) {
                    _ = try await subject.stage.append(broken, to: id, at: 1, limit: noLimit, checking: nil)
                }
                let kept = try await subject.elsewhere.byteCount(of: id) ?? 0
                try expect(kept >= min(size, large), is: true, "\(kept) of \(size) bytes")
                try await subject.expectBytes(of: id, toEndAt: kept)
            }
        },
        Case("takes no bytes elsewhere than at its end") { subject in
            let id = try await subject.begun(BlobSample(1_000))
            for offset in [Int64](arrayLiteral: 0, 999, 1_001) {
                do {
                    _ = try await subject.elsewhere.append(
                        Rest(range: offset..<2_000), to: id, at: offset, limit: noLimit, checking: nil)
                    throw Violation(description: "bytes were taken at \(offset)")
                } catch let misplaced as UploadOffsetMismatch {
                    try expect(misplaced, is: UploadOffsetMismatch(offset: 1_000))
                }
            }
            try await subject.expectBytes(of: id, toEndAt: 1_000)
        },
        Case("takes no more than it may") { subject in
            for limit in [Int64](arrayLiteral: 10, 1_000, 2 << 20) {
                let id = try await subject.begun(BlobSample(10))
                try await refuses(UploadTooLong.self) {
                    _ = try await subject.stage.append(
                        Rest(range: 10..<large), to: id, at: 10, limit: limit, checking: nil)
                }
                try await subject.expectBytes(of: id, toEndAt: limit)
            }
        },
        Case("takes back what the check refuses, and only that") { subject in
            for size in [Int64](arrayLiteral: 20, 1_000, large) {
                let id = try await subject.begun(BlobSample(10))
                try await refuses(Deliberate.self) {
                    _ = try await subject.stage.append(Rest(range: 10..<size), to: id, at: 10, limit: noLimit) { told in
                        try expect(told.byteCount, is: size - 10, "what the check was told")
                        throw Deliberate()
                    }
                }
                try await subject.expectBytes(of: id, toEndAt: 10)
                _ = try await subject.stage.append(Rest(range: 10..<size), to: id, at: 10, limit: noLimit) { _ in }
                try await subject.expectBytes(of: id, toEndAt: size)
            }
        },
        Case("gives nothing that the check refuses, and keeps it") { subject in
            let id = try await subject.begun(BlobSample(large))
            let name = BlobStoreContract.Subject.name()
            try await refuses(Deliberate.self) {
                _ = try await subject.stage.copy(id, to: subject.blobs, as: name) { _ in throw Deliberate() }
            }
            try expect(try await subject.blobs.byteCount(of: name), is: nil)
            try await subject.expectBytes(of: id, toEndAt: large)
        },
    ]
}
