import Foundation
import HesperBlobs
import HesperModel
import HesperServer
import HesperStore
import Logging

/// All that an operator decides, read and checked before anything starts.
///
/// Flags win over variables, these over the file: `--config`, else `HESPER_CONFIG`, else `hesper.json` in the data folder
/// if there is one.
struct Settings {
    let reader: SettingReader
    /// The folder of the database.
    let data: String
    /// What is odd but stops nothing.
    let warnings: [String]

    /// The name of the file that is found without being named.
    static let fileName = "hesper.json"
    static let defaultData = "data"

    /// - Parameters:
    ///   - flags: those that were given, as they were typed.
    ///   - config: what `--config` says.
    /// - Throws: ``Failure`` that names what is wrong and where.
    init(
        flags: [Setting: [String]] = [:], config: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        var sources = [SettingSource.flags(flags), SettingSource.variables(environment)]
        let data = try SettingReader(sources: sources).string(.data)?.value
        if let path = config ?? environment[Setting.configVariable].flatMap({ $0.isEmpty ? nil : $0 }) {
            sources.append(try .file(path))
        } else {
            let path = URL(filePath: data ?? Settings.defaultData).appending(path: Settings.fileName).relativePath
            if FileManager.default.fileExists(atPath: path) {
                sources.append(try .file(path))
                if let moved = try SettingReader(sources: sources.suffix(1)).string(.data) {
                    throw moved.wrong("a file in the data folder cannot say where that is.")
                }
            }
        }
        reader = SettingReader(sources: sources)
        self.data = try reader.string(.data)?.value ?? Settings.defaultData
        let known = Set(Setting.allCases.map(\.variable) + [Setting.configVariable, Setting.pathStyleVariable])
        warnings = environment.keys.sorted()
            .filter { $0.hasPrefix(Setting.variablePrefix) && !known.contains($0) }
            .map { "\($0) is no setting of this version." }
    }

    /// What `serve` starts the server with; where `Public/` and `openapi.yaml` are is for ``ShareFolder`` to find.
    func server() throws -> ServerSettings {
        var settings = ServerSettings()
        if let host = try reader.string(.host) { settings.host = host.value }
        if let port = try reader.integer(.port) { settings.port = port.value }
        settings.tls = try tls()
        settings.httpPort = try httpPort(settings)
        settings.origins = try origins()
        settings.trustedProxies = try trustedProxies()
        settings.attachments = try attachmentLimits()
        if let found = try reader.string(.quota) { settings.quota = try Settings.quota(found) }
        settings.sweep = try sweepPolicy()
        if let found = try reader.string(.requestsPerMinute) { settings.requests = try Settings.requests(found) }
        settings.passwords.cost = try passwordCost()
        settings.metrics = try metrics()
        settings.disks = try disks()
        settings.mail = try mail()
        // Whoever can only be reached from this machine may let everybody in.
        if let found = try reader.choice(.signUp, of: SignUpPolicy.self) {
            settings.signUp = found.value
        } else if settings.isForThisMachine {
            (settings.signUp, settings.signUpIsForThisMachine) = (.open, true)
        }
        return settings
    }

    private func attachmentLimits() throws -> AttachmentLimits {
        var limits = AttachmentLimits()
        if let found = try reader.string(.attachmentSize) {
            guard let size = ByteSize(found.value), size.bytes > 0 else { throw found.wrong(ByteSize.wanted) }
            limits.largest = size.bytes
        }
        return limits
    }

    private static func quota(_ found: SettingReader.Found<String>) throws -> Int64? {
        guard found.value != "none" else { return nil }
        guard let size = ByteSize(found.value) else { throw found.wrong("none, or \(ByteSize.wanted)") }
        return size.bytes
    }

    /// As many at once as in a minute: a device that comes back after a while has a lot to ask.
    private static func requests(_ found: SettingReader.Found<String>) throws -> Rate? {
        guard found.value != "none" else { return nil }
        guard let number = Int(found.value), (60...1_000_000).contains(number) else {
            throw found.wrong("none, or a number from 60 to 1000000 is wanted, not \"\(found.value)\".")
        }
        return Rate(burst: number, perMinute: number)
    }

    /// The binary logarithm of scrypt's N, for passwords that are set from now on.
    func passwordCost() throws -> Int {
        try reader.integer(.passwordCost)?.value ?? PasswordLimits().cost
    }

    /// `HOST:PORT`, of IPv6 `[ADDRESS]:PORT`.
    private func metrics() throws -> MetricsAddress? {
        guard let found = try reader.string(.metrics) else { return nil }
        let parts = found.value.split(separator: ":", omittingEmptySubsequences: false)
        let host = parts.dropLast().joined(separator: ":")
        guard let last = parts.last, let port = UInt16(last), !host.isEmpty,
            !host.contains(":") || host.hasPrefix("[") && host.hasSuffix("]")
        else { throw found.wrong("an address such as 127.0.0.1:9464 is wanted, not \"\(found.value)\".") }
        return MetricsAddress(host: host.trimmingCharacters(in: ["[", "]"]), port: Int(port))
    }

