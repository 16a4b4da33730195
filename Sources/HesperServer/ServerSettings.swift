import HesperModel
import HesperStore

/// The operator's settings of a server, already validated.
public struct ServerSettings: Sendable {
    /// The host to listen on: a name or an address.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port.
    public var port = 8080
    /// The certificate and its key; nil for plain HTTP.
    public var tls: TLSFiles?
    /// The port on which plain HTTP is redirected to HTTPS; nil for none. Requires ``tls``.
    public var httpPort: Int?
    /// The proxies whose headers about the client and the original request are trusted.
    public var trustedProxies: [AddressRange] = []
    public var signUp = SignUpPolicy.closed
    /// Whether ``signUp`` applies only to requests that come from this machine and are sent to `localhost` or a loopback address
    /// (protocol.md, Signing in). If so, sign-up is closed to other requests.
    public var signUpIsForThisMachine = false
    /// Origins whose pages may call the API, such as `https://notes.example.org`, in addition to the loopback origins that
    /// ``allowsLoopbackOrigins`` permits.
    public var origins: [String] = []
    /// The path of the file that `/openapi.yaml` and `/docs` serve; nil if there is none.
    public var contract: String?
    /// The path of `Public/`, the web app; nil if there is none.
    public var webApp: String?
    /// The version of the server, as returned by `GET /v1/server`.
    public var version = "0.1.0"
    public var attachments = AttachmentLimits()
    public var imports = ImportLimits()
    /// The default quota of an account, in bytes. It applies if the operator has set no quota for the account. Nil for no limit.
    public var quota: Int64? = 10 << 30
    /// The separate address for metrics. If it is nil, `/metrics` is on the main address, where only this machine can read it.
    public var metrics: MetricsAddress?
    /// Folders whose disk space is monitored.
    public var disks: [DiskFolder] = []
    /// Counts scheduled backups; nil if no backups are scheduled.
    public var backups: BackupMeter?
    /// The times after which old data is removed.
    public var sweep = SweepPolicy()
    public var connections = ConnectionLimits()
    public var passwords = PasswordLimits()
    public var signIns = SignInLimits()
    public var searches = SearchLimits()
    /// The limits on large bodies that are received at the same time, in total and per account. A body is large if it is
    /// compressed or has more than 256 KiB.
    public var bodies = PermitLimits(total: 32, perKey: 4, waitingPerKey: 64)
    /// The settings for outgoing mail; nil if the server sends no mail.
    public var mail: MailSettings?
    public var mailLimits = MailLimits()
    /// The maximum request rate of an account; nil for no limit.
    public var requests: Rate? = Rate(burst: 12_000, perMinute: 12_000)
    /// If more than this number of requests are being processed, responses contain `Retry-After`.
    public var busyRequests = 512
    /// The maximum rate of ephemeral messages of a device.
    public var ephemerals = Rate(burst: 100, perMinute: 1_200)

    public init() {}

    /// The networks outside the public internet to which webhooks may send requests.
    public var webhookNetworks: [AddressRange] = []

    /// Whether only this machine can connect: the server listens on loopback, and no proxy forwards other clients.
    public var isForThisMachine: Bool { ServerSettings.isLoopback(host) && trustedProxies.isEmpty }

    /// Whether pages of `http://localhost:*` and `http://127.0.0.1:*` may call the API. They may if only this machine can reach
    /// the server (protocol.md, HTTP rules).
    var allowsLoopbackOrigins: Bool { isForThisMachine }

