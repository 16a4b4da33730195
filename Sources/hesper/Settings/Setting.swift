import HesperServer

/// A setting. It can be set by an option, by an environment variable or in a settings file. ``row`` contains its other properties.
/// A table in `docs/operating.md` lists all settings with these properties.
enum Setting: String, CaseIterable {
    case host
    case port
    case data
    case database
    case databaseConnections
    case attachments
    case attachmentSize
    case quota
    case history
    case grace
    case requestsPerMinute
    case passwordCost
    case `public`
    case signUp
    case url
    case corsOrigins
    case logLevel
    case logFormat
    case metrics
    case tls
    case tlsCertificate
    case tlsKey
    case httpPort
    case trustedProxies
    case webhookNetworks
    case sendmail
    case mailFrom
    case backupTo
    case backupEvery
    case backupKeep

    /// The key of the setting in the settings file.
    var key: String { rawValue }

    /// The setting's command-line option, for example `--sign-up`.
    var flag: String { "--" + flagName }

    /// The option without the leading hyphens. If the setting is a list, the name of the option is in the singular, because each
    /// use of the option adds one value.
    var flagName: String {
        if let flag = row.flag { return flag }
        return words.joined(separator: "-")
    }

    /// The name of the setting's environment variable, for example `HESPER_SIGN_UP`.
    var variable: String { Setting.variablePrefix + words.joined(separator: "_").uppercased() }

    static let variablePrefix = "HESPER_"
    /// The variable for the path of the settings file. The path cannot be set in that file itself.
    static let configVariable = "HESPER_CONFIG"
    /// The variable that selects path-style requests to S3. The S3 client reads this variable, together with the AWS variables.
    static let pathStyleVariable = "HESPER_S3_PATH_STYLE"

