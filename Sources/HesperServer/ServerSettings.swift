import HesperModel
import HesperStore

/// Everything about a server that its operator decides, checked before it comes here.
public struct ServerSettings: Sendable {
    /// Where to listen: a name or an address.
    public var host = "127.0.0.1"
    /// 0 for any that is free.
    public var port = 8080
    /// Nil for plain HTTP.
    public var tls: TLSFiles?
    /// The port where plain HTTP is sent to HTTPS; nil for none. Only with ``tls``.
    public var httpPort: Int?
    /// Proxies whose word is taken for where a request comes from, and how it came to them.
    public var trustedProxies: [AddressRange] = []
    public var signUp = SignUpPolicy.closed
    /// Whether ``signUp`` is open only to requests that this machine sends to itself by name (protocol.md, Signing in).
    public var signUpIsForThisMachine = false
    /// Origins whose pages may call the API, such as `https://notes.example.org`, besides those of ``allowsLoopbackOrigins``.
    public var origins: [String] = []
    /// The file `openapi.yaml`, which `/openapi.yaml` and `/docs` show; nil if there is none.
    public var contract: String?
    /// The folder `Public/`, the web app; nil if there is none.
    public var webApp: String?
    /// What `GET /v1/server` says.
    public var version = "0.1.0"
    public var attachments = AttachmentLimits()
    /// How many bytes an account may store that has no quota of its own; nil for as many as the disk has room for.
    public var quota: Int64? = 10 << 30
    /// Where metrics are to be had alone; nil for `/metrics` beside the API, for this machine.
    public var metrics: MetricsAddress?
    /// Folders that need room on their disks, under the names that they have for operators.
    public var disks: [DiskFolder] = []
    /// What scheduled backups came to; nil if there are none.
    public var backups: BackupMeter?
    /// What time removes, and when.
    public var sweep = SweepPolicy()
    public var connections = ConnectionLimits()
    public var passwords = PasswordLimits()
    public var signIns = SignInLimits()
    public var searches = SearchLimits()
    /// Bodies of more than 256 KiB, or compressed, that arrive at once; keyed by account.
    public var bodies = PermitLimits(total: 32, perKey: 4, waitingPerKey: 64)
    /// How letters are sent; nil for none.
    public var mail: MailSettings?
    public var mailLimits = MailLimits()
    /// Requests of one account; nil for as many as it likes.
    public var requests: Rate? = Rate(burst: 12_000, perMinute: 12_000)
    /// Requests being answered at once, beyond which answers carry `Retry-After`.
    public var busyRequests = 512
    /// Ephemeral messages of one device.
    public var ephemerals = Rate(burst: 100, perMinute: 1_200)

    public init() {}

    /// Whether only this machine can connect, and no proxy on it lets others in.
    public var isForThisMachine: Bool { ServerSettings.isLoopback(host) && trustedProxies.isEmpty }

    /// Pages of `http://localhost:*` and `http://127.0.0.1:*` may call a server that only this machine can reach
    /// (protocol.md, HTTP rules).
    var allowsLoopbackOrigins: Bool { isForThisMachine }

    /// Whether a host can be reached from this machine alone.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}

/// Who may make an account by themselves. An invitation of the operator's holds with each.
public enum SignUpPolicy: String, Sendable, CaseIterable {
    /// Anybody.
    case open
    /// Whoever has an invitation of the operator's.
    case invite
    /// Only the operator, with the command; and whoever has the link that makes the first account.
    case closed
}

/// What one client, slow or hostile, can take of the server's time and memory.
public struct ConnectionLimits: Sendable {
    /// Open at once; more wait in the system's queue.
    public var count = 8_192
    /// Of them, from one address (of IPv6: one /64 network).
    public var perAddress = 256
    /// Requests under way on one connection of HTTP/2.
    public var streams = 100
    /// Of them, on all connections of one address. Each takes about 90 KB, whoever sends it.
    public var streamsPerAddress = 1_000
    /// Seconds for the handshake of TLS.
    public var handshakeSeconds = 15
    /// Whether loopback is an address like others: a proxy there speaks for everybody.
    public var countsLoopback = false
    /// Bytes of path and query.
    public var uriBytes = 8 << 10
    /// Seconds for the head of a request, and between two requests.
    public var idleSeconds = 75
    /// Seconds in which a body must end, or bring ``bodyBytes`` and go on.
    public var bodySeconds = 120
    public var bodyBytes = 1 << 20
    /// Seconds in which a client must take some of its answer.
    public var stallSeconds = 60

    public init() {}
}

/// What checking passwords may cost.
public struct PasswordLimits: Sendable {
    /// What an operator may set: from 16 MiB, which RFC 7914's author took for signing in, to 1 GiB.
    public static let costs = 14...20
    /// The binary logarithm of scrypt's N. 17, with r = 8 and p = 1, takes 128 MiB and is what OWASP asks for
    /// (Password Storage Cheat Sheet).
    public var cost = 17
    /// Worked on at once.
    public var atOnce = 2
    /// Waiting for that, at most; whoever comes then is told to come again.
    public var waiting = 64

    public init() {}
}

/// How often somebody may try a password, or make an account.
public struct SignInLimits: Sendable {
    /// Of one account from one address, before the first wait.
    public var freeTries = 10
    /// That wait, in seconds; each next one is twice as long.
    public var firstWaitSeconds = 1
    public var longestWaitSeconds = 15 * 60
    /// After how many seconds without a try the waits begin anew.
    public var forgetSeconds = 24 * 60 * 60
    /// Of one account, from wherever: beyond, each address has one try before it waits. Tries that succeed do not count.
    public var perAccount = Rate(burst: 20, perMinute: 10)
    /// Of one address, being checked or waiting for that; loopback is free.
    public var atOncePerAddress = 16
    /// From one address (of IPv6: one /64 network). Tries that succeed do not count.
    public var perAddress = Rate(burst: 60, perMinute: 60)
    /// Accounts made from one address; loopback is free.
    public var signUps = Rate(burst: 20, perMinute: 2)

    public init() {}
}

/// What searching may cost; what one search may is in ``Limits`` too.
public struct SearchLimits: Sendable {
    /// How long one may take.
    public var timeout = Duration.seconds(Limits.searchSeconds)
    /// Keyed by account. With a pool of connections, half of them at most.
    public var permits = PermitLimits(total: 4, perKey: 2, waitingPerKey: 8)

    public init() {}
}

/// So many at once, and so many a minute in the long run.
public struct Rate: Sendable {
    public var burst: Int
    public var perMinute: Int

    public init(burst: Int, perMinute: Int) {
        self.burst = burst
        self.perMinute = perMinute
    }
}
