import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

private typealias Attachment = HesperClient.Attachment

/// Attachments whose bytes are stored in pieces, and that are added in a transaction.
struct StoreAttachmentBytesTests {
    /// Returns bytes in pieces.
    private final class Pieces: @unchecked Sendable {
        // Only one task reads.
        private var rest: [UInt8]
        init(_ bytes: [UInt8]) { rest = bytes }

        func next() -> [UInt8]? {
            let piece = Array(rest.prefix(max(4, rest.count / 2)))
            rest.removeFirst(piece.count)
            return piece.isEmpty ? nil : piece
        }
    }

    private func add(_ bytes: [UInt8], _ id: Attachment.ID, to store: LocalStore) async throws -> AttachmentData {
        let pieces = Pieces(bytes)
        return try await store.addBytes(of: id) { pieces.next() }
    }

    @Test func anAttachmentIsAddedWithOtherValuesAndSent() async throws {
        let server = MemoryServer()
        let (phone, laptop) = (try await server.openStore(), try await server.openStore())
        try await phone.signUp(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        try await laptop.signIn(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        #expect(try await phone.largestAttachment() == 100 << 20)
        let note = try await phone.insert(Note(text: "Soup"))
        let id = Attachment.ID()
        let data = try await add(Array("leek soup".utf8), id, to: phone)
        #expect(data.byteCount == 9)
        #expect(
            try await phone.write { tx in
                try tx.setLocal("file", Data(id.description.utf8))
                return try tx.attach(id, to: note.id, file: id, data, filename: "pics/soup.png")
            })
        let unsent = try await phone.read { try $0.state(of: id) }
        #expect(unsent.hasBytes && !unsent.isSent)
        await phone.syncNow()
        await laptop.syncNow()
        #expect(try await phone.read { try $0.state(of: id).isSent })
        let attachment = try #require(try await laptop.get(id))
        #expect(attachment.filename == "pics/soup.png" && attachment.mimeType == "image/png")
        let reader = try #require(try await laptop.bytes(of: id))
        #expect(try reader.read(at: 5, count: 100) == Array("soup".utf8))
    }

    @Test func attachmentsShareBytesAndReturn() async throws {
        let server = MemoryServer()
        let store = try await server.openStore()
        try await store.signUp(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        let note = try await store.insert(Note(text: "Soup"))
        let (id, other) = (Attachment.ID(), Attachment.ID())
        let data = try await add([1, 2, 3, 4, 5], id, to: store)
        let areAdded = try await store.write { tx in
            (
                try tx.attach(id, to: note.id, file: id, data, filename: "a.png"),
                try tx.attach(other, to: note.id, file: id, data, filename: "b.png")
            )
        }
        #expect(areAdded == (true, true))
        await store.syncNow()
        #expect(try await store.data(of: other) == Data([1, 2, 3, 4, 5]))
        #expect(store.status.phase == .synced)
        try await store.update(note.id) { $0.attachments.remove(id) }
        let isAdded = try await store.write { tx in
            (
                try tx.attach(id, to: note.id, file: id, data, filename: "c.png"),
                try tx.attach(id, to: note.id, file: id, data, filename: "a.png")
            )
        }
        #expect(isAdded == (false, true))
        #expect(try await store.get(note.id)?.attachments.count == 2)
        // An ID of a deleted attachment is not used again.
        try await store.update(note.id) { $0.attachments.remove(id) }
        try await store.delete(id)
        try await store.sendDeletionsNow()
        await store.syncNow()
        #expect(try await store.write { try $0.attach(id, to: note.id, file: other, data, filename: "a.png") } == false)
    }

    @Test func largeAttachmentsAreDownloadedWhenTheyAreWanted() async throws {
        let server = MemoryServer()
        let (phone, laptop) = (try await server.openStore(), try await server.openStore())
        try await phone.signUp(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        try await laptop.signIn(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        let note = try await phone.insert(Note(text: "Soup"))
        let id = Attachment.ID()
        let data = try await add([UInt8](repeating: 1, count: 5 << 20), id, to: phone)
        try await phone.write { _ = try $0.attach(id, to: note.id, file: id, data, filename: "soup.bin") }
        await phone.syncNow()
        await laptop.syncNow()
        #expect(try await laptop.bytes(of: id) == nil)
        try await laptop.wantBytes(of: id)
        await laptop.syncNow()
        #expect(try await laptop.bytes(of: id) != nil)
    }

    @Test func bytesThatNoAttachmentHasAreRemoved() async throws {
        let server = MemoryServer()
        let (phone, laptop) = (try await server.openStore(), try await server.openStore())
        try await phone.signUp(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        try await laptop.signIn(to: "https://a.example", email: "ada@example.org", password: "correct horse battery")
        let note = try await phone.insert(Note(text: "Soup"))
        let (id, shared, unused) = (Attachment.ID(), Attachment.ID(), Attachment.ID())
        let data = try await add([1, 2, 3], shared, to: phone)
        _ = try await add([4], unused, to: phone)
        try await phone.write { _ = try $0.attach(id, to: note.id, file: shared, data, filename: "a.png") }
        await phone.syncNow()
        await laptop.syncNow()
        for store in [phone, laptop] { try await store.removeUnusedBytes() }
        #expect(try phone.files.list().keys.sorted() == [shared.uniqueID])
        #expect(try await phone.data(of: id) == Data([1, 2, 3]))
        #expect(try await laptop.data(of: id) == Data([1, 2, 3]))
    }
}