    /// The words of the setting's key: `signUp` yields `["sign", "up"]`.
    private var words: [String] {
        key.reduce(into: [""]) { words, letter in
            if letter.isUppercase { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
    }
}

/// The type of a setting's value.
enum SettingKind: Equatable {
    case text
    /// Several texts. They are given by repeating the option, as a comma-separated variable, or as an array in the settings
    /// file.
    case list
    /// A whole number in a range.
    /// - Parameter noun: the noun that error messages use for the number, for example "a port".
    case integer(ClosedRange<Int>, noun: String)
}

/// A row of the table of settings: the properties of one setting.
struct SettingRow {
    /// The name of the command-line option; nil if it is derived from the key.
    var flag: String?
    var kind = SettingKind.text
    /// The word that stands for the value in the help, for example "folder".
    let value: String
    /// The default value of the setting, in Markdown.
    let defaultText: String
    /// A description of the setting, without a full stop.
    let help: String
    /// Additional sentences at the end of the help; nil if there are none.
    var note: String?

    init(
        flag: String? = nil, kind: SettingKind = .text, _ value: String, default defaultText: String, _ help: String,
        note: String? = nil
    ) {
        self.flag = flag
        self.kind = kind
        self.value = value
        self.defaultText = defaultText
        self.help = help
        self.note = note
    }
}

extension Setting {
    var row: SettingRow {
        switch self {
        case .host: SettingRow("name or address", default: "`\(ServerSettings().host)`", "The address to listen on")
        case .port:
            SettingRow(
                kind: .integer(0...65_535, noun: "a port"), "number", default: "`\(ServerSettings().port)`",
                "The port to listen on, or 0 for any free port")
        case .data:
            SettingRow(
                "folder", default: "`\(Settings.defaultData)`", "The data folder",
                note:
                    "The default for commands other than serve is the folder of the installed service, unless a folder named data exists."
            )
        case .database:
            SettingRow(
                "URL", default: "`sqlite:`",
                "The database: a file in the data folder (sqlite:) or a PostgreSQL database (postgresql://…)",
                note: "All users of the machine can read a password in this option. Use the variable, or PGPASSFILE.")
        case .databaseConnections:
            // The server needs at least one connection for writing and one for reading. PostgreSQL is rarely configured for
            // more than a thousand connections.
            SettingRow(
                kind: .integer(2...1_000, noun: "a number of connections"), "number",
                default: "`\(Settings.defaultDatabaseConnections)`",
                "The maximum number of PostgreSQL connections for requests. A server uses two more for LISTEN and NOTIFY"
            )
        case .attachments:
            SettingRow(
                "location", default: "`attachments` in the data folder",
                "The storage of attachments: a folder, or s3://bucket/prefix with the usual AWS variables")
        case .attachmentSize: SettingRow("bytes", default: "`100MiB`", "The maximum size of an attachment")
        case .quota:
            SettingRow("bytes", default: "`10GiB`", "The storage quota of an account, or none for no limit")
        case .history:
            SettingRow(
                "times", default: "`1d,30d`",
                "How long overwritten values are kept: two durations that begin when a value is overwritten. All values are kept during the first, one per hour until the end of the second, and one per day after that. With forever, all values are kept"
            )
        case .grace: SettingRow("time", default: "`30d`", "How long deleted objects can be restored")
        case .requestsPerMinute:
            SettingRow(
                "number", default: "`12000`",
                "The maximum number of requests per minute and account, or none for no limit")
        case .passwordCost:
            SettingRow(
                kind: .integer(PasswordLimits.costs, noun: "a number"), "number", default: "`\(PasswordLimits().cost)`",
                "The cost of hashing new passwords, \(PasswordLimits.costs.lowerBound) to \(PasswordLimits.costs.upperBound): a hash needs 2^number KiB of memory"
            )
        case .public:
            SettingRow(
                "folder", default: "`share/hesper` beside the folder of the binary, else the working directory",
                "The folder that contains Public (the web app) and openapi.yaml")
        case .signUp:
            SettingRow(
                "policy",
                default: "`open` if the server listens on loopback without a trusted proxy; otherwise `closed`",
                "Who may create an account: open, invite or closed")
        case .url:
            SettingRow(
                "URL", default: "where it listens",
                "The public URL of the server for links: scheme, host and port")
        case .corsOrigins:
            SettingRow(
                flag: "cors-origin", kind: .list, "origin", default: "none",
                "An origin whose pages may use the API, such as https://notes.example.org. Can be repeated")
        case .logLevel:
            SettingRow(
                "level", default: "`info`", "The log level: trace, debug, info, notice, warning, error or critical")
        case .logFormat:
            SettingRow("format", default: "`text`", "The log format: text, or json with one object per line")
        case .metrics:
            SettingRow(
                "address", default: "on the address of the API, for clients on this machine",
                "A separate address for /metrics, such as 127.0.0.1:9464")
        case .tls:
            SettingRow(
                "mode", default: "none",
                "self-signed for HTTPS with a certificate that Hesper creates in the data folder")
        case .tlsCertificate: SettingRow("file", default: "none", "The certificate with its chain, in PEM format")
        case .tlsKey: SettingRow("file", default: "none", "The private key of the certificate, in PEM format")
        case .httpPort:
            SettingRow(
                kind: .integer(1...65_535, noun: "a port"), "number", default: "none",
                "A port for plain HTTP that redirects to HTTPS")
        case .trustedProxies:
            SettingRow(
                flag: "trusted-proxy", kind: .list, "address", default: "none",
                "The address of a proxy whose X-Forwarded-For, -Proto and -Host headers are trusted, or a network such as 10.0.0.0/8. Can be repeated"
            )
        case .webhookNetworks:
            SettingRow(
                flag: "webhook-network", kind: .list, "address", default: "none",
                "An address or a network that is not public, such as 192.168.1.0/24, to which webhooks may send requests, also over plain HTTP. Can be repeated"
            )
        case .sendmail:
            SettingRow(
                "command", default: "no mail",
                "The command for sending e-mail, such as \"/usr/sbin/sendmail -t -i\". Split at spaces and run without a shell",
                note: "Requires --mail-from and --url.")
        case .mailFrom: SettingRow("e-mail address", default: "none", "The sender address of e-mail")
        case .backupTo:
            SettingRow(
                "folder", default: "no backups",
                "An existing folder for scheduled backups")
        case .backupEvery:
            SettingRow("time", default: "`1d`", "The interval between backups, such as 12h", note: needsFolder)
        case .backupKeep:
            SettingRow(
                kind: .integer(1...1_000, noun: "a number of backups"), "number", default: "`7`",
                "The number of complete backups to keep", note: needsFolder)
        }
    }

    private var needsFolder: String { "Requires --backup-to." }
}
