import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// A server in memory, an account, and a clock that all its devices share.
final class SyncWorld {
    let clock = VirtualClock()
    let server: MemoryServer
    let email = "ada@example.org"
    private(set) var devices: [SyncDevice] = []

    init() {
        let clock = clock
        server = MemoryServer(seed: 1) { clock.now }
    }

    var now: Timestamp { Timestamp(clamping: Int64(clock.now.timeIntervalSince1970 * 1_000)) }

    /// A device with an empty copy that is signed in.
    func device() throws -> SyncDevice {
        let device = try SyncDevice(self, seed: UInt64(devices.count + 1))
        try device.signIn(isNewAccount: devices.isEmpty)
        devices.append(device)
        return device
    }

    /// Syncs all devices in turn until nothing changes, and checks that their digests equal the server's.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<4 {
            for device in devices { try device.sync() }
        }
        for device in devices {
            let sync = try device.database.read { try $0.sync }
            #expect(sync.isIdentical == true, sourceLocation: sourceLocation)
            let counts = try device.database.read { try $0.pendingCounts() }
            #expect(counts.toSend == 0, sourceLocation: sourceLocation)
        }
    }
}

/// A device that takes the steps of `SyncCore`, and whose requests are answered at once.
final class SyncDevice {
    let world: SyncWorld
    let database: LocalDatabase
    var core: SyncCore
    /// Replaces responses: for faults.
    var intercept: (ServerRequest, () -> ServerResponse) -> Result<ServerResponse, NoResponse> = { .success($1()) }
    /// The error of the wall clock, in seconds.
    let clockError = Locked(TimeInterval(0))

    init(_ world: SyncWorld, seed: UInt64) throws {
        self.world = world
        let (clock, clockError) = (world.clock, clockError)
        database = try LocalDatabase(
            path: nil,
            now: {
                let seconds = clock.now.timeIntervalSince1970 + clockError.withLock { $0 }
                return Timestamp(clamping: Int64(seconds * 1_000))
            })
        core = SyncCore(seed: seed)
    }

    func signIn(isNewAccount: Bool) throws {
        let body: JSON = [
            "email": .string(world.email), "password": "correct horse battery staple", "deviceName": "test",
        ]
        let request = ServerRequest(
            "POST", isNewAccount ? "/v1/accounts" : "/v1/devices", headers: ["content-type": "application/json"],
            body: body.bytes)
        let response = world.server.respond(to: request, at: world.now)
        try #require(response.status == 201)
        let json = try JSONReader.read(response.body)
        let node = try #require(json["device"]?["uniqueID"]?.string.flatMap { NodeID($0) })
        try database.write { transaction in
            try transaction.setMeta("session", JSON(members: [("token", json["token"])]))
            try transaction.setNode(node)
        }
    }

    /// Syncs until nothing is left to do at this time.
    func sync(_ first: SyncInput = .syncNow) throws {
        var inputs = [first]
        for _ in 0..<1_000 {
            guard !inputs.isEmpty else { return }
            let input = inputs.removeFirst()
            let effects = try database.write { try core.step(input, $0) }
            for case .send(let number, let request) in effects {
                let result = intercept(request) { world.server.respond(to: request, at: world.now) }
                inputs.append(.response(number, result))
            }
        }
        Issue.record("sync does not come to an end")
    }

    // MARK: What a person does

    func makeNote(_ text: String) throws -> UniqueID {
        let id = UniqueID.random()
        try database.write { transaction in
            var note = LocalObject(id: id, type: TypeName.note)
            note.made = LocalObject.Made(fixed: [AttributeName.creationDate: .string(transaction.now.description)])
            _ = try transaction.insert(note, values: [(AttributeName.text, .string(text))])
        }
        return id
    }

    func edit(_ id: UniqueID, _ attribute: String, _ value: Value) throws {
        try database.write { transaction in
            var object = try #require(try transaction.object(id))
            try transaction.edit(&object, attribute, value)
            try transaction.save(object)
        }
    }

    func write(_ text: String, in id: UniqueID) throws { try edit(id, AttributeName.text, .string(text)) }

    func delete(_ id: UniqueID) throws {
        try database.write { transaction in
            let object = try #require(try transaction.object(id))
            try transaction.delete(object, heldUntil: transaction.now)
        }
    }

    func text(_ id: UniqueID) throws -> String? {
        try database.read { transaction in
            guard case .string(let text)? = try transaction.object(id)?.value(AttributeName.text) else { return nil }
            return text
        }
    }

    func notes() throws -> [UniqueID: String] {
        try database.read { transaction in
            var notes: [UniqueID: String] = [:]
            for id in try transaction.ids(TypeName.note) {
                guard case .string(let text)? = try transaction.object(id)?.value(AttributeName.text) else { continue }
                notes[id] = text
            }
            return notes
        }
    }
}
