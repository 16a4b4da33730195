import Crypto
import Foundation
import HesperClient
import HesperModel

/// One device with a `TransferCore`, its files and its local copy in memory, a server, and a clock that the test moves.
final class TransferBench {
    /// What happens to a request.
    enum Fault {
        case none
        /// It does not reach the server.
        case lost
        /// The server performs it, and the response is lost.
        case responseLost
        case response(ServerResponse)
    }

    static let pieceBytes = 1_000
    let database: LocalDatabase
    let files: any AttachmentFiles
    var core: TransferCore
    var server = TransferServer()
    /// Decides what happens to each request.
    var fault: (ServerRequest) -> Fault = { _ in .none }
    private(set) var requests: [ServerRequest] = []
    private(set) var effects: [TransferCore.Effect] = []
    private(set) var status = TransferStatus()
    private let clock: TransferClock
    private var sent: (number: Int, request: ServerRequest)?
    private var wakeAt: Timestamp?

    init(
        seed: UInt64 = 1, files: any AttachmentFiles = MemoryAttachmentFiles(),
        policy: TransferTable.Policy = TransferTable.Policy()
    ) throws {
        let clock = TransferClock()
        self.clock = clock
        self.files = files
        database = try LocalDatabase(path: nil, now: { clock.now })
        core = TransferCore(seed: seed, policy: policy, pieceBytes: TransferBench.pieceBytes)
        try step(.start(token: "secret"))
    }

    var now: Timestamp { clock.now }
    /// The methods and paths of the requests, with the first byte of a part or piece.
    var trace: [String] { requests.map(TransferBench.describe) }

    static func describe(_ request: ServerRequest) -> String {
        let name = request.path.hasSuffix("/data") ? "data" : request.path.hasPrefix("/v1/uploads/") ? "upload" : "?"
        let offset =
            request.headers["upload-offset"]
            ?? request.headers["range"]?.dropFirst(6).prefix { $0 != "-" }
            .description
        let begins = request.headers["upload-length"] == nil ? "" : " begin"
        return "\(request.method) \(name)\(begins)\(offset.map { " \($0)" } ?? "")"
    }

    func moveClock(to moment: Timestamp) { clock.now = max(clock.now, moment) }

    /// Sets the wall clock, as a user may do. Timers end after the same duration as before.
    func setClock(by seconds: Int64) {
        let milliseconds = seconds * 1_000
        clock.now = Timestamp(clamping: clock.now.milliseconds + milliseconds)
        wakeAt = wakeAt.map { Timestamp(clamping: $0.milliseconds + milliseconds) }
    }

    func forget() {
        requests = []
        effects = []
    }

    /// Replaces the core by a new one, as after a restart of the app.
    func restart(seed: UInt64 = 2) throws {
        sent = nil
        wakeAt = nil
        core = TransferCore(seed: seed, pieceBytes: TransferBench.pieceBytes)
        try step(.start(token: "secret"))
    }

    func step(_ input: TransferCore.Input) throws {
        let found = try database.write { try core.step(input, $0, files) }
        for effect in found {
            switch effect {
            case .send(let number, let request):
                precondition(sent == nil, "two requests at once")
                precondition(request.token == "secret")
                sent = (number, request)
                requests.append(request)
            case .wake(let moment): wakeAt = moment
            case .status(let new): status = new
            case .uploaded, .uploadRefused, .downloaded, .signInAgain: effects.append(effect)
            }
        }
    }

    /// Carries out one effect: responds to a request, or moves the clock to the next wake.
    /// - Returns: false if there is nothing to do before `end`.
    func advance(until end: Timestamp) throws -> Bool {
        if let (number, request) = sent {
            sent = nil
            try step(.response(number, respond(request)))
            return true
        }
        guard let wakeAt, wakeAt <= end else { return false }
        self.wakeAt = nil
        clock.now = max(clock.now, wakeAt)
        try step(.wake)
        return true
    }

    /// Runs until nothing is left to do, or for a time in seconds. The clock then shows the end of that time if
    /// anything waits.
    func run(seconds: Int64 = 0) throws {
        let end = Timestamp(clamping: clock.now.milliseconds + seconds * 1_000)
        while try advance(until: end) {}
        clock.now = max(clock.now, end)
    }

    private func respond(_ request: ServerRequest) -> Result<ServerResponse, NoResponse> {
        switch fault(request) {
        case .none: return .success(server.respond(request))
        case .lost: return .failure(NoResponse("lost"))
        case .responseLost:
            _ = server.respond(request)
            return .failure(NoResponse("response lost"))
        case .response(let response): return .success(response)
        }
    }

    // MARK: Attachments

    static func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed) ^ ($0 >> 8)) }
    }

    private func object(_ id: UniqueID, _ bytes: [UInt8], _ mimeType: String) -> LocalObject {
        var object = LocalObject(id: id, type: TypeName.attachment)
        object.fixed = [
            "mimeType": .string(mimeType), "byteCount": .integer(Int64(bytes.count)),
            "sha256": .string(SHA256.hash(data: bytes).hex),
        ]
        return object
    }

    /// An attachment that was made on this device.
    func attach(_ bytes: [UInt8], as id: UniqueID = .random()) throws -> UniqueID {
        var rest: [UInt8]? = bytes
        _ = try files.add(id) {
            defer { rest = nil }
            return rest
        }
        var object = object(id, bytes, "image/png")
        object.made = LocalObject.Made(fixed: object.fixed, needsBytes: true)
        object.fixed = [:]
        try database.write { try $0.save(object) }
        return id
    }

    /// An attachment that another device made.
    func receive(
        _ bytes: [UInt8], as id: UniqueID = .random(), mimeType: String = "image/png"
    ) throws -> UniqueID {
        server.blobs[id.description] = bytes
        try database.write { try $0.save(object(id, bytes, mimeType)) }
        return id
    }

    func delete(_ id: UniqueID) throws {
        try database.write { transaction in
            if let object = try transaction.object(id, type: TypeName.attachment) { try transaction.remove(object) }
        }
    }

    func needsBytes(_ id: UniqueID) throws -> Bool? {
        try database.read { try $0.object(id, type: TypeName.attachment)?.made?.needsBytes }
    }

    /// The slugs of the changes that were refused.
    func shelf() throws -> [UniqueID: String] {
        let changes = try database.read { try $0.shelf() }
        return Dictionary(uniqueKeysWithValues: changes.map { ($0.id, $0.slug) })
    }

    /// The bytes of a finished file.
    func content(_ id: UniqueID) throws -> [UInt8]? {
        guard let file = try files.file(id), file.isFinished else { return nil }
        return try files.read(id, at: 0, count: Int(file.byteCount))
    }
}

/// A wall clock that stands still until it is moved.
private final class TransferClock: Sendable {
    private let time = Locked(Timestamp(clamping: 1_800_000_000_000))

    var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
