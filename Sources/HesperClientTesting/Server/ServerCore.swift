package import HesperClient
package import HesperModel

/// A server in memory as a synchronous, deterministic value: the same requests at the same times yield the same
/// responses.
///
/// The value contains no clock and no global randomness. ``MemoryServer`` wraps it for concurrent use.
package struct ServerCore: Sendable {
    /// The maximum number of bytes of an attachment.
    package var largestAttachment = 100 << 20
    /// The maximum number of objects on a page; a small number makes pages short.
    package var pageLimit = Limits.greatestPage
    /// The error of the server's wall clock, in milliseconds.
    package var clockError: Int64 = 0
    /// The quota of new accounts in bytes; nil for no limit.
    package var quota: Int64?
    /// Whether the server behaves like a version without the features `object-texts` and `object-files`.
    package var lacksObjectTexts = false
    /// The fields that are rejected in every push. A key is the name of an attribute, and its value is the slug of the problem.
    package var refusals: [String: Problem.Slug] = [:]

    package private(set) var node: NodeID
    package private(set) var epoch: UInt64
    /// The accounts in the order of their creation.
    package internal(set) var accounts: [MemoryAccount] = []
    var generator: SeededGenerator
    var streams: [Int: MemoryStream] = [:]
    var lastStream = 0
    private var requests = 0

    /// Creates a server without accounts.
    /// - Parameter seed: determines all IDs and tokens that the server makes.
    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        node = NodeID(generator.next() | 1)
        epoch = generator.next() >> 1
    }

    // MARK: Requests

    /// Responds to a request.
    /// - Parameter now: the actual time. The server's wall clock differs from it by ``clockError``.
    package mutating func respond(to request: ServerRequest, at now: Timestamp) -> ServerResponse {
        requests += 1
        let requestID = request.headers["x-request-id"] ?? "request-\(requests)"
        var response: ServerResponse
        do {
            response = try handle(request, at: Timestamp(clamping: now.milliseconds + clockError))
        } catch let problem as Problem {
            response = ServerResponse(problem, requestID: requestID)
        } catch {
            response = ServerResponse(Problem(.internalError, "\(error)"), requestID: requestID)
        }
        response.headers["x-request-id"] = requestID
        if response.headers["content-length"] == nil {
            response.headers["content-length"] = String(response.body.count)
        }
        if request.method == "HEAD" { response.body = [] }
        return response
    }

    private enum Route {
        case server, accounts, account, devices
        case device(String)
        case revocation(String)
        case sync, changes, digests
        case edits(Section, String)
        case data(String)
        case upload(String)

        init(_ path: [String]) throws(Problem) {
            switch (path.count, path.dropFirst().first, path.last) {
            case _ where path.first != "v1": throw .notFound(path.joined(separator: "/"))
            case (2, "server"?, _): self = .server
            case (2, "accounts"?, _): self = .accounts
            case (2, "account"?, _): self = .account
            case (2, "devices"?, _): self = .devices
            case (3, "devices"?, let id?): self = .device(id)
            case (4, "devices"?, "revocation"?): self = .revocation(path[2])
            case (2, "sync"?, _): self = .sync
            case (2, "changes"?, _): self = .changes
            case (2, "digests"?, _): self = .digests
            case (4, "notes"?, "edits"?): self = .edits(.notes, path[2])
            case (4, "objects"?, "edits"?): self = .edits(.objects, path[2])
            case (4, "attachments"?, "data"?): self = .data(path[2])
            case (3, "uploads"?, let id?): self = .upload(id)
            default: throw .notFound(path.joined(separator: "/"))
            }
        }

        var methods: [String] {
            switch self {
            case .server, .changes, .digests, .edits: ["GET", "HEAD"]
            case .accounts, .sync: ["POST"]
            case .account: ["GET", "HEAD", "PATCH", "DELETE"]
            case .devices: ["GET", "HEAD", "POST"]
            case .device: ["PATCH", "DELETE"]
            case .revocation: ["GET", "HEAD", "POST"]
            case .data: ["GET", "HEAD", "PUT"]
            case .upload: ["HEAD", "PATCH", "DELETE"]
            }
        }
    }

    private mutating func handle(_ request: ServerRequest, at now: Timestamp) throws -> ServerResponse {
        let target = RequestTarget(request.path)
        let route = try Route(target.components)
        guard route.methods.contains(request.method) else {
            let allow = route.methods.joined(separator: ", ")
            throw Problem(
                .methodNotAllowed, "The method must be one of \(allow), not \(request.method).",
                context: ["allow": .string(allow)])
        }
        switch (route, request.method) {
        case (.server, _): return info(at: now)
        case (.accounts, _): return try signUp(request, at: now)
        case (.devices, "POST"): return try signIn(request, at: now)
        default: break
        }
        let caller = try authenticate(request, at: now)
        switch route {
        case .server, .accounts: throw Problem.notFound(request.path)
        case .account: return try account(request, caller, at: now)
        case .devices: return devices(caller)
        case .device(let id): return try device(id, request, caller)
        case .revocation(let id): return try revocation(id, request, caller, at: now)
        case .sync: return try sync(request, caller, at: now)
        case .changes: return try changes(target, caller, at: now)
        case .digests: return try digests(target, caller, at: now)
        case .edits(let section, let id): return try edits(of: id, in: section, target, caller)
        case .data(let id):
            guard let id = UniqueID(id) else { throw Problem.notFound(id) }
            return try data(of: id, request, caller)
        case .upload(let id):
            guard let id = UniqueID(id) else { throw Problem.notFound(id) }
            return try upload(id, request, caller)
        }
    }

    /// The sender of a request: the index of its account, and the node of its device.
    struct Caller {
        let account: Int
        let node: NodeID
    }

    mutating func authenticate(_ request: ServerRequest, at now: Timestamp) throws -> Caller {
        for (index, account) in accounts.enumerated() {
            guard let device = account.devices.firstIndex(where: { $0.token == request.token }) else { continue }
            if account.isDisabled {
                throw Problem(.accountDisabled, "The server's operator has disabled this account.")
            }
            accounts[index].devices[device].lastUseDate = now
            return Caller(account: index, node: account.devices[device].node)
        }
        throw Problem.unauthenticated
    }

    /// The server's current time as a clock.
    func serverClock(at now: Timestamp) -> Clock {
        Clock(milliseconds: UInt64(max(now.milliseconds, 0)), node: node) ?? .zero
    }

    // MARK: Sync

    private mutating func sync(_ request: ServerRequest, _ caller: Caller, at now: Timestamp) throws -> ServerResponse {
        var fields = try BodyFields(request)
        var token: FeedToken?
        if let text = try fields.optionalString("syncToken") { token = try ServerCore.token(text, at: "/syncToken") }
        var push = Push()
        if let changes = fields.value("changes") { push = try PushReader.read(changes) }
        var limit = Limits.defaultPage
        switch fields.value("limit") {
        case nil: break
        case .integer(let value)? where value >= 1: limit = min(Int(clamping: value), Limits.greatestPage)
        default: throw fields.invalid("limit", "must be a whole number from 1 to \(Limits.greatestPage)")
        }
        try fields.end()
        if let token { try check(token, of: accounts[caller.account].scope) }
        noteRead(token, caller, at: now)
        // During a first sync it is not known which objects the device has read, so all count as unread.
        var read: Int64 = 0
        if case .after(let sequence)? = token?.position { read = sequence }
        let result = try accounts[caller.account].scope.apply(
            refusing(push), by: caller.node, since: read, server: node, at: now)
        let changed = result.receipts.filter { $0.status != .applied && $0.status != .unchanged }
        let page = FeedPage(
            since: token, of: accounts[caller.account].scope, epoch: epoch, limit: min(limit, pageLimit),
            including: changed.flatMap { [$0.uniqueID, $0.rescuedInto].compactMap(\.self) },
            leavingOut: result.echoes)
        return .json(
            page.body(receipts: result.receipts, serverClock: serverClock(at: now)),
            headers: ["cache-control": "no-store"])
    }

    /// A copy of the push in which the fields that the server is set to reject are marked as rejected and have no edits.
    private func refusing(_ push: Push) -> Push {
        guard !refusals.isEmpty || lacksObjectTexts else { return push }
        var push = push
        for (index, element) in push.elements.enumerated() {
            guard case .change(var change) = element else { continue }
            if lacksObjectTexts { change.rejectTextsAndFiles() }
            for edit in change.edits {
                let name = edit.attribute.description
                guard let slug = refusals[name] else { continue }
                change.rejected[name] = Problem(
                    slug, "The server is set to reject \(name).", at: "\(change.pointer)/\(name)")
            }
            change.edits.removeAll { refusals[$0.attribute.description] != nil }
            push.elements[index] = .change(change)
        }
        return push
    }

    private mutating func changes(
        _ target: RequestTarget, _ caller: Caller, at now: Timestamp
    ) throws -> ServerResponse {
        try target.check(known: ["since", "limit"])
        let limit = try target.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
        let token = try target["since"].map { text throws(Problem) in try ServerCore.token(text, at: "since") }
        let scope = accounts[caller.account].scope
        if let token { try check(token, of: scope) }
        noteRead(token, caller, at: now)
        let page = FeedPage(since: token, of: scope, epoch: epoch, limit: min(limit, pageLimit))
        return .json(page.body(receipts: nil, serverClock: serverClock(at: now)))
    }

    /// Records how far a device has read, for thinning.
    private mutating func noteRead(_ token: FeedToken?, _ caller: Caller, at now: Timestamp) {
        let sequence = token?.sequence ?? accounts[caller.account].scope.sequence
        guard let index = accounts[caller.account].devices.firstIndex(where: { $0.node == caller.node }) else { return }
        accounts[caller.account].devices[index].readSequence = sequence
        accounts[caller.account].devices[index].readDate = now
    }

    static func token(_ text: String, at pointer: String) throws(Problem) -> FeedToken {
        guard let token = FeedToken(text) else {
            throw Problem(
                .invalidField, "A token must be the syncToken of an earlier response, unchanged.", at: pointer)
        }
        return token
    }

    /// Checks that a token is valid for a scope.
    func check(_ token: FeedToken, of scope: MemoryScope) throws(Problem) {
        guard token.epoch == epoch, token.scope == scope.id, token.sequence <= scope.sequence else {
            throw Problem.tokenExpired
        }
    }

    /// The history of a note or of an app's own object, newest first. It is always one page.
    private func edits(
        of id: String, in section: Section, _ target: RequestTarget, _ caller: Caller
    ) throws -> ServerResponse {
        try target.check(known: ["limit", "cursor"])
        let account = accounts[caller.account]
        guard let id = UniqueID(id), let entity = account.scope.lastState(of: id), entity.section == section
        else { throw Problem.notFound(id) }
        return .object { writer in
            writer.name("edits")
            writer.array { writer in
                for stored in account.scope.parcels[id, default: []].reversed() {
                    for edit in stored.parcel.edits.sorted(by: { ($0.clock ?? .zero) > ($1.clock ?? .zero) }) {
                        guard let clock = edit.clock else { continue }
                        writer.object { writer in
                            writer.member("attribute", edit.attribute.description)
                            if let value = edit.value { writer.member("value", value.json) }
                            writer.member("clock", clock)
                            writer.name("device")
                            account.writeDevice(clock.node, to: &writer)
                            if let sender = stored.pushedBy, sender != clock.node {
                                writer.name("pushedBy")
                                account.writeDevice(sender, to: &writer)
                            }
                            writer.member("pushedAt", stored.pushedAt)
                            writer.member("standing", entity.register(edit.attribute)?.clock == clock)
                        }
                    }
                }
            }
        }
    }

    private func digests(_ target: RequestTarget, _ caller: Caller, at now: Timestamp) throws -> ServerResponse {
        try target.check(known: ["prefix"])
        let prefix = (target["prefix"] ?? "").lowercased()
        guard prefix.utf8.count <= 32, prefix.allSatisfy({ $0.isHexDigit }) else {
            throw Problem(
                .invalidField, "prefix must be at most 32 hex digits of an ID, without hyphens.", at: "prefix")
        }
        let report = DigestReport(prefix: prefix, accounts[caller.account].scope)
        return .json(report.body(serverClock: serverClock(at: now)))
    }

    // MARK: Restoring

    /// A copy of the database, for ``restore(_:signingOut:)``.
    package struct Backup: Sendable {
        fileprivate let accounts: [MemoryAccount]
    }

    /// Makes a backup of the database.
    package func backUp() -> Backup { Backup(accounts: accounts) }

    /// Replaces the database with an earlier copy (operating.md, Restoring). The bytes of attachments are stored separately and
    /// remain. All sync tokens expire and all streams end.
    /// - Parameter signingOut: whether all devices are signed out. If false, the devices that were signed in at the time of the
    ///   backup are signed in again.
    package mutating func restore(_ backup: Backup, signingOut: Bool = false) {
        let current = accounts
        accounts = backup.accounts
        for index in accounts.indices {
            accounts[index].scope.markRestored()
            accounts[index].scope.files.uploads = [:]
            if signingOut { accounts[index].devices = [] }
            if let other = current.first(where: { $0.uniqueID == accounts[index].uniqueID }) {
                accounts[index].scope.files.merge(other.scope.files)
            }
        }
        epoch = generator.next() >> 1
        for number in streams.keys { streams[number]?.hasEnded = true }
    }
}

