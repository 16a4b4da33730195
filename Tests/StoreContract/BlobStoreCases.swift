import HesperModel
import HesperStore
import NIOCore

extension BlobStoreContract {
    /// Sizes at and beside the limits of files, parts and requests.
    private static let sizes: [Int64] = [
        0, 1, 2, 65_521, 512 << 10, (512 << 10) + 1, (1 << 20) + 3, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 16 << 20,
        (16 << 20) + 1, (24 << 20) + 7,
    ]

    static let sizeCases: [Case] =
        sizes.map { size in
            Case("\(size) bytes are written and read") { subject in
                let sample = BlobSample(size)
                let name = try await subject.write(sample)
                try expect(try await subject.blobs.byteCount(of: name), is: size)
                try await subject.expectBytes(name, are: sample)
                try await subject.expectNothingUnfinished()
            }
        } + [
            Case("digests match published test vectors") { subject in
                // FIPS 180-2, appendix B, and the digest of no bytes.
                let texts = [
                    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                    "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    String(repeating: "a", count: 1_000_000):
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                ]
                for (text, sha256) in texts {
                    let bytes = BlobBytes.once(ByteBuffer(string: text))
                    let data = try await subject.blobs.write(Subject.name(), bytes) { _ in }
                    try expect(
                        data, is: AttachmentData(byteCount: Int64(text.utf8.count), sha256: sha256))
                }
            },
            Case("bytes may arrive in pieces of any size, including empty ones") { subject in
                let small = BlobSample(3_000)
                try await subject.expectBytes(try await subject.write(small, pieces: 1), are: small)
                let large = BlobSample((17 << 20) + 5)
                try await subject.expectBytes(try await subject.write(large, pieces: 1 << 30), are: large)
                try await subject.expectBytes(try await subject.write(large, pieces: (8 << 20) + 1), are: large)
                let name = Subject.name()
                let pieces = [
                    ByteBuffer(), ByteBuffer(string: "ab"), ByteBuffer(), ByteBuffer(string: "c"), ByteBuffer(),
                ]
                let data = try await subject.blobs.write(name, BlobBytes.each(pieces)) { _ in }
                try expect(data.byteCount, is: 3)
                try expect(try await subject.blobs.byteCount(of: name), is: 3)
            },
        ]

    static let readingCases: [Case] = [
        Case("any range of a blob can be read") { subject in
            let sample = BlobSample((17 << 20) + 11)
            let name = try await subject.write(sample)
            let end = sample.byteCount
            let ranges: [Range<Int64>] = [
                0..<0, 0..<1, 0..<2, end - 1..<end, end..<end, 5..<5, (512 << 10) - 1..<(512 << 10) + 1,
                (8 << 20) - 3..<(8 << 20) + 3, (8 << 20)..<(16 << 20), 70_000..<16_900_000, 1..<end, 0..<end - 1,
            ]
            for range in ranges { try await subject.expectBytes(name, are: sample, in: range) }
        },
        Case("an empty blob has no bytes") { subject in
            let name = try await subject.write(BlobSample(0))
            try await subject.expectBytes(name, are: BlobSample(0))
            try expect(try await subject.blobs.byteCount(of: name), is: 0)
        },
        Case("reading a missing blob throws an error") { subject in
            try await subject.expectNothing(Subject.name())
            let (name, other) = (Subject.name(), Subject.name())
            try await subject.write(BlobSample(9), other)
            try await subject.expectNothing(name)
            do {
                _ = try await subject.blobs.read(name, 0..<0)
                throw Violation(description: "an empty range of a missing blob was read")
            } catch is BlobMissing {}
        },
        Case("two blobs of one attachment are independent") { subject in
            let first = Subject.name()
            let second = BlobName(scope: first.scope, attachment: first.attachment)
            try await subject.write(BlobSample(10), first)
            try await subject.write(BlobSample(20), second)
            try await subject.blobs.remove(first)
            try await subject.expectNothing(first)
            try await subject.expectBytes(second, are: BlobSample(20))
        },
        Case("a blob can be removed repeatedly") { subject in
            for size: Int64 in [0, 100, large] {
                let name = try await subject.write(BlobSample(size))
                try await subject.blobs.remove(name)
                try await subject.expectNothing(name)
                try await subject.blobs.remove(name)
            }
            try await subject.blobs.remove(Subject.name())
            // New blobs can be written in the same scope.
            try await subject.expectBytes(try await subject.write(BlobSample(5)), are: BlobSample(5))
        },
    ]
}

extension BlobBytes {
    static func once(_ buffer: ByteBuffer) -> AsyncStream<ByteBuffer> { each([buffer]) }

    static func each(_ buffers: [ByteBuffer]) -> AsyncStream<ByteBuffer> {
        AsyncStream { stream in
            for buffer in buffers { stream.yield(buffer) }
            stream.finish()
        }
    }
}
