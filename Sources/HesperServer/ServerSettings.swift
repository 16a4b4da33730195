import HesperModel
import HesperStore

/// The operator's settings of a server, already validated.
public struct ServerSettings: Sendable {
    /// The host to listen on: a name or an address.
    public var host = "127.0.0.1"
    /// 0 for any free port.
    public var port = 8080
    /// Nil for plain HTTP.
    public var tls: TLSFiles?
    /// The port for plain HTTP, which redirects to HTTPS; nil for none. Requires ``tls``.
    public var httpPort: Int?
    /// Proxies whose headers about the client and the original request are trusted.
    public var trustedProxies: [AddressRange] = []
    public var signUp = SignUpPolicy.closed
    /// Whether ``signUp`` applies only to requests that this machine sends to itself by name (protocol.md, Signing in).
    public var signUpIsForThisMachine = false
    /// Origins whose pages may call the API, such as `https://notes.example.org`, besides those of ``allowsLoopbackOrigins``.
    public var origins: [String] = []
    /// The path of `openapi.yaml`, for `/openapi.yaml` and `/docs`; nil if there is none.
    public var contract: String?
    /// The path of `Public/`, the web app; nil if there is none.
    public var webApp: String?
    /// The version in `GET /v1/server`.
    public var version = "0.1.0"
    public var attachments = AttachmentLimits()
    /// The quota of accounts without one of their own, in bytes; nil for no limit.
    public var quota: Int64? = 10 << 30
    /// The separate address for metrics; nil for `/metrics` on the main address, for this machine only.
    public var metrics: MetricsAddress?
    /// Folders whose disk space is monitored.
    public var disks: [DiskFolder] = []
    /// The counts of scheduled backups; nil if none are scheduled.
    public var backups: BackupMeter?
    /// What is removed after which time.
    public var sweep = SweepPolicy()
    public var connections = ConnectionLimits()
    public var passwords = PasswordLimits()
    public var signIns = SignInLimits()
    public var searches = SearchLimits()
    /// Limits concurrent bodies that are compressed or larger than 256 KiB, keyed by account.
    public var bodies = PermitLimits(total: 32, perKey: 4, waitingPerKey: 64)
    /// The settings for outgoing mail; nil for none.
    public var mail: MailSettings?
    public var mailLimits = MailLimits()
    /// The request rate of an account; nil for no limit.
    public var requests: Rate? = Rate(burst: 12_000, perMinute: 12_000)
    /// The number of concurrent requests beyond which responses carry `Retry-After`.
    public var busyRequests = 512
    /// The rate of ephemeral messages of a device.
    public var ephemerals = Rate(burst: 100, perMinute: 1_200)

    public init() {}

    /// Whether only this machine can connect: the server listens on loopback, and no proxy forwards other clients.
    public var isForThisMachine: Bool { ServerSettings.isLoopback(host) && trustedProxies.isEmpty }

    /// Whether pages of `http://localhost:*` and `http://127.0.0.1:*` may call the API: if only this machine can reach the server
    /// (protocol.md, HTTP rules).
    var allowsLoopbackOrigins: Bool { isForThisMachine }

    /// Whether a host is a loopback address.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}

/// Who may create an account. An invitation by the operator is valid under each policy.
public enum SignUpPolicy: String, Sendable, CaseIterable {
    /// Anyone.
    case open
    /// Anyone with an invitation.
    case invite
    /// Only the operator, with the command; and the holder of the link for the first account.
    case closed
}

/// Limits on the time and memory that slow or hostile clients can use.
public struct ConnectionLimits: Sendable {
    /// The maximum number of open connections. Further ones wait in the system's queue.
    public var count = 8_192
    /// The maximum number of open connections per address (of IPv6: per /64 network).
    public var perAddress = 256
    /// The maximum number of concurrent requests on an HTTP/2 connection.
    public var streams = 100
    /// The maximum number of concurrent requests on all HTTP/2 connections of an address. Each takes about 90 KB.
    public var streamsPerAddress = 1_000
    /// The timeout of the TLS handshake, in seconds.
    public var handshakeSeconds = 15
    /// Whether connections from loopback are limited like others. By default they are not, because a proxy may forward many
    /// clients.
    public var countsLoopback = false
    /// The maximum size of path and query, in bytes.
    public var uriBytes = 8 << 10
    /// The timeout of the head of a request, and of idle connections, in seconds.
    public var idleSeconds = 75
    /// The time in which a body must be complete, or at least ``bodyBytes`` of it must arrive, in seconds.
    public var bodySeconds = 120
    /// The progress that extends the timeout of a body, in bytes.
    public var bodyBytes = 1 << 20
    /// The timeout of a client that does not read the response, in seconds.
    public var stallSeconds = 60

    public init() {}
}

/// Limits on hashing passwords.
public struct PasswordLimits: Sendable {
    /// The costs that an operator may set: from 16 MiB of memory, which RFC 7914's author suggested for sign-in, to 1 GiB.
    public static let costs = 14...20
    /// The binary logarithm of scrypt's N. With r = 8 and p = 1, 17 takes 128 MiB and is what OWASP recommends
    /// (Password Storage Cheat Sheet).
    public var cost = 17
    /// The maximum number of concurrent hashes.
    public var maxConcurrent = 2
    /// The maximum number of tasks that wait for a hash. Further ones are refused.
    public var waiting = 64

    public init() {}
}

/// Limits on attempts at passwords and codes, and on the creation of accounts.
public struct SignInLimits: Sendable {
    /// The number of attempts at one account from one address before the first wait.
    public var freeTries = 10
    /// The first wait, in seconds. Each later one is twice as long.
    public var firstWaitSeconds = 1
    public var longestWaitSeconds = 15 * 60
    /// The time without an attempt after which the count starts again, in seconds.
    public var forgetSeconds = 24 * 60 * 60
    /// The rate of failed attempts at one account from all addresses. Beyond it, each address has one attempt before it must
    /// wait.
    public var perAccount = Rate(burst: 20, perMinute: 10)
    /// The maximum number of concurrent sign-ins from one address. Loopback is not limited.
    public var maxConcurrentPerAddress = 16
    /// The rate of failed attempts from one address (of IPv6: one /64 network).
    public var perAddress = Rate(burst: 60, perMinute: 60)
    /// The rate of accounts created from one address. Loopback is not limited.
    public var signUps = Rate(burst: 20, perMinute: 2)

    public init() {}
}

/// Limits on searches. ``Limits`` has those of a single search.
public struct SearchLimits: Sendable {
    /// The timeout of a search.
    public var timeout = Duration.seconds(Limits.searchSeconds)
    /// Keyed by account. With a pool of connections, the total is at most half of them.
    public var permits = PermitLimits(total: 4, perKey: 2, waitingPerKey: 8)

    public init() {}
}

/// A burst, and a sustained rate per minute.
public struct Rate: Sendable {
    public var burst: Int
    public var perMinute: Int

    public init(burst: Int, perMinute: Int) {
        self.burst = burst
        self.perMinute = perMinute
    }
}
