import HesperClient
import HesperModel
import Testing

@Suite struct TransferCoreTests {
    @Test func offline() throws {
        let bench = try TransferBench()
        _ = try bench.receive(TransferBench.bytes(10))
        _ = try bench.attach(TransferBench.bytes(10))
        var isOffline = true
        bench.fault = { _ in isOffline ? .lost : .none }
        try bench.step(.changed)
        try bench.run(seconds: 3_600)
        #expect((60...140).contains(bench.requests.count))
        #expect(bench.status.problem == .offline)
        isOffline = false
        try bench.step(.retryNow)
        try bench.run()
        #expect(bench.effects.count == 2)
        #expect(bench.status == TransferStatus())
    }

    /// The network may have become available after the request in progress was sent.
    @Test func aRetryThatIsRequestedDuringARequestFollowsIt() throws {
        let bench = try TransferBench()
        let id = try bench.receive(TransferBench.bytes(10))
        bench.fault = { [unowned bench] _ in bench.requests.count == 1 ? .lost : .none }
        try bench.step(.changed)
        try bench.step(.retryNow)
        try bench.run()
        #expect(bench.effects == [.downloaded(id)])
    }

    @Test func anExpiredSession() throws {
        let bench = try TransferBench()
        let id = try bench.receive(TransferBench.bytes(10))
        bench.fault = { [unowned bench] _ in
            bench.requests.count == 1 ? .response(TransferServer.problem(401, "unauthenticated")) : .none
        }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.effects == [.signInAgain])
        // A round of sync has found out that the session has ended.
        try bench.step(.stop)
        try bench.run(seconds: 3_600)
        try bench.step(.retryNow)
        #expect(bench.requests.count == 1)
        try bench.step(.start(token: "secret"))
        try bench.run()
        #expect(bench.effects.last == .downloaded(id))
    }

    /// The server was restored meanwhile, and has the session again.
    @Test func aTokenThatIsRefusedOnlyOnce() throws {
        let bench = try TransferBench()
        let theirs = try bench.receive(TransferBench.bytes(10))
        let mine = try bench.attach(TransferBench.bytes(10))
        bench.fault = { [unowned bench] _ in
            bench.requests.count == 1 ? .response(TransferServer.problem(401, "unauthenticated")) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 10)
        #expect(bench.effects.first == .signInAgain)
        #expect(bench.effects.contains(.uploaded(mine)))
        #expect(bench.effects.contains(.downloaded(theirs)))
    }

    @Test func theResponseToAStoppedRequestIsIgnored() throws {
        let bench = try TransferBench()
        let id = try bench.receive(TransferBench.bytes(10))
        try bench.step(.changed)
        try bench.step(.stop)
        try bench.run(seconds: 60)
        #expect(bench.effects.isEmpty)
        #expect(try bench.files.list().isEmpty)
        #expect(bench.requests.count == 1)
        try bench.step(.start(token: "secret"))
        try bench.run()
        #expect(bench.effects == [.downloaded(id)])
    }

    @Test func tooManyRequestsInOneDirection() throws {
        let bench = try TransferBench()
        let theirs = try bench.receive(TransferBench.bytes(10))
        let mine = try bench.attach(TransferBench.bytes(10))
        var isLimited = true
        bench.fault = { request in
            isLimited && request.method == "PUT"
                ? .response(TransferServer.problem(429, "too-many-requests", headers: ["retry-after": "600"])) : .none
        }
        try bench.step(.changed)
        try bench.run(seconds: 599)
        #expect(bench.effects == [.downloaded(theirs)])
        #expect(bench.trace.filter { $0 == "PUT data" }.count == 1)
        isLimited = false
        try bench.run(seconds: 1)
        #expect(bench.effects.last == .uploaded(mine))
    }

    @Test(arguments: [
        TransferServer.problem(503, "unavailable", headers: ["retry-after": "300"]),
        ServerResponse(status: 502, headers: ["retry-after": "300"], body: Array("<html>Bad Gateway</html>".utf8)),
    ])
    func anUnavailableServer(response: ServerResponse) throws {
        let bench = try TransferBench()
        let theirs = try bench.receive(TransferBench.bytes(10))
        let mine = try bench.attach(TransferBench.bytes(10))
        bench.fault = { [unowned bench] _ in bench.requests.count == 1 ? .response(response) : .none }
        try bench.step(.changed)
        try bench.run(seconds: 299)
        #expect(bench.requests.count == 1)
        try bench.run(seconds: 1)
        #expect(bench.effects.contains(.uploaded(mine)))
        #expect(bench.effects.contains(.downloaded(theirs)))
    }

    @Test func aDisabledAccount() throws {
        let bench = try TransferBench()
        _ = try bench.receive(TransferBench.bytes(10))
        bench.fault = { _ in .response(TransferServer.problem(403, "account-disabled")) }
        try bench.step(.changed)
        try bench.run(seconds: 86_400)
        #expect(bench.status.problem == .accountDisabled)
        #expect((24...60).contains(bench.requests.count))
    }

    @Test func theServerLostBytes() throws {
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(10)
        let id = try bench.receive(bytes)
        try bench.step(.changed)
        try bench.run()
        bench.server.blobs = [:]
        try bench.database.write { transaction in
            var object = try #require(try transaction.object(id))
            object.made = LocalObject.Made(fixed: object.fixed, needsBytes: true)
            try transaction.save(object)
        }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.server.blobs == [id.description: bytes])
        #expect(bench.effects == [.downloaded(id), .uploaded(id)])
    }

    /// The clock was ahead by 30 days when the transfers were postponed. A restarted app does not know that.
    @Test(arguments: [false, true])
    func theClockWasSetBack(isRestarted: Bool) throws {
        let bench = try TransferBench()
        let theirs = try bench.receive(TransferBench.bytes(10))
        let mine = try bench.attach(TransferBench.bytes(10))
        var isFailing = true
        bench.fault = { request in
            guard isFailing else { return .none }
            return request.method == "PUT" ? .response(TransferServer.problem(507, "quota-exceeded")) : .lost
        }
        try bench.step(.changed)
        try bench.run()
        #expect(bench.requests.count == 2)
        isFailing = false
        bench.setClock(by: -30 * 86_400)
        if isRestarted { try bench.restart() }
        try bench.run(seconds: 60)
        #expect(Set(bench.effects.map(String.init(describing:))) == ["downloaded(\(theirs))", "uploaded(\(mine))"])
    }

    @Test func backOffDoublesAndIsRandom() {
        var backOff = BackOff(seed: 1)
        for failures in 1...100 {
            let whole = min(Int64(1_000) << Int64(min(failures - 1, 20)), 60_000)
            let delay = backOff.delay(afterFailures: failures, from: 1_000, upTo: 60_000)
            #expect((whole / 2...whole).contains(delay))
        }
        let delays = (0..<100).map { _ in backOff.delay(afterFailures: 1, from: 1_000, upTo: 60_000) }
        #expect(Set(delays).count > 50)
    }

    /// A life with faults at random: everything arrives at both ends, and a seed repeats it.
    @Test(arguments: 1...40)
    func everythingArrives(seed: UInt64) throws {
        func life() throws -> [String] {
            let bench = try TransferBench(seed: seed)
            var random = BackOff(seed: seed)
            func chance(_ percent: Int64) -> Bool {
                // Uniform on 0...100.
                random.delay(afterFailures: 1, from: 200, upTo: 200) - 100 < percent
            }
            var faults = true
            bench.fault = { [unowned bench] request in
                guard faults else { return .none }
                if chance(15) { return .lost }
                if chance(15) { return .responseLost }
                if chance(5) { return .response(TransferServer.problem(503, "unavailable")) }
                if chance(5) { return .response(TransferServer.problem(500, "internal-error")) }
                if chance(5) { return .response(ServerResponse(status: 404)) }
                if chance(3) { bench.server.loseUploads() }
                return .none
            }
            func id(_ number: Int) -> UniqueID { UniqueID(high: seed, low: UInt64(number)) }
            var sizes: [UniqueID: [UInt8]] = [:]
            for number in 1...8 {
                let bytes = TransferBench.bytes(number * number * 70, seed: number)
                sizes[id(number)] = bytes
                if number % 2 == 0 {
                    _ = try bench.attach(bytes, as: id(number))
                } else {
                    _ = try bench.receive(bytes, as: id(number))
                }
            }
            try bench.step(.changed)
            for _ in 0..<200 {
                if try !bench.advance(until: bench.now) { try bench.run(seconds: 30) }
                if chance(3) { try bench.restart(seed: seed) }
                if chance(3) { try bench.step(.retryNow) }
            }
            faults = false
            try bench.run(seconds: 7_200)
            for (id, bytes) in sizes {
                #expect(bench.server.blobs[id.description] == bytes)
                #expect(try bench.content(id) == bytes)
            }
            #expect(bench.status == TransferStatus())
            return bench.trace + bench.effects.map { "\($0)" }
        }
        #expect(try life() == life())
    }
}
