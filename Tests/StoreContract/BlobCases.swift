import HesperModel
import HesperStore

extension StoreContract {
    static let blobCases: [Case] = [
        Case("an attachment can be created once its bytes are recorded, and has their size and digest") {
            (client: Client) in
            let picture = UniqueID.random()
            let early = try await client.push(client.attachment(picture))
            try expect(early.receipts.first?.problem?.slug, is: .attachmentDataMissing)
            try expect(try await client.state(picture), is: nil)
            let data = AttachmentData(byteCount: 1 << 40, sha256: String(repeating: "0f", count: 32))
            try await client.bytesArrive(for: picture, data)
            try await client.push(client.attachment(picture))
            guard case .entity(.attachment(let attachment), _)? = try await client.state(picture) else {
                throw Violation(description: "the attachment does not exist")
            }
            try expect(attachment[.byteCount], is: .integer(data.byteCount))
            try expect(attachment[.sha256], is: .string(data.sha256))
        },
        Case("bytes are found by their attachment in its scope") { (client: Client) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            try await client.bytesArrive(for: first)
            try await client.bytesArrive(for: second)
            let other = try await Client(on: client.store, email: "eve@example.com")
            let found = try unwrap(try await client.blob(first), "the blob")
            try expect(found.name.scope, is: client.scope)
            try expect(found.name.attachment, is: first)
            try expect(found.data, is: Client.data)
            try expect(found.arrivalDate, is: Client.now)
            try expect(try await other.blob(first), is: nil)
            try expect(try await client.blob(.random()), is: nil)
            try expect(try await client.blobs().map(\.name.attachment), is: [first, second])
            try expect(try await other.blobs(), is: [])
        },
        Case("the bytes of an attachment can be recorded only once") { (client: Client) in
            let picture = UniqueID.random()
            try await client.bytesArrive(for: picture)
            let first = try await client.blob(picture)
            do {
                try await client.bytesArrive(for: picture)
                throw Violation(description: "they were recorded twice")
            } catch is StoreError {}
            try expect(try await client.blob(picture), is: first)
        },
        Case("the size of all attachments is updated when bytes are recorded and deleted") { (client: Client) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            func bytes() async throws -> Int64 {
                try await client.read { try $0.usage(of: client.scope).storage.attachmentBytes }
            }
            try expect(try await bytes(), is: 0)
            try await client.bytesArrive(for: first, AttachmentData(byteCount: 5 << 30, sha256: Client.data.sha256))
            try await client.bytesArrive(for: second)
            try expect(try await bytes(), is: 5 << 30 | 3)
            try await client.push(client.attachment(first), client.attachment(second))
            try await client.push(client.delete(first, .attachment))
            try expect(try await bytes(), is: 3)
            try expect(try await client.blob(first), is: nil)
            // Deleted before the attachment was created.
            let third = UniqueID.random()
            try await client.bytesArrive(for: third)
            try await client.push(client.delete(third, .attachment))
            try expect(try await bytes(), is: 3)
            // Deleted as an object of another type, before the attachment was created.
            for type in [ObjectType.note, .tag, ObjectType("board") ?? .note] {
                let fourth = UniqueID.random()
                try await client.bytesArrive(for: fourth)
                try await client.push(client.delete(fourth, type))
                try expect(try await client.blob(fourth), is: nil)
            }
            try expect(try await bytes(), is: 3)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("uploads are stored per scope until they are deleted") { (client: Client) in
            let other = try await Client(on: client.store, email: "eve@example.com")
            var upload = Upload(
                uniqueID: .random(), attachment: .random(), length: nil, sha256: Client.data.sha256,
                creationDate: Client.date(5))
            let plain = Upload(
                uniqueID: .random(), attachment: upload.attachment, length: 1 << 40, sha256: nil,
                creationDate: Client.date(6))
            try await client.store.write { [upload] in
                try $0.insert(upload, in: client.scope)
                try $0.insert(plain, in: client.scope)
            }
            try expect(try await client.upload(upload.uniqueID), is: upload)
            try expect(try await client.upload(plain.uniqueID), is: plain)
            try expect(try await other.upload(upload.uniqueID), is: nil)
            try expect(try await client.read { try $0.openUploads(of: client.scope) }.count, is: 2)
            upload.length = 9
            upload.isFinished = true
            try await client.store.write { [upload] in try $0.update(upload, in: client.scope) }
            try expect(try await client.upload(upload.uniqueID), is: upload)
            try expect(try await client.read { try $0.openUploads(of: client.scope) }, is: [plain])
            let id = upload.uniqueID
            try expect(try await client.store.write { try $0.deleteUpload(id, in: other.scope) }, is: false)
            try expect(try await client.store.write { try $0.deleteUpload(id, in: client.scope) }, is: true)
            try expect(try await client.upload(id), is: nil)
        },
    ]
}

extension Client {
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
