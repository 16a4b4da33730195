import HesperClient
import HesperModel
import Testing

@Suite struct TransferDownloadTests {
    @Test func aFileComesInPieces() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.receive(bytes)
        try bench.step(.changed)
        #expect(bench.status.toFetch == .init(objects: 1, bytes: 2_500))
        try bench.run()
        #expect(bench.trace == ["GET data 0", "GET data 1000", "GET data 2000"])
        #expect(bench.requests[2].headers["range"] == "bytes=2000-2499")
        #expect(try bench.content(id) == bytes)
        #expect(try bench.database.read { try $0.hasBytes(id) })
        #expect(bench.effects == [.downloaded(id)])
        #expect(bench.status == TransferStatus())
    }

    @Test func anEmptyFileNeedsNoRequest() throws {
        let bench = try TransferBench()
        let id = try bench.receive([])
        try bench.step(.changed)
        try bench.run()
        #expect(bench.requests.isEmpty)
        #expect(try bench.content(id) == [])
        #expect(bench.effects == [.downloaded(id)])
    }

    @Test func aDownloadContinuesAfterARestart() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(3_500)
        let id = try bench.receive(bytes)
        try bench.step(.changed)
        for _ in 0..<2 { _ = try bench.advance(until: bench.now) }
        bench.forget()
        try bench.restart()
        try bench.run()
        #expect(bench.trace == ["GET data 2000", "GET data 3000"])
        #expect(try bench.content(id) == bytes)
    }

    @Test func attachmentsFromBeforeTheTableAreDownloaded() throws {
        let bench = try TransferBench()
        let database = try LocalDatabase(path: nil, now: { [now = bench.now] in now })
        var object = LocalObject(id: .random(), type: TypeName.attachment)
        object.fixed = ["mimeType": "image/png", "byteCount": 3, "sha256": "00"].mapValues { (json: JSON) in
            Value(scalar: json) ?? .null
        }
        try database.write { try $0.save(object) }
        var core = TransferCore(seed: 1)
        let effects = try database.write { try core.step(.start(token: "x"), $0, bench.files) }
        #expect(effects.contains { if case .send(_, let request) = $0 { request.method == "GET" } else { false } })
    }

    @Test func damagedBytesAreDownloadedAgain() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.receive(bytes)
        var isFirst = true
        bench.fault = { [unowned bench] request in
            guard TransferBench.describe(request) == "GET data 1000", isFirst else { return .none }
            isFirst = false
            var response = bench.server.respond(request)
            response.body[7] ^= 1
            return .response(response)
        }
        try bench.step(.changed)
        try bench.run()
        #expect(try bench.files.file(id) == nil)
        #expect(bench.effects.isEmpty)
        try bench.run(seconds: 60)
        #expect(try bench.content(id) == bytes)
        #expect(bench.trace.filter { $0 == "GET data 0" }.count == 2)
    }

    @Test func aProxyThatIgnoresRanges() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.receive(bytes)
        bench.fault = { request in
            TransferBench.describe(request) == "GET data 1000"
                ? .response(ServerResponse(status: 200, body: bytes)) : .none
        }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.trace == ["GET data 0", "GET data 1000"])
        #expect(try bench.content(id) == bytes)
    }

    @Test(arguments: [
        ServerResponse(status: 206, headers: ["content-range": "bytes 5-9/10"], body: [1, 2, 3, 4, 5]),
        ServerResponse(status: 206, headers: ["content-range": "bytes 0-9/11"], body: [UInt8](repeating: 1, count: 10)),
        ServerResponse(status: 206, headers: ["content-range": "bytes 0-9/10"], body: []),
        ServerResponse(status: 206, headers: ["content-range": "bytes 0-9/10"], body: [UInt8](repeating: 1, count: 11)),
        ServerResponse(status: 206, body: [UInt8](repeating: 1, count: 10)),
        ServerResponse(status: 200, body: Array("<html>".utf8)), ServerResponse(status: 302),
        TransferServer.problem(416, "range-not-satisfiable"), TransferServer.problem(404, "not-found"),
        TransferServer.problem(500, "internal-error"), ServerResponse(status: 400, body: Array("Bad Request".utf8)),
    ])
    func unexpectedResponsesAreRetriedLater(response: ServerResponse) throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(10)
        let id = try bench.receive(bytes)
        bench.fault = { [unowned bench] _ in bench.requests.count == 1 ? .response(response) : .none }
        try bench.step(.changed)
        try bench.run(seconds: 4)
        #expect(bench.requests.count == 1)
        #expect(try bench.content(id) == nil)
        #expect(bench.status.problem != nil)
        try bench.run(seconds: 7)
        #expect(try bench.content(id) == bytes)
        #expect(bench.status == TransferStatus())
    }

    @Test func aDeletedAttachmentIsForgotten() throws {
        let bench = try TransferBench()
        let id = try bench.receive(TransferBench.bytes(2_500))
        bench.fault = { [unowned bench] _ in
            bench.requests.count == 2 ? .response(TransferServer.problem(410, "deleted")) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 3_600)
        #expect(bench.requests.count == 2)
        #expect(try bench.files.file(id) == nil)
        #expect(bench.status == TransferStatus())
    }

    @Test func anAttachmentIsDeletedWhileItComes() throws {
        let bench = try TransferBench()
        let id = try bench.receive(TransferBench.bytes(2_500))
        try bench.step(.changed)
        _ = try bench.advance(until: bench.now)
        try bench.delete(id)
        try bench.run(seconds: 3_600)
        #expect(bench.requests.count == 2)
        #expect(try bench.files.list().isEmpty)
        #expect(bench.status == TransferStatus())
    }

    @Test func aFileIsDeletedWithItsLastAttachment() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(10)
        let id = try bench.receive(bytes)
        let copy = try bench.receive(bytes)
        try bench.database.write { try $0.setBytes(of: copy, file: id, byteCount: 10) }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.trace == ["GET data 0"], "the copy has the same file")
        #expect(try bench.files.list().count == 1)
        try bench.delete(id)
        try bench.step(.changed)
        #expect(try bench.content(id) == bytes)
        try bench.delete(copy)
        try bench.step(.changed)
        #expect(try bench.files.list().isEmpty)
    }

    @Test func aFullDisk() throws {
        let bench = try TransferBench(files: MemoryAttachmentFiles(capacity: 1_500))
        let large = try bench.receive(TransferBench.bytes(2_500))
        try bench.step(.changed)
        try bench.run()
        #expect(bench.status.problem == .diskFull)
        #expect(bench.requests.count == 2)
        #expect(try bench.files.file(large)?.byteCount == 1_000)
        try bench.run(seconds: 3_600)
        #expect((8...16).contains(bench.requests.count))
        try bench.files.delete(large)
        try bench.delete(large)
        let small = try bench.receive(TransferBench.bytes(900))
        try bench.step(.retryNow)
        try bench.run()
        #expect(try bench.content(small) != nil)
        #expect(bench.status == TransferStatus())
    }

    // MARK: Order

    @Test func largeFilesComeOnlyIfTheAppWantsThem() throws {
        var policy = TransferTable.Policy()
        policy.pictureBytes = 100
        policy.otherBytes = 10
        let bench = try TransferBench(policy: policy)
        let picture = try bench.receive(TransferBench.bytes(100))
        let largePicture = try bench.receive(TransferBench.bytes(101))
        let sound = try bench.receive(TransferBench.bytes(10), mimeType: "audio/mpeg")
        let largeSound = try bench.receive(TransferBench.bytes(11), mimeType: "audio/mpeg")
        try bench.step(.changed)
        #expect(bench.status.toFetch == .init(objects: 2, bytes: 110))
        try bench.run(seconds: 3_600)
        #expect(bench.effects == [.downloaded(picture), .downloaded(sound)])
        for id in [largePicture, largeSound] { try bench.database.write { try TransferTable($0).want(id) } }
        try bench.step(.changed)
        #expect(bench.status.toFetch == .init(objects: 2, bytes: 112))
        try bench.run()
        // What was wanted last comes first.
        #expect(bench.effects.suffix(2) == [.downloaded(largeSound), .downloaded(largePicture)])
    }

    @Test func aFileThatIsWantedOvertakes() throws {
        let bench = try TransferBench()
        let first = try bench.receive(TransferBench.bytes(5_000))
        let second = try bench.receive(TransferBench.bytes(1_500))
        try bench.step(.changed)
        _ = try bench.advance(until: bench.now)
        try bench.database.write { try TransferTable($0).want(second) }
        try bench.run()
        #expect(bench.effects == [.downloaded(second), .downloaded(first)])
        #expect(bench.requests.count == 7, "the first file continues where it was")
    }

    @Test func textsComeBeforeBytes() throws {
        let bench = try TransferBench()
        try bench.step(.isSyncing(true))
        let first = try bench.receive(TransferBench.bytes(10))
        let wanted = try bench.receive(TransferBench.bytes(20))
        let mine = try bench.attach(TransferBench.bytes(30))
        try bench.database.write { try TransferTable($0).want(wanted) }
        try bench.step(.changed)
        try bench.run(seconds: 60)
        #expect(bench.effects == [.downloaded(wanted)])
        try bench.step(.isSyncing(false))
        try bench.run()
        #expect(bench.effects.contains(.downloaded(first)))
        #expect(bench.effects.contains(.uploaded(mine)))
    }

    @Test func uploadsAndDownloadsTakeTurns() throws {
        let bench = try TransferBench()
        _ = try bench.receive(TransferBench.bytes(3_000))
        _ = try bench.attach(TransferBench.bytes(3_000))
        try bench.step(.changed)
        try bench.run()
        let methods = bench.requests.map(\.method)
        #expect(methods == ["PUT", "GET", "PATCH", "GET", "PATCH", "GET", "PATCH"])
    }
}
