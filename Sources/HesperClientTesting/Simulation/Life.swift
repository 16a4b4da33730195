internal import HesperClient
internal import HesperModel

/// A simulated life: several devices of one account work, lose their connection, crash, and are copied and revoked, while the
/// server fails, is restored, or is full. Everything runs on one thread in virtual time, and is determined by the seed.
///
///     let failures = try Life(seed: 7).run()
package final class Life {
    /// An event of the simulation. The first associated value is the index of the device.
    enum Event {
        /// A person does something on a device.
        case act(Int)
        /// A person saves the draft that they are editing.
        case saveDraft(Int, run: Int)
        /// A person may notice that a device is signed out, and sign in again.
        case tend(Int)
        case wake(Int, number: Int)
        case transferWake(Int, number: Int)
        /// A request arrives at the server.
        case request(Int, run: Int, number: Int, ServerRequest)
        case response(Int, run: Int, number: Int, Result<ServerResponse, NoResponse>)
        case openStream(Int, stream: Int, ServerRequest)
        case streamEvent(Int, stream: Int, ServerEvent)
        case streamEnded(Int, stream: Int, hasFailed: Bool)
        case transferRequest(Int, run: Int, number: Int, ServerRequest)
        case transferResponse(Int, run: Int, number: Int, Result<ServerResponse, NoResponse>)
        /// Something happens to the server or to a device.
        case accident
    }

    package let seed: UInt64
    /// The log of the life, if it is recorded.
    package private(set) var record: [String] = []
    /// A hash of the bodies of all sync requests. Two runs of the same seed have the same hash.
    package private(set) var trace: UInt64 = 14_695_981_039_346_656_037
    package private(set) var failures: [String] = []
    let isRecorded: Bool
    var generator: SeededGenerator
    var server: FaultyServer
    var devices: [SimulatedDevice] = []
    var ledger = Ledger()
    var backups: [ServerCore.Backup] = []
    /// The virtual time, in milliseconds since 1970.
    private(set) var now: Int64 = 1_767_225_600_000
    /// Whether all actions and faults are over, and the devices only sync.
    private(set) var isSettling = false
    private var queue: EventQueue<Event>
    private var actionsLeft: Int
    private static let address = try? ServerURL("https://hesper.example.org")
    private static let email = "ada@example.org"
    private static let password = "correct horse battery staple"
    /// The time within which all local copies must become equal to the server's data, in milliseconds.
    private static let settling: Int64 = 4 * 3_600_000
    private static let eventLimit = 30_000

    /// Creates a life, with devices that are not signed in yet.
    /// - Parameter isRecorded: whether to keep ``record``.
    package init(seed: UInt64, isRecorded: Bool = false) throws {
        self.seed = seed
        self.isRecorded = isRecorded
        generator = SeededGenerator(seed: seed)
        server = FaultyServer(seed: generator.next())
        queue = EventQueue(generator: generator.split())
        actionsLeft = generator.number(in: 30..<120)
        for index in 0..<generator.number(in: 2..<7) {
            let device = try SimulatedDevice(name: "d\(index)", time: now, generator: &generator)
            device.hasEarlierApp = generator.isTrue(withProbability: 0.2)
            devices.append(device)
        }
    }

    /// Runs the simulation until all local copies equal the server's data, and then checks the result. Stops earlier if a check
    /// fails.
    /// - Returns: the failures; empty if there are none.
    package func run() throws -> [String] {
        signUp()
        drawFaults()
        for index in devices.indices { try begin(index) }
        schedule(.accident, in: 10_000..<60_000)
        var events = 0
        var end = Int64.max
        while let (time, event) = queue.next(), failures.isEmpty {
            now = max(now, time)
            events += 1
            for device in devices { device.environment.set(time: now) }
            try handle(event)
            if actionsLeft <= 0, !isSettling {
                isSettling = true
                end = now + Life.settling
                try settle()
            }
            if isSettling, events % 8 == 0, try isSettled(), !sweepAttachments() { break }
            if now > end || events > Life.eventLimit {
                // First reports the objects in which a local copy differs from the server's data.
                for device in devices where !device.isLost { try checkCopy(of: device, server.core.accounts[0].scope) }
                fail("the copies are not equal after \(events) events: \(try unsettled())")
            }
        }
        if failures.isEmpty { try check() }
        return failures
    }

    func fail(_ reason: String) { failures.append("seed \(seed), \(now - 1_767_225_600_000) ms: \(reason)") }

    func note(_ text: @autoclosure () -> String) {
        if isRecorded { record.append("\(now - 1_767_225_600_000) \(text())") }
    }

    func schedule(_ event: Event, in delay: Range<Int>) {
        queue.add(event, at: now + Int64(generator.number(in: delay)))
    }

    var timestamp: Timestamp { Timestamp(clamping: now) }

    // MARK: The beginning and the end

    private func begin(_ index: Int) throws {
        if generator.isTrue(withProbability: 0.1) { setWrongClock(devices[index]) }
        // Some people work before they sign in.
        try devices[index].start(&generator)
        try takeInputs(index)
        if generator.isTrue(withProbability: 0.7) { try signIn(index) }
        schedule(.act(index), in: 0..<10_000)
        schedule(.tend(index), in: 1_000..<4_000)
    }

    private func drawFaults() {
        guard generator.isTrue(withProbability: 0.8) else { return }
        let rate = Double(generator.number(in: 1..<20)) / 100
        server.schedule = FaultSchedule(
            seed: generator.next(),
            [
                (.requestLost, rate), (.responseLost, rate), (.unavailable(retryAfter: 2), rate / 4),
                (.tooManyRequests(retryAfter: 3), rate / 8), (.internalError, rate / 8), (.tokenExpired, rate / 20),
                (.shortPage(objects: 2), rate), (.slow(milliseconds: 20_000), rate / 2), (.storageFull, rate / 16),
            ])
        if generator.isTrue(withProbability: 0.2) { server.core.pageLimit = generator.number(in: 1..<6) }
        server.core.clockError =
            generator.isTrue(withProbability: 0.2) ? Int64(generator.number(in: -900_000..<900_000)) : 0
    }

    private func settle() throws {
        note("settles")
        server.schedule = nil
        server.core.pageLimit = Limits.greatestPage
        for index in server.core.accounts.indices { server.core.accounts[index].scope.quota = nil }
        for (index, device) in devices.enumerated() where !device.isLost {
            device.offlineUntil = 0
            if try device.database.read({ try $0.sessionToken }) == nil { try signIn(index) }
            // About half of the devices, chosen at random, are told to sync now. The others sync by themselves later, and the
            // simulation waits until ``isSettled()`` is true of them too.
            guard generator.isTrue(withProbability: 0.5) else { continue }
            device.addSyncNow()
            try takeInputs(index)
        }
    }

    private func isSettled() throws -> Bool {
        let digest = server.core.accounts[0].scope.digest
        return try devices.allSatisfy { try $0.isLost || $0.isSettled(digest) }
    }

    /// Deletes the attachments on the server that no object holds.
    /// - Returns: whether there were any. If so, the devices must receive the deletions.
    func sweepAttachments() -> Bool {
        guard server.core.sweepAttachments(at: timestamp) > 0 else { return false }
        note("the server deletes attachments that no object holds")
        ledger.read(server.core.accounts[0].scope)
        sendEvents()
        return true
    }

    /// Describes the devices that are not settled, for a failure.
    private func unsettled() throws -> String {
        let digest = server.core.accounts[0].scope.digest
        return try devices.filter { !$0.isLost }.compactMap { device in
            let (sync, counts) = try device.database.read { (try $0.sync, try $0.pendingCounts()) }
            guard try !device.isSettled(digest) else { return nil }
            return
                "\(device.name): \(counts.toSend) to send, \(counts.held) held, digest \(sync.digest), "
                + "server digest \(digest), last received \(String(describing: sync.serverDigest)), "
                + "sign-in required: \(String(describing: sync.signInAgain)), "
                + "\(device.core.progress), \(device.transferStatus)"
        }.joined(separator: "; ")
    }

    // MARK: Events

    private func handle(_ event: Event) throws {
        switch event {
        case .act(let index):
            guard !isSettling, !devices[index].isLost else { return }
            actionsLeft -= 1
            try act(index)
            schedule(.act(index), in: generator.isTrue(withProbability: 0.5) ? 100..<2_000 : 2_000..<30_000)
        case .saveDraft(let index, let run):
            guard run == devices[index].run, !isSettling, !devices[index].isLost else { return }
            try saveDraft(index)
        case .tend(let index):
            guard !devices[index].isLost else { return }
            try tend(index)
            schedule(.tend(index), in: 2_000..<6_000)
        case .wake(let index, let number):
            guard number == devices[index].wake else { return }
            try take(index, .wake)
        case .transferWake(let index, let number):
            guard number == devices[index].transferWake else { return }
            devices[index].add(TransferCore.Input.wake)
            try takeInputs(index)
        case .request(let index, let run, let number, let request):
            let reply = reply(to: request, from: index)
            queue.add(
                .response(index, run: run, number: number, reply.result),
                at: now + Int64(reply.delay + generator.number(in: 5..<400)))
        case .response(let index, let run, let number, let result):
            guard run == devices[index].run, !devices[index].isLost else { return }
            let device = devices[index]
            let received = isOffline(index) ? .failure(NoResponse("offline")) : result
            // `answered` is set before the step, because the step may send the next push and change `pushed`.
            if number == device.pushNumber, case .success(let response) = received, response.isSuccess {
                (device.answered, device.answeredAt) = (device.pushed, now)
                (device.answeredSentAt, device.answeredAtClock) = (device.pushedAt, device.environment.now)
            }
            try take(index, .response(number, received))
            try checkStatus(of: device)
        case .transferRequest(let index, let run, let number, let request):
            let reply = reply(to: request, from: index)
            queue.add(
                .transferResponse(index, run: run, number: number, reply.result),
                at: now + Int64(reply.delay + generator.number(in: 5..<400)))
        case .transferResponse(let index, let run, let number, let result):
            guard run == devices[index].run, !devices[index].isLost else { return }
            devices[index].isTransferring = false
            let received: Result<ServerResponse, NoResponse> =
                isOffline(index) ? .failure(NoResponse("offline")) : result
            devices[index].add(TransferCore.Input.response(number, received))
            try takeInputs(index)
        case .openStream(let index, let stream, let request): try openStream(index, stream, request)
        case .streamEvent(let index, let stream, let event):
            guard stream == devices[index].stream, !devices[index].isLost else { return }
            try take(index, .event(event))
        case .streamEnded(let index, let stream, let hasFailed):
            guard stream == devices[index].stream, !devices[index].isLost else { return }
            closeStream(index)
            try take(index, .streamEnded(hasFailed: hasFailed))
        case .accident:
            guard !isSettling else { return }
            try haveAccident()
            schedule(.accident, in: 10_000..<120_000)
        }
    }

    /// Takes an input on a device, and carries out the effects.
    func take(_ index: Int, _ input: SyncInput) throws {
        devices[index].add(input)
        try takeInputs(index)
    }

    /// Processes the waiting inputs of a device, and carries out the effects. Each input is processed in its own transaction. The
    /// app may crash before or after each commit.
    func takeInputs(_ index: Int) throws {
        let device = devices[index]
        while true {
            let isSync = !device.syncInputs.isEmpty
            guard isSync || !device.transferInputs.isEmpty else { return }
            if crashes() {
                note("\(device.name) crashes before a commit")
                try device.stepWithoutCommit()
                return try restart(index)
            }
            let syncEffects = isSync ? try device.stepSync() : []
            let transferEffects = isSync ? [] : try device.stepTransfers()
            if crashes() {
                note("\(device.name) crashes after a commit")
                return try restart(index)
            }
            for effect in syncEffects { carryOut(effect, index) }
            for effect in transferEffects { carryOut(effect, index) }
        }
    }

    private func crashes() -> Bool { !isSettling && generator.isTrue(withProbability: 0.003) }

    private func carryOut(_ effect: SyncEffect, _ index: Int) {
        let device = devices[index]
        switch effect {
        case .send(let number, let request):
            mix(request.body)
            note("\(device.name) sends \(request.path) \(String(decoding: request.body, as: UTF8.self))")
            if request.path == "/v1/sync" {
                checkPush(request, of: device)
                device.pushNumber = number
            }
            queue.add(
                .request(index, run: device.run, number: number, request),
                at: now + Int64(generator.number(in: 5..<400)))
        case .openEvents(let request):
            device.stream += 1
            schedule(.openStream(index, stream: device.stream, request), in: 5..<200)
        case .closeEvents:
            closeStream(index)
            device.stream += 1
        case .wake(let time):
            device.wake += 1
            queue.add(.wake(index, number: device.wake), at: actualTime(of: time, device))
        }
    }

    private func carryOut(_ effect: TransferCore.Effect, _ index: Int) {
        let device = devices[index]
        switch effect {
        case .send(let number, let request):
            mix(Array("\(request.method) \(request.path)".utf8) + request.body)
            note("\(device.name) requests \(request.method) \(request.path), \(request.body.count) bytes")
            device.isTransferring = true
            queue.add(
                .transferRequest(index, run: device.run, number: number, request),
                at: now + Int64(generator.number(in: 5..<400)))
        case .wake(let time):
            device.transferWake += 1
            queue.add(.transferWake(index, number: device.transferWake), at: actualTime(of: time, device))
        case .status(let status): device.transferStatus = status
        case .uploaded: device.add(SyncInput.changed)
        case .uploadRefused(let id, let problem):
            note("\(device.name) gives up the upload of \(id): \(problem.slug)")
            device.add(SyncInput.changed)
        case .downloaded: break
        case .signInAgain: device.add(SyncInput.changed)
        }
    }

    /// The time of the simulation at which the wall clock of a device shows a given time. The wall clock may be wrong.
    private func actualTime(of time: Timestamp, _ device: SimulatedDevice) -> Int64 {
        max(time.milliseconds - (device.environment.now.milliseconds - now), now)
    }

    func restart(_ index: Int) throws {
        closeStream(index)
        if devices[index].hasEarlierApp, generator.isTrue(withProbability: 0.3) {
            note("\(devices[index].name) has a new version of the app")
            devices[index].hasEarlierApp = false
        }
        try devices[index].start(&generator)
        try takeInputs(index)
    }

    private func mix(_ bytes: [UInt8]) {
        for byte in bytes { trace = (trace ^ UInt64(byte)) &* 1_099_511_628_211 }
    }

    // MARK: The network

    func isOffline(_ index: Int) -> Bool { devices[index].offlineUntil > now }

    func reply(to request: ServerRequest, from index: Int) -> FaultyServer.Reply {
        guard !isOffline(index) else { return FaultyServer.Reply(result: .failure(NoResponse("offline"))) }
        let reply = server.reply(to: request, at: timestamp)
        if request.method == "POST" { readScope(after: request, from: index) }
        if case .success(let response) = reply.result {
            if request.path == "/v1/sync" || !response.isSuccess {
                note(
                    "\(devices[index].name) receives \(response.status) "
                        + String(decoding: response.body, as: UTF8.self)
                )
            }
        } else {
            note("\(devices[index].name) receives no response")
        }
        sendEvents()
        return reply
    }

    /// Updates the ledger with the changes of a request.
    private func readScope(after request: ServerRequest, from index: Int) {
        let account = server.core.accounts[0]
        let sender = account.devices.first { $0.token == request.token }?.node
        let isShared = sender.map(ledger.sharedNodes.contains) ?? false
        let deletions = backups.isEmpty ? [] : givenBackDeletions(in: request)
        ledger.read(account.scope) { !isShared && !deletions.contains($0) }
    }

    /// The IDs of the objects that a request deletes without stating which texts the user had seen. For example, a device that
    /// resends the deletion of a note to a restored server no longer knows this.
    private func givenBackDeletions(in request: ServerRequest) -> Set<UniqueID> {
        guard let changes = try? JSONReader.read(request.body)["changes"] else { return [] }
        let deletions = changes["deletedObjects"]?.elements ?? []
        let unclear = deletions.filter { $0["textSeen"] == nil && $0["textsSeen"] == nil }
        return Set(unclear.compactMap { $0["uniqueID"]?.id })
    }

    private func openStream(_ index: Int, _ stream: Int, _ request: ServerRequest) throws {
        let device = devices[index]
        guard stream == device.stream, !device.isLost else { return }
        guard !isOffline(index), case .success(let number) = server.core.openStream(request, at: timestamp) else {
            return schedule(.streamEnded(index, stream: stream, hasFailed: true), in: 5..<200)
        }
        device.serverStream = number
        device.lastArrival = now
        sendEvents()
    }

    /// Sends the events that are due in all streams.
    func sendEvents() {
        for (index, device) in devices.enumerated() {
            guard let number = device.serverStream else { continue }
            let (events, hasEnded) = server.core.takeEvents(of: number, at: timestamp)
            for event in events {
                device.lastArrival = max(device.lastArrival, now + Int64(generator.number(in: 5..<200))) + 1
                queue.add(.streamEvent(index, stream: device.stream, event), at: device.lastArrival)
            }
            if hasEnded {
                device.serverStream = nil
                queue.add(
                    .streamEnded(index, stream: device.stream, hasFailed: false), at: device.lastArrival + 1)
            }
        }
    }

    func closeStream(_ index: Int) {
        if let number = devices[index].serverStream { server.core.closeStream(number) }
        devices[index].serverStream = nil
    }

    // MARK: The account

    private func credentials(_ path: String, _ name: String) -> ServerRequest {
        let body: JSON = [
            "email": .string(Life.email), "password": .string(Life.password), "deviceName": .string(name),
        ]
        return ServerRequest("POST", path, headers: ["content-type": "application/json"], body: body.bytes)
    }

    private func signUp() { _ = server.core.respond(to: credentials("/v1/accounts", "owner"), at: timestamp) }

    /// Signs a device in: it gets a new node and a session.
    func signIn(_ index: Int) throws {
        closeStream(index)
        let device = devices[index]
        let response = server.core.respond(to: credentials("/v1/devices", device.name), at: timestamp)
        let json = try JSONReader.read(response.body)
        guard let node = json["device"]?["uniqueID"]?.string.flatMap({ NodeID($0) }), let address = Life.address else {
            return fail("sign-in failed with \(response.status)")
        }
        note("\(device.name) signs in as \(node)")
        let session = Session(
            server: address, account: server.core.accounts[0].uniqueID, email: Life.email, device: node,
            deviceName: device.name, token: json["token"]?.string)
        try device.database.write { try $0.begin(session) }
        try device.beginSession()
        try takeInputs(index)
    }
}