extension Change {
    /// Rejects the texts and files of an app's own object, like a server version that does not know these fields.
    fileprivate mutating func rejectTextsAndFiles() {
        for edit in edits {
            let field: String
            switch edit.attribute {
            case .namedText: field = "texts"
            case .file: field = "files"
            case .field, .tag, .attachment, .custom: continue
            }
            rejected[field] = Problem(
                .unknownField, "\(field) is not a field of an app's own object.", at: "\(pointer)/\(field)")
        }
        edits.removeAll { edit in
            switch edit.attribute {
            case .namedText, .file: true
            case .field, .tag, .attachment, .custom: false
            }
        }
    }
}

/// The digests of the objects whose IDs begin with a prefix (protocol.md, Digests).
private struct DigestReport {
    private struct Sum {
        var digest = Digest.zero
        var objects = 0
    }

    private let prefix: String
    private var total = Sum()
    private var children: [String: Sum] = [:]
    private var items: [(id: UniqueID, type: String, digest: Digest)] = []
    /// If the IDs of at most this many objects have the prefix, the response contains the digest of each object.
    private static let fewObjects = 16

    init(prefix: String, _ scope: MemoryScope) {
        self.prefix = prefix
        for (id, state) in scope.states where state.sequence != nil {
            let digits = id.description.filter { $0 != "-" }
            guard digits.hasPrefix(prefix) else { continue }
            let (type, digest) =
                switch state {
                case .entity(let entity, _): (entity.objectType?.name ?? "", entity.digest)
                case .deleted(let deleted, _): (deleted.objectType.name, deleted.digest)
                }
            total.digest ^= digest
            total.objects += 1
            items.append((id, type, digest))
            guard digits.count > prefix.count else { continue }
            let child = String(digits.prefix(prefix.count + 1))
            children[child, default: Sum()].digest ^= digest
            children[child, default: Sum()].objects += 1
        }
        items.sort { $0.id < $1.id }
    }

    func body(serverClock: Clock) -> [UInt8] {
        var writer = JSONWriter(capacity: 2_048)
        writer.object { writer in
            write(prefix, total, to: &writer)
            writer.name("children")
            writer.array { writer in
                for (child, sum) in children.sorted(by: { $0.key < $1.key }) {
                    writer.object { write(child, sum, to: &$0) }
                }
            }
            if items.count <= DigestReport.fewObjects {
                writer.name("items")
                writer.array { writer in
                    for (id, type, digest) in items {
                        writer.object { writer in
                            writer.member("uniqueID", id)
                            writer.member("objectType", type)
                            writer.member("digest", digest.description)
                        }
                    }
                }
            }
            writer.member("serverClock", serverClock)
        }
        return writer.bytes
    }

    private func write(_ prefix: String, _ sum: Sum, to writer: inout JSONWriter) {
        writer.member("prefix", prefix)
        writer.member("digest", sum.digest.description)
        writer.member("objects", Int64(sum.objects))
    }
}
