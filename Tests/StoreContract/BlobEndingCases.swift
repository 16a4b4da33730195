import Foundation
import HesperModel
import HesperStore
import NIOCore

/// Writes that do not come to a good end leave nothing under the name, and nothing else.
extension BlobStoreContract {
    private static let sizes: [Int64] = [0, 1_000, large, (24 << 20) + 1]

    static let endingCases: [Case] = [
        Case("keeps nothing of bytes that end in an error") { subject in
            for size in sizes {
                let name = Subject.name()
                let pieces = BlobSample(size).pieces { offset in if offset == size { throw Deliberate() } }
                do {
                    _ = try await subject.blobs.write(name, pieces) { _ in }
                    throw Violation(description: "\(size) bytes without an end were kept")
                } catch is Deliberate {}
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("keeps nothing that the check refuses") { subject in
            for size in sizes {
                let name = Subject.name()
                do {
                    _ = try await subject.blobs.write(name, BlobSample(size).pieces()) { told in
                        try expect(told, is: BlobSample(size).data)
                        throw Deliberate()
                    }
                    throw Violation(description: "\(size) bytes were kept")
                } catch is Deliberate {}
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("keeps nothing of a write that is cancelled") { subject in
            for size in sizes {
                let name = Subject.name()
                // It waits for ever at its end, unless it is cancelled.
                let pieces = BlobSample(size).pieces { offset in
                    if offset == size { try await Task.sleep(for: .seconds(600)) }
                }
                let write = Task { try await subject.blobs.write(name, pieces) { _ in } }
                try await Task.sleep(for: .milliseconds(30))
                write.cancel()
                guard case .failure = await write.result else { throw Violation(description: "it was kept") }
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("does not take the end of a cancelled source for the end of the bytes") { subject in
            for size in sizes {
                let name = Subject.name()
                let write = Task {
                    // As AsyncStream does: cancelled, it just ends.
                    let pieces = BlobSample(size).pieces { offset in
                        if offset == size { try? await Task.sleep(for: .seconds(600)) }
                    }
                    return try await subject.blobs.write(name, pieces) { _ in }
                }
                try await Task.sleep(for: .milliseconds(30))
                write.cancel()
                guard case .failure = await write.result else { throw Violation(description: "half of it was kept") }
                try await subject.expectNothing(name)
            }
            try await subject.expectNothingUnfinished()
        },
        Case("shows nothing of what is being written") { subject in
            let name = Subject.name()
            let pieces = BlobSample(large).pieces { offset in
                if offset == large { try await subject.expectNothing(name) }
            }
            _ = try await subject.blobs.write(name, pieces) { _ in }
            try await subject.expectBytes(name, are: BlobSample(large))
        },
        Case("removes what is unfinished and old, and nothing else") { subject in
            let (kept, name) = (try await subject.write(BlobSample(100)), Subject.name())
            let past = Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000) - 60_000)
            let pieces = BlobSample(large).pieces { offset in
                guard offset == large else { return }
                try expect(try await subject.blobs.removeUnfinished(before: past), is: 0, "young ones removed")
            }
            _ = try await subject.blobs.write(name, pieces) { _ in }
            try await subject.expectBytes(name, are: BlobSample(large))
            try await subject.expectNothingUnfinished()
            try await subject.expectBytes(kept, are: BlobSample(100))
        },
        Case("keeps nothing of what was removed while it was written") { subject in
            let name = Subject.name()
            let pieces = BlobSample(large).pieces { offset in
                guard offset == large else { return }
                try expect(try await subject.blobs.removeUnfinished(before: future), is: 1, "removed")
            }
            do {
                _ = try await subject.blobs.write(name, pieces) { _ in }
                throw Violation(description: "it was kept")
            } catch is StoreError {}
            try await subject.expectNothing(name)
            try await subject.expectNothingUnfinished()
        },
    ]
}
