import HesperClient
import HesperModel
import Testing

@Suite struct TransferUploadTests {
    @Test func aSmallFileGoesUpInOneRequest() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(1_000)
        let id = try bench.attach(bytes)
        try bench.step(.changed)
        #expect(bench.status.toSend == .init(objects: 1, bytes: 1_000))
        #expect(try bench.needsBytes(id) == true)
        try bench.run()
        #expect(bench.trace == ["PUT data"])
        #expect(bench.requests[0].headers == ["repr-digest": TransferServer.digest(bytes)])
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.effects == [.uploaded(id)])
        #expect(try bench.needsBytes(id) == false)
        #expect(bench.status == TransferStatus())
    }

    @Test func anEmptyFile() throws {
        let bench = try TransferBench()
        let id = try bench.attach([])
        try bench.step(.changed)
        try bench.run()
        #expect(bench.server.blobs == [id.description: []])
    }

    @Test func aLargeFileGoesUpInParts() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.attach(bytes)
        try bench.step(.changed)
        try bench.run()
        #expect(bench.trace == ["PUT data begin", "PATCH upload 0", "PATCH upload 1000", "PATCH upload 2000"])
        #expect(bench.requests.map(\.body.count) == [0, 1_000, 1_000, 500])
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.effects == [.uploaded(id)])
    }

    @Test func progressIsReported() throws {
        let bench = try TransferBench()
        _ = try bench.attach(TransferBench.bytes(2_500))
        try bench.step(.changed)
        var left: [Int64] = [bench.status.toSend.bytes]
        while try bench.advance(until: bench.now) { left.append(bench.status.toSend.bytes) }
        #expect(left == [2_500, 2_500, 1_500, 500, 0])
    }

    /// Each request of an upload, lost before it reaches the server, and its response lost.
    @Test(arguments: 0..<4, [true, false])
    func afterAnErrorTheOffsetIsRequested(index: Int, isPerformed: Bool) throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.attach(bytes)
        bench.fault = { [unowned bench] _ in
            bench.requests.count == index + 1 ? (isPerformed ? .responseLost : .lost) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 60)
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.effects == [.uploaded(id)])
        let next = bench.trace[index + 1]
        #expect(next == (index == 0 ? "PUT data begin" : "HEAD upload"))
        // Acknowledged bytes are not sent again: at most the part in question.
        let sent = bench.requests.filter { $0.method == "PATCH" }.map(\.body.count).reduce(0, +)
        #expect(sent <= 2_500 + (isPerformed ? 0 : 1_000))
    }

    @Test(arguments: [true, false])
    func aSmallFileIsCheckedAfterAnError(isPerformed: Bool) throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(10)
        let id = try bench.attach(bytes)
        bench.fault = { [unowned bench] _ in
            bench.requests.count == 1 ? (isPerformed ? .responseLost : .lost) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 60)
        #expect(bench.trace == ["PUT data", "HEAD data"] + (isPerformed ? [] : ["PUT data"]))
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.effects == [.uploaded(id)])
    }

    @Test func anUploadContinuesAfterARestart() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(3_500)
        let id = try bench.attach(bytes)
        try bench.step(.changed)
        for _ in 0..<3 { _ = try bench.advance(until: bench.now) }
        bench.forget()
        try bench.restart()
        try bench.run()
        #expect(bench.trace == ["HEAD upload", "PATCH upload 2000", "PATCH upload 3000"])
        #expect(bench.server.blobs == [id.description: bytes])
    }

    @Test func bytesInTheFileOfAnotherAttachment() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let original = try bench.attach(bytes)
        let copy = try bench.attach(bytes)
        try bench.files.delete(copy)
        try bench.database.write { try $0.setBytes(of: copy, file: original, byteCount: 2_500) }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.server.blobs == [original.description: bytes, copy.description: bytes])
    }

    @Test func bytesThatTheServerHasAreNotSent() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.attach(bytes)
        bench.server.blobs[id.description] = bytes
        try bench.step(.changed)
        try bench.run()
        #expect(bench.trace == ["PUT data begin"])
        #expect(bench.effects == [.uploaded(id)])
    }

    @Test func anUploadThatTheServerLostBeginsAgain() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_500)
        let id = try bench.attach(bytes)
        try bench.step(.changed)
        for _ in 0..<2 { _ = try bench.advance(until: bench.now) }
        bench.server.loseUploads()
        try bench.run(seconds: 60)
        #expect(bench.trace.filter { $0 == "PUT data begin" }.count == 2)
        #expect(bench.server.blobs == [id.description: bytes])
    }

    @Test func aServerThatKeepsLosingUploadsIsNotFlooded() throws {
        let bench = try TransferBench()
        _ = try bench.attach(TransferBench.bytes(2_500))
        bench.fault = { [unowned bench] request in
            if TransferBench.describe(request) == "PATCH upload 1000" { bench.server.loseUploads() }
            return .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 600)
        #expect(bench.requests.count < 120)
        #expect(bench.requests.count > 20)
    }

    @Test func aWrongOffsetIsCorrected() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(3_000)
        let id = try bench.attach(bytes)
        // The first part is performed, and a proxy repeats the request.
        bench.fault = { [unowned bench] request in
            guard TransferBench.describe(request) == "PATCH upload 0" else { return .none }
            _ = bench.server.respond(request)
            return .response(bench.server.respond(request))
        }
        try bench.step(.changed)
        try bench.run()
        #expect(
            bench.trace == ["PUT data begin", "PATCH upload 0", "PATCH upload 1000", "PATCH upload 2000"])
        #expect(bench.server.blobs == [id.description: bytes])
    }

    @Test func anOffsetThatIsNotInTheResponseIsRequested() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_000)
        let id = try bench.attach(bytes)
        bench.fault = { [unowned bench] _ in
            bench.requests.count == 3 ? .response(TransferServer.problem(409, "upload-offset")) : .none
        }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.trace.suffix(2) == ["HEAD upload", "PATCH upload 1000"])
        #expect(bench.server.blobs == [id.description: bytes])
    }

    @Test func partsGetSmallerWhenTheyDoNotArrive() throws {
        let bench = try TransferBench()
        bench.core = TransferCore(seed: 1, pieceBytes: 1 << 20)
        try bench.step(.start(token: "secret"))
        let bytes = TransferBench.bytes(3 << 20)
        let id = try bench.attach(bytes)
        bench.fault = { $0.body.count > 300_000 ? .lost : .none }
        try bench.step(.changed)
        try bench.run(seconds: 3_600)
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.requests.contains { $0.body.count == 256 << 10 })
    }

    @Test func aDamagedPartIsSentAgain() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(2_000)
        let id = try bench.attach(bytes)
        bench.fault = { [unowned bench] request in
            guard bench.requests.count == 2 else { return .none }
            var damaged = request
            damaged.body[0] ^= 1
            return .response(bench.server.respond(damaged))
        }
        try bench.step(.changed)
        try bench.run(seconds: 60)
        #expect(bench.server.blobs == [id.description: bytes])
    }

    // MARK: Refusals

    @Test func otherBytesUnderTheSameIDAreRefused() throws {
        let bench = try TransferBench()
        let id = try bench.attach(TransferBench.bytes(10))
        let other = try bench.attach(TransferBench.bytes(20))
        bench.server.blobs[id.description] = [1, 2, 3]
        try bench.step(.changed)
        try bench.run()
        #expect(bench.effects.count == 2)
        guard case .uploadRefused(id, let problem)? = bench.effects.first else {
            Issue.record("\(bench.effects)")
            return
        }
        #expect(problem.slug == "immutable")
        #expect(bench.effects.last == .uploaded(other))
        #expect(bench.status == TransferStatus())
        bench.forget()
        try bench.step(.retryNow)
        try bench.restart()
        try bench.run(seconds: 86_400)
        #expect(bench.requests.isEmpty)
        #expect(try bench.shelf() == [id: "immutable"])
    }

    @Test func aFileThatIsMissingOrDamagedIsRefused() throws {
        let bench = try TransferBench()
        let missing = try bench.attach(TransferBench.bytes(10))
        try bench.files.delete(missing)
        let damaged = try bench.attach(TransferBench.bytes(20))
        try bench.files.delete(damaged)
        _ = try bench.files.add(damaged, next: { () -> [UInt8]? in nil })
        try bench.step(.changed)
        try bench.run()
        #expect(try bench.shelf() == [missing: "bytes-missing", damaged: "bytes-missing"])
        #expect(bench.effects.count == 2)
        #expect(bench.requests.isEmpty)
    }

    @Test func aFullAccountDoesNotStopOthers() throws {
        let bench = try TransferBench()
        let large = try bench.attach(TransferBench.bytes(2_500))
        let small = try bench.attach(TransferBench.bytes(5))
        var isFull = true
        bench.fault = { request in
            let length = request.headers["upload-length"] ?? ""
            return isFull && length == "2500" ? .response(TransferServer.problem(507, "quota-exceeded")) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 3_600)
        #expect(bench.effects == [.uploaded(small)])
        #expect(bench.status.problem == .quotaExceeded)
        #expect(bench.status.toSend.objects == 1)
        // Delays that double from a minute: at least 30, 60, 120 … seconds.
        #expect((4...9).contains(bench.trace.filter { $0 == "PUT data begin" }.count))
        isFull = false
        try bench.step(.retryNow)
        try bench.run()
        #expect(bench.effects.last == .uploaded(large))
        #expect(bench.status == TransferStatus())
    }

    @Test func aDeletedAttachmentIsRefused() throws {
        let bench = try TransferBench()
        let id = try bench.attach(TransferBench.bytes(10))
        bench.fault = { _ in .response(TransferServer.problem(410, "deleted")) }
        try bench.step(.changed)
        try bench.run()
        guard case .uploadRefused(id, let problem)? = bench.effects.first else {
            Issue.record("\(bench.effects)")
            return
        }
        #expect(problem.kind == .deleted)
    }

    @Test func otherErrorsAreRetriedEverLater() throws {
        let bench = try TransferBench()
        _ = try bench.attach(TransferBench.bytes(10))
        bench.fault = { _ in .response(TransferServer.problem(500, "internal-error")) }
        try bench.step(.changed)
        try bench.run(seconds: 86_400)
        #expect((24...60).contains(bench.requests.count))
        guard case .server(let problem)? = bench.status.problem else {
            Issue.record("\(bench.status)")
            return
        }
        #expect(problem.slug == "internal-error")
    }

    @Test func aPageOfAProxyIsNotAnUpload() throws {
        let bench = try TransferBench()
        let id = try bench.attach(TransferBench.bytes(10))
        bench.fault = { _ in .response(ServerResponse(status: 200, body: Array("<html>Log in</html>".utf8))) }
        try bench.step(.changed)
        try bench.run(seconds: 60)
        #expect(bench.effects.isEmpty)
        #expect(try bench.needsBytes(id) == true)
    }
}
