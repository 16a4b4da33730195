import Foundation
import HesperModel
import HesperStore
import NIOCore

extension UploadStageContract {
    private static let sizes: [Int64] = [0, 1, 1_000, 512 << 10, large]

    /// Successful requests.
    static let appendCases: [Case] = [
        Case("appended bytes are stored exactly") { subject in
            for size in sizes {
                try await subject.expectBytes(of: try await subject.begun(BlobSample(size)), toEndAt: size)
            }
        },
        Case("an upload can be continued at its end by any server") { subject in
            let id = try await subject.begun(BlobSample(1))
            var end: Int64 = 1
            for next in [Int64](arrayLiteral: 2, 1_000, 700_000, 700_000, large) {
                end = try await subject.nextStage.append(
                    SampleRange(range: end..<next), to: id, at: end, limit: large, checking: nil)
                try expect(end, is: next, "length")
            }
            try await subject.expectBytes(of: id, toEndAt: large)
        },
        Case("the bytes of an upload are written to a local file, and remain after it is removed") { subject in
            for size in sizes {
                let sample = BlobSample(size)
                let id = try await subject.begun(sample)
                let path = FileManager.default.temporaryDirectory.appending(path: "hesper-stage-\(id)").path
                defer { try? FileManager.default.removeItem(atPath: path) }
                try await subject.nextStage.write(id, to: path)
                try await subject.stage.remove(id)
                var hasher = AttachmentHasher()
                try Data(contentsOf: URL(filePath: path)).withUnsafeBytes { hasher.update($0) }
                try expect(hasher.data, is: sample.data)
            }
        },
        Case("an upload that was not created does not exist") { subject in
            let id = UniqueID.random()
            try expect(try await subject.stage.byteCount(of: id), is: nil)
            try await refuses(UploadMissing.self) {
                _ = try await subject.stage.append(
                    SampleRange(range: 0..<5), to: id, at: 0, limit: noLimit, checking: nil)
            }
            try await refuses(UploadMissing.self) {
                _ = try await subject.stage.copy(id, to: subject.blobs, as: BlobStoreContract.Subject.name()) { _ in }
            }
            try await refuses(UploadMissing.self) { try await subject.stage.write(id, to: "/nowhere") }
            try await subject.stage.remove(id)
        },
        Case("uploads are listed and removed individually") { subject in
            let (first, second) = (
                try await subject.begun(BlobSample(large)), try await subject.begun(BlobSample(10))
            )
            try expect(Set(try await subject.nextStage.all()), is: [first, second])
            try await subject.nextStage.remove(first)
            try expect(try await subject.stage.all(), is: [second])
            try expect(try await subject.stage.byteCount(of: first), is: nil)
            try await subject.expectBytes(of: second, toEndAt: 10)
        },
        Case("an upload cannot be created twice") { subject in
            let id = try await subject.begun(BlobSample(10))
            try await refuses(StoreError.self) { try await subject.stage.create(id) }
            try await subject.expectBytes(of: id, toEndAt: 10)
        },
    ]

    /// Failing requests.
    static let failureCases: [Case] = [
        Case("bytes that arrived before the connection broke are stored") { subject in
            for size in sizes where size > 0 {
                let id = try await subject.begun(BlobSample(1))
                let broken = SampleRange(range: 1..<large) { if $0 >= size { throw Deliberate() } }
                try await refuses(Deliberate.self) {
                    _ = try await subject.stage.append(broken, to: id, at: 1, limit: noLimit, checking: nil)
                }
                let stored = try await subject.nextStage.byteCount(of: id) ?? 0
                try expect(stored >= min(size, large), is: true, "\(stored) of \(size) bytes")
                try await subject.expectBytes(of: id, toEndAt: stored)
            }
        },
        Case("bytes are accepted only at the end of an upload") { subject in
            let id = try await subject.begun(BlobSample(1_000))
            for offset in [Int64](arrayLiteral: 0, 999, 1_001) {
                do {
                    _ = try await subject.nextStage.append(
                        SampleRange(range: offset..<2_000), to: id, at: offset, limit: noLimit, checking: nil)
                    throw Violation(description: "bytes were accepted at \(offset)")
                } catch let error as UploadOffsetMismatch {
                    try expect(error, is: UploadOffsetMismatch(offset: 1_000))
                }
            }
            try await subject.expectBytes(of: id, toEndAt: 1_000)
        },
        Case("bytes beyond the limit are refused") { subject in
            for limit in [Int64](arrayLiteral: 10, 1_000, 2 << 20) {
                let id = try await subject.begun(BlobSample(10))
                try await refuses(UploadTooLong.self) {
                    _ = try await subject.stage.append(
                        SampleRange(range: 10..<large), to: id, at: 10, limit: limit, checking: nil)
                }
                try await subject.expectBytes(of: id, toEndAt: limit)
            }
        },
        Case("only appended bytes that fail the check are removed") { subject in
            for size in [Int64](arrayLiteral: 20, 1_000, large) {
                let id = try await subject.begun(BlobSample(10))
                try await refuses(Deliberate.self) {
                    _ = try await subject.stage.append(SampleRange(range: 10..<size), to: id, at: 10, limit: noLimit) {
                        data in
                        try expect(data.byteCount, is: size - 10, "argument of the check")
                        throw Deliberate()
                    }
                }
                try await subject.expectBytes(of: id, toEndAt: 10)
                _ = try await subject.stage.append(SampleRange(range: 10..<size), to: id, at: 10, limit: noLimit) { _ in
                }
                try await subject.expectBytes(of: id, toEndAt: size)
            }
        },
        Case("an upload that fails the check is not copied and remains") { subject in
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
