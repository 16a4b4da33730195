import HesperModel
import HesperStore

extension StoreContract {
    static let blobCases: [Case] = [
        Case("an attachment is there once its bytes are, and has what they are known by") { (desk: Desk) in
            let picture = UniqueID.random()
            let early = try await desk.push(desk.attachment(picture))
            try expect(early.receipts.first?.problem?.slug, is: .attachmentDataMissing)
            try expect(try await desk.state(picture), is: nil)
            let data = AttachmentData(byteCount: 1 << 40, sha256: String(repeating: "0f", count: 32))
            try await desk.bytesArrive(for: picture, data)
            try await desk.push(desk.attachment(picture))
            guard case .entity(.attachment(let attachment), _)? = try await desk.state(picture) else {
                throw Violation(description: "there is no attachment")
            }
            try expect(attachment[.byteCount], is: .integer(data.byteCount))
            try expect(attachment[.sha256], is: .string(data.sha256))
        },
        Case("bytes are found by their attachment, in their own scope") { (desk: Desk) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            try await desk.bytesArrive(for: first)
            try await desk.bytesArrive(for: second)
            let other = try await Desk(on: desk.store, email: "eve@example.com")
            let found = try unwrap(try await desk.blob(first), "the blob")
            try expect(found.name.scope, is: desk.scope)
            try expect(found.name.attachment, is: first)
            try expect(found.data, is: Desk.data)
            try expect(found.arrivalDate, is: Desk.now)
            try expect(try await other.blob(first), is: nil)
            try expect(try await desk.blob(.random()), is: nil)
            try expect(try await desk.blobs().map(\.name.attachment), is: [first, second])
            try expect(try await other.blobs(), is: [])
        },
        Case("the bytes of one attachment arrive once") { (desk: Desk) in
            let picture = UniqueID.random()
            try await desk.bytesArrive(for: picture)
            let first = try await desk.blob(picture)
            do {
                try await desk.bytesArrive(for: picture)
                throw Violation(description: "they arrived twice")
            } catch is StoreError {}
            try expect(try await desk.blob(picture), is: first)
        },
        Case("counts the bytes of attachments as they come and go") { (desk: Desk) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            func bytes() async throws -> Int64 {
                try await desk.read { try $0.usage(of: desk.scope).storage.attachmentBytes }
            }
            try expect(try await bytes(), is: 0)
            try await desk.bytesArrive(for: first, AttachmentData(byteCount: 5 << 30, sha256: Desk.data.sha256))
            try await desk.bytesArrive(for: second)
            try expect(try await bytes(), is: 5 << 30 | 3)
            try await desk.push(desk.attachment(first), desk.attachment(second))
            try await desk.push(desk.delete(first, .attachment))
            try expect(try await bytes(), is: 3)
            try expect(try await desk.blob(first), is: nil)
            // Deleted before it ever was an attachment.
            let third = UniqueID.random()
            try await desk.bytesArrive(for: third)
            try await desk.push(desk.delete(third, .attachment))
            try expect(try await bytes(), is: 3)
            // Deleted as something else, before it ever was an attachment.
            for type in [ObjectType.note, .tag, ObjectType("board") ?? .note] {
                let fourth = UniqueID.random()
                try await desk.bytesArrive(for: fourth)
                try await desk.push(desk.delete(fourth, type))
                try expect(try await desk.blob(fourth), is: nil)
            }
            try expect(try await bytes(), is: 3)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("keeps uploads until they are deleted, each in its scope") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "eve@example.com")
            var upload = Upload(
                uniqueID: .random(), attachment: .random(), length: nil, sha256: Desk.data.sha256,
                creationDate: Desk.date(5))
            let plain = Upload(
                uniqueID: .random(), attachment: upload.attachment, length: 1 << 40, sha256: nil,
                creationDate: Desk.date(6))
            try await desk.store.write { [upload] in
                try $0.insert(upload, in: desk.scope)
                try $0.insert(plain, in: desk.scope)
            }
            try expect(try await desk.upload(upload.uniqueID), is: upload)
            try expect(try await desk.upload(plain.uniqueID), is: plain)
            try expect(try await other.upload(upload.uniqueID), is: nil)
            try expect(try await desk.read { try $0.openUploads(of: desk.scope) }.count, is: 2)
            upload.length = 9
            upload.isFinished = true
            try await desk.store.write { [upload] in try $0.update(upload, in: desk.scope) }
            try expect(try await desk.upload(upload.uniqueID), is: upload)
            try expect(try await desk.read { try $0.openUploads(of: desk.scope) }, is: [plain])
            let id = upload.uniqueID
            try expect(try await desk.store.write { try $0.deleteUpload(id, in: other.scope) }, is: false)
            try expect(try await desk.store.write { try $0.deleteUpload(id, in: desk.scope) }, is: true)
            try expect(try await desk.upload(id), is: nil)
        },
    ]
}

extension Desk {
    func attachment(_ id: UniqueID) -> Push.Element {
        change(id, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)])
    }

    func blob(_ attachment: UniqueID) async throws -> Blob? {
        try await store.read { try $0.blob(of: attachment, in: scope) }
    }

    func blobs() async throws -> [Blob] {
        try await store.read { snapshot in
            var found: [Blob] = []
            try snapshot.blobs(of: scope) { found.append($0) }
            return found
        }
    }

    func upload(_ id: UniqueID) async throws -> Upload? {
        try await store.read { try $0.upload(id, in: scope) }
    }
}
