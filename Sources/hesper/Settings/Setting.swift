import HesperServer

/// Something that an operator may set: by a flag, by a variable, or in the file. All that is known of a setting before it is read
/// stands here; `docs/operating.md` has the same table.
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
    case sendmail
    case mailFrom
    case backupTo
    case backupEvery
    case backupKeep

    /// As it is written in the file.
    var key: String { rawValue }

    /// As it is written on the command line: `--sign-up`.
    var flag: String { "--" + flagName }

    /// The same without the hyphens before it. The flag of a list has one value, and so is in the singular.
    var flagName: String {
        if let flag = row.flag { return flag }
        return words.joined(separator: "-")
    }

    /// As it is written in the environment: `HESPER_SIGN_UP`.
    var variable: String { Setting.variablePrefix + words.joined(separator: "_").uppercased() }

    static let variablePrefix = "HESPER_"
    /// Names the file itself, so it cannot be set there.
    static let configVariable = "HESPER_CONFIG"
    /// Goes with the AWS variables of a bucket, which are no settings of ours either.
    static let pathStyleVariable = "HESPER_S3_PATH_STYLE"

    /// `signUp` as `["sign", "up"]`.
    private var words: [String] {
        key.reduce(into: [""]) { words, letter in
            if letter.isUppercase { words.append("") }
            words[words.count - 1] += letter.lowercased()
        }
    }
}

/// What kind of value a setting has.
enum SettingKind: Equatable {
    case text
    /// Several texts: a flag for each, a variable with commas, a list in the file.
    case list
    /// - Parameter noun: what an error says is wanted: "a port".
    case integer(ClosedRange<Int>, noun: String)
}

/// A row of the table of settings.
struct SettingRow {
    /// The name of the flag where it is not made of the words of the key.
    var flag: String?
    var kind = SettingKind.text
    /// What the help calls the value: "folder".
    let value: String
    /// The default, in Markdown.
    let defaultText: String
    /// What it is, without a full stop.
    let help: String
    /// Sentences of the help behind that.
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
        case .host: SettingRow("name or address", default: "`\(ServerSettings().host)`", "Where to listen")
        case .port:
            SettingRow(
                kind: .integer(0...65_535, noun: "a port"), "number", default: "`\(ServerSettings().port)`",
                "The port, 0 for any that is free")
        case .data:
            SettingRow(
                "folder", default: "`\(Settings.defaultData)`", "The folder of the data",
                note:
                    "Without it, commands other than serve use that of the installed service, if there is no folder data."
            )
        case .database:
            SettingRow(
                "URL", default: "`sqlite:`",
                "The database: sqlite: for a file in the folder of the data, or postgresql://…",
                note: "A password in it can be read by every user of the machine: set the variable, or see PGPASSFILE.")
        case .databaseConnections:
            // One writes and one reads at the least; more than a thousand no PostgreSQL is set up for.
            SettingRow(
                kind: .integer(2...1_000, noun: "a number of connections"), "number",
                default: "`\(Settings.defaultDatabaseConnections)`",
                "The maximum number of concurrent connections to PostgreSQL for requests; a server has two more for signals to and from others"
            )
        case .attachments:
            SettingRow(
                "place", default: "`attachments` in the data folder",
                "Where the attachments' bytes are: a folder, or s3://bucket/prefix with the usual AWS variables")
        case .attachmentSize: SettingRow("bytes", default: "`100MiB`", "The maximum size of an attachment")
        case .quota:
            SettingRow("bytes", default: "`10GiB`", "How many bytes an account may store, or none for any number")
        case .history:
            SettingRow(
                "times", default: "`1d,30d`",
                "How long superseded values are kept: all of them for the first time, one an hour until the second, then one a day; or forever"
            )
        case .grace: SettingRow("time", default: "`30d`", "How long what was deleted can be put back")
        case .requestsPerMinute:
            SettingRow(
                "number", default: "`12000`",
                "How many requests an account may send a minute, or none for as many as it likes")
        case .passwordCost:
            SettingRow(
                kind: .integer(PasswordLimits.costs, noun: "a number"), "number", default: "`\(PasswordLimits().cost)`",
                "What a new password costs to try, for the server too: 2^number KiB of memory, \(PasswordLimits.costs.lowerBound) to \(PasswordLimits.costs.upperBound)"
            )
        case .public:
            SettingRow(
                "folder", default: "`share/hesper` beside the folder of the binary, else the working directory",
                "The folder of Public, the web app, and openapi.yaml")
        case .signUp:
            SettingRow(
                "policy", default: "`open` to this machine on loopback without a trusted proxy, else `closed`",
                "Who may make an account: open, invite or closed")
        case .url:
            SettingRow(
                "URL", default: "where it listens",
                "Scheme, host and port under which people reach the server, for links")
        case .corsOrigins:
            SettingRow(
                flag: "cors-origin", kind: .list, "origin", default: "none",
                "An origin whose pages may call the API, such as https://notes.example.org; once for each")
        case .logLevel:
            SettingRow("level", default: "`info`", "trace, debug, info, notice, warning, error or critical")
        case .logFormat: SettingRow("format", default: "`text`", "text, for people, or json, an object a line")
        case .metrics:
            SettingRow(
                "address", default: "beside the API, for this machine",
                "An address such as 127.0.0.1:9464 where /metrics is available, and nothing else")
        case .tls:
            SettingRow(
                "way", default: "none",
                "self-signed for HTTPS with a certificate that Hesper makes for itself, in the data folder")
        case .tlsCertificate: SettingRow("file", default: "none", "The certificate and its chain, in PEM")
        case .tlsKey: SettingRow("file", default: "none", "The certificate's private key, in PEM")
        case .httpPort:
            SettingRow(
                kind: .integer(1...65_535, noun: "a port"), "number", default: "none",
                "A port where plain HTTP is sent on to HTTPS")
        case .trustedProxies:
            SettingRow(
                flag: "trusted-proxy", kind: .list, "address", default: "none",
                "A proxy that may say where a request comes from (X-Forwarded-For, -Proto, -Host): its address, or a network such as 10.0.0.0/8; once for each"
            )
        case .sendmail:
            SettingRow(
                "command", default: "no mail",
                "A command that takes a message as sendmail does, such as \"/usr/sbin/sendmail -t -i\": split at spaces, run without a shell",
                note: "Needs --mail-from and --url.")
        case .mailFrom: SettingRow("e-mail address", default: "none", "The e-mail address that letters are from")
        case .backupTo:
            SettingRow(
                "folder", default: "no backups",
                "An existing folder for dated backups that the server makes while it runs")
        case .backupEvery:
            SettingRow("time", default: "`1d`", "The time from one backup to the next, such as 12h", note: needsFolder)
        case .backupKeep:
            SettingRow(
                kind: .integer(1...1_000, noun: "a number of backups"), "number", default: "`7`",
                "How many complete backups to keep", note: needsFolder)
        }
    }

    private var needsFolder: String { "Needs --backup-to." }
}
