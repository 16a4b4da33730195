import Foundation
import HesperBlobs
import HesperModel
import HesperServer
import HesperStore
import Logging

/// The settings of an installation. They are read and validated before anything else starts.
///
/// Options take precedence over variables, and variables over the settings file. The path of the settings file is set with
/// `--config` or `HESPER_CONFIG`, of which `--config` takes precedence. The default is `hesper.json` in the data folder. This
/// default file need not exist.
struct Settings {
    let reader: SettingReader
    /// The path of the data folder.
    let data: String
    /// Warnings about settings. They do not prevent the server from starting.
    let warnings: [String]

    /// The name of the settings file in the data folder.
    static let fileName = "hesper.json"
    static let defaultData = "data"

    /// Reads the settings of the server.
    /// - Parameters:
    ///   - flags: the options that were given, with their unparsed values.
    ///   - config: the value of `--config`.
    /// - Throws: ``Failure``, which names the invalid setting and its source.
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
                if let found = try SettingReader(sources: sources.suffix(1)).string(.data) {
                    throw found.failure("cannot be set in a file in the data folder.")
                }
            }
        }
        reader = SettingReader(sources: sources)
        self.data = try reader.string(.data)?.value ?? Settings.defaultData
        let known = Set(Setting.allCases.map(\.variable) + [Setting.configVariable, Setting.pathStyleVariable])
        warnings = environment.keys.sorted()
            .filter { $0.hasPrefix(Setting.variablePrefix) && !known.contains($0) }
            .map { "Unknown setting \($0)." }
    }

    /// The settings of the server, for the command `serve`. They do not contain the locations of `Public/` and `openapi.yaml`,
    /// which ``ShareFolder`` finds.
    func server() throws -> ServerSettings {
        var settings = ServerSettings()
        if let host = try reader.string(.host) { settings.host = host.value }
        if let port = try reader.integer(.port) { settings.port = port.value }
        settings.tls = try tls()
        settings.httpPort = try httpPort(settings)
        settings.origins = try origins()
        settings.trustedProxies = try ranges(.trustedProxies)
        settings.webhookNetworks = try ranges(.webhookNetworks)
        settings.attachments = try attachmentLimits()
        if let found = try reader.string(.quota) { settings.quota = try Settings.quota(found) }
        settings.sweep = try sweepPolicy()
        if let found = try reader.string(.requestsPerMinute) { settings.requests = try Settings.requests(found) }
        settings.passwords.cost = try passwordCost()
        settings.metrics = try metrics()
        settings.disks = try disks()
        settings.mail = try mail()
        // By default, sign-up is open if the server can be reached only from this machine.
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
            guard let size = ByteSize(found.value), size.bytes > 0 else {
                throw found.failure("must be \(ByteSize.form).")
            }
            limits.largest = size.bytes
        }
        return limits
    }

    private static func quota(_ found: SettingReader.LocatedValue<String>) throws -> Int64? {
        guard found.value != "none" else { return nil }
        guard let size = ByteSize(found.value) else { throw found.failure("must be none or \(ByteSize.form).") }
        return size.bytes
    }

    /// The rate limit for the requests of an account. An account may send all requests of a minute in one burst, because a device
    /// may need many requests after it was offline.
    private static func requests(_ found: SettingReader.LocatedValue<String>) throws -> Rate? {
        guard found.value != "none" else { return nil }
        guard let number = Int(found.value), (60...1_000_000).contains(number) else {
            throw found.failure("must be none or a number from 60 to 1000000, not \"\(found.value)\".")
        }
        return Rate(burst: number, perMinute: Double(number))
    }

    /// The binary logarithm of the cost parameter N of scrypt, for new passwords.
    func passwordCost() throws -> Int {
        try reader.integer(.passwordCost)?.value ?? PasswordLimits().cost
    }

    /// The address for metrics, in the form `HOST:PORT`, or `[ADDRESS]:PORT` for IPv6; nil if it is not set.
    private func metrics() throws -> MetricsAddress? {
        guard let found = try reader.string(.metrics) else { return nil }
        let parts = found.value.split(separator: ":", omittingEmptySubsequences: false)
        let host = parts.dropLast().joined(separator: ":")
        guard let last = parts.last, let port = UInt16(last), !host.isEmpty,
            !host.contains(":") || host.hasPrefix("[") && host.hasSuffix("]")
        else { throw found.failure("must be an address such as 127.0.0.1:9464, not \"\(found.value)\".") }
        return MetricsAddress(host: host.trimmingCharacters(in: ["[", "]"]), port: Int(port))
    }

    /// The folders on this machine whose disk space is monitored.
    private func disks() throws -> [DiskFolder] {
        var disks = [DiskFolder(name: "data", path: data)]
        let location = try attachments()
        if !S3Location.isURL(location) { disks.append(DiskFolder(name: "attachments", path: location)) }
        return disks
    }

    private func sweepPolicy() throws -> SweepPolicy {
        var policy = SweepPolicy()
        if let found = try reader.string(.history) {
            policy.history = try Settings.history(found)
        }
        if let found = try reader.string(.grace) {
            guard let period = Period(found.value) else {
                throw found.failure("must be \(Period.form), not \"\(found.value)\".")
            }
            policy.grace = period.milliseconds
        }
        return policy
    }

    private static func history(_ found: SettingReader.LocatedValue<String>) throws -> HistoryPolicy {
        guard found.value != "forever" else { return .forever }
        let periods = found.value.split(separator: ",", omittingEmptySubsequences: false).map(Period.init)
        guard periods.count == 2, let all = periods[0], let hourly = periods[1] else {
            throw found.failure(
                "must be forever or two durations such as 1d,30d, each from 1h to 36500d, not \"\(found.value)\".")
        }
        guard all.milliseconds <= hourly.milliseconds else {
            throw found.failure("the second duration must not be shorter than the first.")
        }
        return .thinned(all: all.milliseconds, hourly: hourly.milliseconds)
    }

    /// The location of the database.
    func database() throws -> DatabaseLocation {
        guard let found = try reader.string(.database) else { return .sqlite(folder: data) }
        do {
            return try DatabaseLocation(found.value, data: data)
        } catch let error as DatabaseLocation.Invalid {
            throw found.failure(error.reason)
        }
    }

    /// The maximum number of connections to a database server.
    func databaseConnections() throws -> Int {
        try reader.integer(.databaseConnections)?.value
            ?? Settings.defaultDatabaseConnections
    }

    static let defaultDatabaseConnections = 16

    /// The public URL of the server for links: scheme, host and port. Nil if it is not set.
    func url() throws -> String? {
        guard let found = try reader.string(.url) else { return nil }
        let url = found.value.hasSuffix("/") ? String(found.value.dropLast()) : found.value
        guard Settings.isOrigin(url) else {
            throw found.failure(
                "must be a scheme, host and port, such as https://notes.example.org, not \"\(found.value)\".")
        }
        return url
    }

    /// The public URL of the server or, if it is not set, the URL of the address on which the server listens.
    func origin() throws -> String {
        if let url = try url() { return url }
        var server = ServerSettings()
        if let host = try reader.string(.host) { server.host = host.value }
        if let port = try reader.integer(.port) { server.port = port.value }
        server.tls = try tls()
        return ListeningAddress(server, port: nil).link
    }

    /// The location of attachments: a folder or the URL of a bucket.
    func attachments() throws -> String {
        try reader.string(.attachments)?.value ?? defaultAttachments
    }

    /// The folder in which attachments are stored if no other location is set.
    var defaultAttachments: String { URL(filePath: data).appending(path: "attachments").relativePath }

    /// The folder for uploads that are not complete yet.
    var uploads: String { URL(filePath: data).appending(path: "uploads").relativePath }

    /// The folder in which the server stores the temporary files of imports.
    var imports: String { URL(filePath: data).appending(path: "imports").relativePath }

    func logLevel() throws -> Logger.Level { try reader.choice(.logLevel)?.value ?? .info }

    func logFormat() throws -> LogFormat { try reader.choice(.logFormat)?.value ?? .text }

    /// The folder that contains `Public/` and `openapi.yaml`. Nil if no folder is set. In that case, the default folders are
    /// searched.
    func publicFolder() throws -> String? {
        guard let found = try reader.string(.public) else { return nil }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: found.value, isDirectory: &isFolder), isFolder.boolValue else {
            throw found.failure("\(found.value) is not a folder.")
        }
        return found.value
    }

    /// A setting that is a list of addresses and networks.
    private func ranges(_ setting: Setting) throws -> [AddressRange] {
        guard let found = try reader.strings(setting) else { return [] }
        return try found.value.map { text in
            guard let range = AddressRange(text) else {
                throw found.failure(
                    "must be addresses such as 127.0.0.1, or networks such as 10.0.0.0/8 or fd00::/8, not \"\(text)\"."
                )
            }
            return range
        }
    }

    private func origins() throws -> [String] {
        guard let found = try reader.strings(.corsOrigins) else { return [] }
        for origin in found.value where !Settings.isOrigin(origin) {
            throw found.failure(
                "must be origins (scheme, host and port) such as https://notes.example.org, not \"\(origin)\".")
        }
        return found.value.map { $0.lowercased() }
    }

    /// Whether a text is a valid value of the HTTP header `Origin` (RFC 6454, 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
        else { return false }
        return parts.path.isEmpty && parts.query == nil && parts.fragment == nil && parts.user == nil
    }
}
