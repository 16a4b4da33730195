import Configuration

/// Something that an operator may set: by a flag, by a variable, or in the file.
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
    var flag: String {
        // One flag an origin, or a proxy, so that the flag is in the singular.
        switch self {
        case .corsOrigins: "--cors-origin"
        case .trustedProxies: "--trusted-proxy"
        default: "--" + words.joined(separator: "-")
        }
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
