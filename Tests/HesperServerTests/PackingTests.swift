import HTTPTypes
import HesperModel
import NIOCore
import Testing

@testable import HesperServer

/// Compression of answers and of requests (protocol.md, HTTP rules).
@Suite struct PackingTests {
    @Test(
        arguments: [
            (nil, nil), ("", nil), ("gzip", .gzip), ("deflate", .deflate), ("deflate, gzip", .gzip), ("GZIP", .gzip),
            ("x-gzip", .gzip), ("gzip;q=0.5, deflate", .deflate), ("gzip;q=0", nil), ("gzip; q=0.0, deflate;q=0", nil),
            ("*", .gzip), ("*;q=0", nil), ("gzip;q=0, *", .deflate), ("br, zstd", nil), ("identity", nil),
            ("br;q=1.0, gzip;q=0.8, *;q=0.1", .gzip), ("gzip;q=x", nil), (",;,", nil),
        ] as [(String?, ContentCoding?)]) func theClientChoosesTheCoding(_ header: String?, _ coding: ContentCoding?)
    {
        #expect(ContentCoding.wanted(by: header) == coding)
    }

    private static let text = String(repeating: "All work and no play. ", count: 5_000)

    private static func packed(_ coding: ContentCoding, _ text: String = text) -> ByteBuffer {
        let packer = Packer(coding)
        var bytes = packer.pack(ByteBuffer(string: text))
        bytes.writeImmutableBuffer(packer.finish())
        return bytes
    }

    @Test(arguments: ContentCoding.allCases) func whatIsPackedComesOutAgainInAnyPieces(_ coding: ContentCoding) throws {
        var packed = PackingTests.packed(coding)
        #expect(packed.readableBytes < PackingTests.text.utf8.count / 20)
        let unpacker = Unpacker(coding)
        var body = ByteBuffer()
        while let piece = packed.readSlice(length: min(7, packed.readableBytes)), piece.readableBytes > 0 {
            #expect(try unpacker.unpack(piece, into: &body, limit: 1 << 20))
        }
        try unpacker.finish()
        #expect(String(buffer: body) == PackingTests.text)
    }

    @Test(arguments: ContentCoding.allCases) func aBombIsNotUnpacked(_ coding: ContentCoding) throws {
        let bomb = PackingTests.packed(coding, String(repeating: "\0", count: 50_000_000))
        #expect(bomb.readableBytes < 300_000)
        let unpacker = Unpacker(coding)
        var body = ByteBuffer()
        #expect(try !unpacker.unpack(bomb, into: &body, limit: 1 << 20))
        #expect(body.readableBytes < 4 << 20, "it stops soon after the limit")
    }

    @Test(arguments: ContentCoding.allCases) func exactlyTheLimitIsWithinIt(_ coding: ContentCoding) throws {
        let size = PackingTests.text.utf8.count
        for (limit, isWithin) in [(size, true), (size - 1, false)] {
            var body = ByteBuffer()
            #expect(try Unpacker(coding).unpack(PackingTests.packed(coding), into: &body, limit: limit) == isWithin)
        }
    }

    @Test(arguments: ContentCoding.allCases) func whatIsNotPackedIsRefused(_ coding: ContentCoding) throws {
        var cut = PackingTests.packed(coding)
        cut.moveWriterIndex(to: cut.writerIndex - 1)
        let unpacker = Unpacker(coding)
        var body = ByteBuffer()
        #expect(try unpacker.unpack(cut, into: &body, limit: 1 << 20))
        #expect(throws: Problem.self) { try unpacker.finish() }
        // Something behind the end, in the same piece and in the next; another coding; no coding.
        var more = PackingTests.packed(coding)
        more.writeString("more")
        #expect(throws: Problem.self) { _ = try Unpacker(coding).unpack(more, into: &body, limit: 1 << 20) }
        let ended = Unpacker(coding)
        var rest = ByteBuffer()
        #expect(try ended.unpack(PackingTests.packed(coding), into: &rest, limit: 1 << 20))
        #expect(throws: Problem.self) { _ = try ended.unpack(ByteBuffer(string: "more"), into: &rest, limit: 1 << 20) }
        let other = PackingTests.packed(coding == .gzip ? .deflate : .gzip)
        #expect(throws: Problem.self) { _ = try Unpacker(coding).unpack(other, into: &body, limit: 1 << 20) }
        #expect(throws: Problem.self) {
            let unpacker = Unpacker(coding)
            _ = try unpacker.unpack(ByteBuffer(string: "{}"), into: &body, limit: 1 << 20)
            try unpacker.finish()
        }
    }
}