    /// The folders of this machine that the server writes to.
    private func disks() throws -> [DiskFolder] {
        var disks = [DiskFolder(name: "data", path: data)]
        let place = try attachments()
        if !S3Location.isMeant(by: place) { disks.append(DiskFolder(name: "attachments", path: place)) }
        return disks
    }

    private func sweepPolicy() throws -> SweepPolicy {
        var policy = SweepPolicy()
        if let found = try reader.string(.history) {
            policy.history = try Settings.history(found)
        }
        if let found = try reader.string(.grace) {
            guard let period = Period(found.value) else {
                throw found.wrong("\(Period.wanted), not \"\(found.value)\".")
            }
            policy.grace = period.milliseconds
        }
        return policy
    }

    private static func history(_ found: SettingReader.Found<String>) throws -> HistoryPolicy {
        guard found.value != "forever" else { return .forever }
        let periods = found.value.split(separator: ",", omittingEmptySubsequences: false).map(Period.init)
        guard periods.count == 2, let all = periods[0], let hourly = periods[1] else {
            throw found.wrong(
                "forever is wanted, or two times such as 1d,30d, each from 1h to 36500d, not \"\(found.value)\".")
        }
        guard all.milliseconds <= hourly.milliseconds else {
            throw found.wrong("the second time, until when one an hour is kept, is shorter than the first.")
        }
        return .thinned(all: all.milliseconds, hourly: hourly.milliseconds)
    }

    /// Where the database is.
    func database() throws -> DatabaseLocation {
        guard let found = try reader.string(.database) else { return .sqlite(folder: data) }
        do {
            return try DatabaseLocation(found.value, data: data)
        } catch let error as DatabaseLocation.Wrong {
            throw found.wrong(error.why)
        }
    }

    /// How many connections to a database server there may be at once.
    func databaseConnections() throws -> Int {
        try reader.integer(.databaseConnections)?.value
            ?? Settings.defaultDatabaseConnections
    }

    static let defaultDatabaseConnections = 16

    /// Where people reach the server, for links: scheme, host and port; nil if the operator has not said.
    func url() throws -> String? {
        guard let found = try reader.string(.url) else { return nil }
        let url = found.value.hasSuffix("/") ? String(found.value.dropLast()) : found.value
        guard Settings.isOrigin(url) else {
            throw found.wrong(
                "\"\(found.value)\" is not scheme, host and port alone, such as https://notes.example.org.")
        }
        return url
    }

    /// The same, or where the server listens.
    func origin() throws -> String {
        if let url = try url() { return url }
        var server = ServerSettings()
        if let host = try reader.string(.host) { server.host = host.value }
        if let port = try reader.integer(.port) { server.port = port.value }
        server.tls = try tls()
        return ListeningAddress(server, port: nil).link
    }

    /// The folder of the bytes of attachments, or a bucket for them.
    func attachments() throws -> String {
        try reader.string(.attachments)?.value ?? ownAttachments
    }

    /// The folder of the bytes of attachments, unless another place is named for them.
    var ownAttachments: String { URL(filePath: data).appending(path: "attachments").relativePath }

    /// The folder of uploads that are under way.
    var uploads: String { URL(filePath: data).appending(path: "uploads").relativePath }

    func logLevel() throws -> Logger.Level { try reader.choice(.logLevel)?.value ?? .info }

    func logFormat() throws -> LogFormat { try reader.choice(.logFormat)?.value ?? .text }

    /// The folder that was named for `Public/` and `openapi.yaml`; nil to look in the usual places.
    func publicFolder() throws -> String? {
        guard let found = try reader.string(.public) else { return nil }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: found.value, isDirectory: &isFolder), isFolder.boolValue else {
            throw found.wrong("\(found.value) is not a folder.")
        }
        return found.value
    }

    private func trustedProxies() throws -> [AddressRange] {
        guard let found = try reader.strings(.trustedProxies) else { return [] }
        return try found.value.map { text in
            guard let range = AddressRange(text) else {
                throw found.wrong(
                    "\"\(text)\" is neither an address, such as 127.0.0.1, nor a network, such as 10.0.0.0/8 or fd00::/8."
                )
            }
            return range
        }
    }

    private func origins() throws -> [String] {
        guard let found = try reader.strings(.corsOrigins) else { return [] }
        for origin in found.value where !Settings.isOrigin(origin) {
            throw found.wrong(
                "\"\(origin)\" is not an origin such as https://notes.example.org: scheme, host and port alone.")
        }
        return found.value.map { $0.lowercased() }
    }

    /// Whether a browser could send this as `Origin` (RFC 6454, 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else { return false }
        return parts.path.isEmpty && parts.query == nil && parts.fragment == nil && parts.user == nil
    }
}
