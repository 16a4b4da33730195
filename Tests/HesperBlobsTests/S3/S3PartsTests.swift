import HesperModel
import NIOCore
import StoreContract
import Testing

@testable import HesperBlobs

@Suite struct S3PartsTests {
    /// The first two parts have 3 bytes, the others 10. There are at most five.
    private func parts(_ byteCount: Int, pieces: Int) -> S3Parts<BlobPieces> {
        S3Parts(BlobSample(Int64(byteCount)).pieces(of: pieces)) { $0 > 5 ? nil : $0 > 2 ? 10 : 3 }
    }

    @Test(
        arguments: [
            (0, [0]), (1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1]), (16, [3, 3, 10]),
            (17, [3, 3, 10, 1]),
            (36, [3, 3, 10, 10, 10]),
        ], [1, 2, 3, 7, 100]) func haveTheMaximumSize(_ sample: (Int, [Int]), pieces: Int) async throws
    {
        var parts = parts(sample.0, pieces: pieces)
        var bytes = ByteBuffer()
        var sizes: [Int] = []
        while let (part, isLast) = try await parts.next() {
            sizes.append(part.readableBytes)
            bytes.writeImmutableBuffer(part)
            #expect(isLast == (bytes.readableBytes == sample.0))
        }
        #expect(sizes == sample.1)
        #expect(bytes == BlobSample(Int64(sample.0))[0..<Int64(sample.0)])
        #expect(parts.data == BlobSample(Int64(sample.0)).data)
    }

    @Test func numberOfPartsIsLimited() async throws {
        var parts = parts(37, pieces: 5)
        for _ in 0..<5 { _ = try await parts.next() }
        await #expect(throws: S3TooManyParts.self) { _ = try await parts.next() }
    }

    @Test func sizeGrowsAfterAThousandParts() {
        #expect(S3PartSize.size(ofPart: 1) == 8 << 20)
        #expect(S3PartSize.size(ofPart: 1_000) == 8 << 20)
        #expect(S3PartSize.size(ofPart: 1_001) == 64 << 20)
        #expect(S3PartSize.size(ofPart: 10_000) == 64 << 20)
        #expect(S3PartSize.size(ofPart: 10_001) == nil)
    }
}