    /// Whether a host is a loopback address.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}

/// The policy for creating accounts. Invitations from the operator and the link for the first account are valid under every policy.
public enum SignUpPolicy: String, Sendable, CaseIterable {
    /// Anyone may create an account.
    case open
    /// Only users with an invitation may create an account. Other users are told to ask the operator for an invitation.
    case invite
    /// Like ``invite``, but other users are told to ask the operator for an account.
    case closed
}

/// Limits on the time and memory that slow or hostile clients can occupy.
public struct ConnectionLimits: Sendable {
    /// The maximum number of open connections. Further connections wait in the queue of the operating system.
    public var count = 8_192
    /// The maximum number of open connections per IPv4 address, or per /64 network of IPv6.
    public var perAddress = 256
    /// The maximum number of concurrent requests on an HTTP/2 connection.
    public var streams = 100
    /// The maximum number of concurrent requests on all HTTP/2 connections of an address. Each request takes about 90 KB of
    /// memory.
    public var streamsPerAddress = 1_000
    /// The time in which a TLS handshake must be complete, in seconds.
    public var handshakeSeconds = 15
    /// Whether the number of connections is also limited for loopback addresses. By default it is not, because a proxy on this
    /// machine may forward many clients.
    public var countsLoopback = false
    /// The maximum size of path and query, in bytes.
    public var uriBytes = 8 << 10
    /// The time in which the head of a request must arrive, in seconds. A connection that is idle for this time is closed.
    public var idleSeconds = 75
    /// The timeout for receiving a body, in seconds. It starts again when it ends, if at least ``bodyBytes`` have arrived since
    /// its start.
    public var bodySeconds = 120
    /// The minimum number of bytes of a body that must arrive in each ``bodySeconds``.
    public var bodyBytes = 1 << 20
    /// The time after which a connection is closed if the client does not read the response, in seconds.
    public var stallSeconds = 60

    public init() {}
}

/// Limits on hashing passwords.
public struct PasswordLimits: Sendable {
    /// The costs that an operator may set. The lowest cost takes 1 MiB of memory and is meant for automated tests. A cost of 14
    /// takes 16 MiB, which the author of scrypt suggested for sign-in. The highest cost takes 1 GiB.
    public static let costs = 10...20
    /// The binary logarithm of scrypt's N. With r = 8 and p = 1, a cost of 17 takes 128 MiB, which OWASP recommends (Password
    /// Storage Cheat Sheet).
    public var cost = 17
    /// The maximum number of hashes that are computed at the same time.
    public var maxConcurrent = 2
    /// The maximum number of requests that wait for the hashing of a password. Further requests are refused.
    public var waiting = 64

    public init() {}
}

/// Limits on attempts at passwords and codes, and on the creation of accounts.
public struct SignInLimits: Sendable {
    /// The number of failed attempts at one account from one address after which the first wait is required.
    public var freeTries = 10
    /// The first wait after failed attempts, in seconds. Each later wait is twice as long as the previous one.
    public var firstWaitSeconds = 1
    /// The maximum wait after failed attempts, in seconds.
    public var longestWaitSeconds = 15 * 60
    /// If there is no attempt for this time, in seconds, the count of failed attempts starts again at 0.
    public var forgetSeconds = 24 * 60 * 60
    /// The maximum rate of failed attempts at one account from all addresses together. If this rate is exceeded, each address is
    /// permitted only one attempt, instead of ``freeTries``, before it must wait.
    public var perAccount = Rate(burst: 20, perMinute: 10)
    /// The maximum number of concurrent sign-ins from one address. Loopback is not limited.
    public var maxConcurrentPerAddress = 16
    /// The maximum rate of failed attempts from one IPv4 address, or from one /64 network of IPv6.
    public var perAddress = Rate(burst: 60, perMinute: 60)
    /// The maximum rate at which accounts are created from one address. Loopback is not limited.
    public var signUps = Rate(burst: 20, perMinute: 2)

    public init() {}
}

/// Limits on the duration and the number of searches. The limits on the content of a single search are in ``Limits``.
public struct SearchLimits: Sendable {
    /// The time after which a search stops, even if it is not complete.
    public var timeout = Duration.seconds(Limits.searchSeconds)
    /// The maximum number of concurrent searches, in total and per account. If the store has a pool of connections, the total is
    /// at most half of the pool.
    public var permits = PermitLimits(total: 4, perKey: 2, waitingPerKey: 8)

    public init() {}
}

/// A maximum rate: the number of events that may happen at once, and the average number of events per minute.
public struct Rate: Sendable {
    public var burst: Int
    public var perMinute: Double

    public init(burst: Int, perMinute: Double) {
        self.burst = burst
        self.perMinute = perMinute
    }
}
