import Foundation
import HesperModel
import HesperStore
import NIOCore

/// Failed writes leave no blob and no partial data behind.
extension BlobStoreContract {
    private static let sizes: [Int64] = [0, 1_000, large, (24 << 20) + 1]

    static let failureCases: [Case] = [
        Case("bytes that end with an error are not stored") { subject in
            for size in sizes {
                let name = Subject.name()
                let pieces = BlobSample(size).pieces { offset in if offset == size { throw Deliberate() } }
                do {
                    _ = try await subject.blobs.write(name, pieces) { _ in }
                    throw Violation(description: "\(size) incomplete bytes were stored")
                } catch is Deliberate {}
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("bytes that fail the check are not stored") { subject in
            for size in sizes {
                let name = Subject.name()
                do {
                    _ = try await subject.blobs.write(name, BlobSample(size).pieces()) { data in
                        try expect(data, is: BlobSample(size).data)
                        throw Deliberate()
                    }
                    throw Violation(description: "\(size) bytes were stored")
                } catch is Deliberate {}
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("a cancelled write stores nothing") { subject in
            for size in sizes {
                let name = Subject.name()
                // The sequence does not end until it is cancelled.
                let pieces = BlobSample(size).pieces { offset in
                    if offset == size { try await Task.sleep(for: .seconds(600)) }
                }
                let write = Task { try await subject.blobs.write(name, pieces) { _ in } }
                try await Task.sleep(for: .milliseconds(30))
                write.cancel()
                guard case .failure = await write.result else { throw Violation(description: "it was stored") }
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("a sequence that ends because of cancellation is not stored as a blob") { subject in
            for size in sizes {
                let name = Subject.name()
                let write = Task {
                    // Like AsyncStream, it ends without an error when it is cancelled.
                    let pieces = BlobSample(size).pieces { offset in
                        if offset == size { try? await Task.sleep(for: .seconds(600)) }
                    }
                    return try await subject.blobs.write(name, pieces) { _ in }
                }
                try await Task.sleep(for: .milliseconds(30))
                write.cancel()
                guard case .failure = await write.result else {
                    throw Violation(description: "incomplete bytes were stored")
                }
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("a blob is not visible while it is being written") { subject in
            let name = Subject.name()
            let pieces = BlobSample(large).pieces { offset in
                if offset == large { try await subject.expectNothing(name) }
            }
            _ = try await subject.blobs.write(name, pieces) { _ in }
            try await subject.expectBytes(name, are: BlobSample(large))
        },
        Case("only old partial data is removed") { subject in
            let (existing, name) = (try await subject.write(BlobSample(100)), Subject.name())
            let past = Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000) - 60_000)
            let pieces = BlobSample(large).pieces { offset in
                guard offset == large else { return }
                try expect(try await subject.blobs.removeUnfinished(before: past), is: 0, "recent partial data")
            }
            _ = try await subject.blobs.write(name, pieces) { _ in }
            try await subject.expectBytes(name, are: BlobSample(large))
            try await subject.expectNothingUnfinished()
            try await subject.expectBytes(existing, are: BlobSample(100))
        },
        Case("a write fails if its partial data is removed meanwhile") { subject in
            let name = Subject.name()
            let pieces = BlobSample(large).pieces { offset in
                guard offset == large else { return }
                try expect(try await subject.blobs.removeUnfinished(before: future), is: 1, "removed")
            }
            do {
                _ = try await subject.blobs.write(name, pieces) { _ in }
                throw Violation(description: "it was stored")
            } catch is StoreError {}
            try await subject.expectNothing(name)
            try await subject.expectNothingUnfinished()
        },
    ]
}
