import HesperModel
import HesperStore
import NIOCore

extension BlobStoreContract {
    static let concurrencyCases: [Case] = [
        Case("many blobs can be written concurrently") { subject in
            let samples = (0..<12).map { BlobSample((1 << 20) * $0 + $0) }
            let names = try await all(samples) { ($0, try await subject.write($0)) }
            _ = try await all(names) { sample, name in try await subject.expectBytes(name, are: sample) }
            try await subject.expectNothingUnfinished()
        },
        Case("a blob can be read concurrently by many readers") { subject in
            let sample = BlobSample((2 << 20) + 1)
            let name = try await subject.write(sample)
            _ = try await all(Array(0..<40)) { start in
                try await subject.expectBytes(name, are: sample, in: Int64(start)..<sample.byteCount)
            }
        },
        Case("a scope can have more than a thousand blobs") { subject in
            // More than one page of a listing.
            let names = Set((0..<1_050).map { _ in Subject.name() })
            for batch in stride(from: 0, to: names.count, by: 30) {
                _ = try await all(names.dropFirst(batch).prefix(30)) { try await subject.write(BlobSample(3), $0) }
            }
            let entries = try await subject.entries()
            try expect(entries.count, is: names.count)
            try expect(Set(entries.compactMap(\.name)), is: names)
        },
        Case("paused and abandoned readers block nothing") { subject in
            let sample = BlobSample(4 << 20)
            let name = try await subject.write(sample)
            // Some readers read only the first bytes, some nothing.
            for index in 0..<60 {
                let bytes = try await subject.blobs.read(name, 0..<sample.byteCount)
                if index % 2 == 0 { for try await _ in bytes { break } }
            }
            // Other readers are paused.
            var paused: [BlobBytes] = []
            for _ in 0..<40 { paused.append(try await subject.blobs.read(name, 0..<sample.byteCount)) }
            try await subject.expectBytes(name, are: sample)
            try await subject.write(BlobSample(1))
            for bytes in paused {
                var count = 0
                for try await buffer in bytes { count += buffer.readableBytes }
                try expect(count, is: Int(sample.byteCount))
            }
        },
        Case("a read stops when its task is cancelled") { subject in
            let sample = BlobSample(24 << 20)
            let name = try await subject.write(sample)
            let read = Task {
                var count = 0
                for try await buffer in try await subject.blobs.read(name, 0..<sample.byteCount) {
                    count += buffer.readableBytes
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return count
            }
            // It may throw or return all bytes, but must not end early without an error.
            if case .success(let count) = await read.result { try expect(Int64(count), is: sample.byteCount) }
            try await subject.expectBytes(name, are: sample)
        },
    ]

    /// Runs `body` concurrently for all items.
    private static func all<Item: Sendable, Result: Sendable>(
        _ items: some Collection<Item>, _ body: @escaping @Sendable (Item) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            for item in items { group.addTask { try await body(item) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
