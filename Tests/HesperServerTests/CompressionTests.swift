import HTTPTypes
import HesperModel
import NIOCore
import Testing

@testable import HesperServer

/// Compression of responses and requests (protocol.md, HTTP rules).
@Suite struct CompressionTests {
    @Test(
        arguments: [
            (nil, nil), ("", nil), ("gzip", .gzip), ("deflate", .deflate), ("deflate, gzip", .gzip), ("GZIP", .gzip),
            ("x-gzip", .gzip), ("gzip;q=0.5, deflate", .deflate), ("gzip;q=0", nil), ("gzip; q=0.0, deflate;q=0", nil),
            ("*", .gzip), ("*;q=0", nil), ("gzip;q=0, *", .deflate), ("br, zstd", nil), ("identity", nil),
            ("br;q=1.0, gzip;q=0.8, *;q=0.1", .gzip), ("gzip;q=x", nil), (",;,", nil),
        ] as [(String?, ContentCoding?)]) func acceptEncodingChoosesTheCoding(
            _ header: String?, _ coding: ContentCoding?
        )
    {
        #expect(ContentCoding.preferred(by: header) == coding)
    }

    private static let text = String(repeating: "All work and no play. ", count: 5_000)

    private static func compressed(_ coding: ContentCoding, _ text: String = text) -> ByteBuffer {
        let compressor = Compressor(coding)
        var bytes = compressor.compress(ByteBuffer(string: text))
        bytes.writeImmutableBuffer(compressor.finish())
        return bytes
    }

    @Test(arguments: ContentCoding.allCases) func decompressesInPiecesOfAnySize(_ coding: ContentCoding) throws {
        var compressed = CompressionTests.compressed(coding)
        #expect(compressed.readableBytes < CompressionTests.text.utf8.count / 20)
        let decompressor = Decompressor(coding)
        var body = ByteBuffer()
        while let piece = compressed.readSlice(length: min(7, compressed.readableBytes)), piece.readableBytes > 0 {
            #expect(try decompressor.decompress(piece, into: &body, limit: 1 << 20))
        }
        try decompressor.finish()
        #expect(String(buffer: body) == CompressionTests.text)
    }

    @Test(arguments: ContentCoding.allCases) func aBombIsNotDecompressed(_ coding: ContentCoding) throws {
        let bomb = CompressionTests.compressed(coding, String(repeating: "\0", count: 50_000_000))
        #expect(bomb.readableBytes < 300_000)
        let decompressor = Decompressor(coding)
        var body = ByteBuffer()
        #expect(try !decompressor.decompress(bomb, into: &body, limit: 1 << 20))
        #expect(body.readableBytes < 4 << 20, "decompression stops soon after the limit")
    }

    @Test(arguments: ContentCoding.allCases) func aBodyOfExactlyTheLimitIsAccepted(_ coding: ContentCoding) throws {
        let size = CompressionTests.text.utf8.count
        for (limit, isWithin) in [(size, true), (size - 1, false)] {
            var body = ByteBuffer()
            #expect(
                try Decompressor(coding).decompress(CompressionTests.compressed(coding), into: &body, limit: limit)
                    == isWithin)
        }
    }

    @Test(arguments: ContentCoding.allCases) func invalidDataIsRefused(_ coding: ContentCoding) throws {
        var cut = CompressionTests.compressed(coding)
        cut.moveWriterIndex(to: cut.writerIndex - 1)
        let decompressor = Decompressor(coding)
        var body = ByteBuffer()
        #expect(try decompressor.decompress(cut, into: &body, limit: 1 << 20))
        #expect(throws: Problem.self) { try decompressor.finish() }
        // Data after the end, in the same piece and in the next; another coding; no coding.
        var more = CompressionTests.compressed(coding)
        more.writeString("more")
        #expect(throws: Problem.self) { _ = try Decompressor(coding).decompress(more, into: &body, limit: 1 << 20) }
        let ended = Decompressor(coding)
        var rest = ByteBuffer()
        #expect(try ended.decompress(CompressionTests.compressed(coding), into: &rest, limit: 1 << 20))
        #expect(throws: Problem.self) {
            _ = try ended.decompress(ByteBuffer(string: "more"), into: &rest, limit: 1 << 20)
        }
        let other = CompressionTests.compressed(coding == .gzip ? .deflate : .gzip)
        #expect(throws: Problem.self) { _ = try Decompressor(coding).decompress(other, into: &body, limit: 1 << 20) }
        #expect(throws: Problem.self) {
            let decompressor = Decompressor(coding)
            _ = try decompressor.decompress(ByteBuffer(string: "{}"), into: &body, limit: 1 << 20)
            try decompressor.finish()
        }
    }
}
