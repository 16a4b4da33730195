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
    public var signUp = SignUpPolicy.closed
    /// Origins whose pages may call the API, such as `https://notes.example.org`, besides those of ``allowsLoopbackOrigins``.
    public var origins: [String] = []
    /// The file `openapi.yaml`, which `/openapi.yaml` and `/docs` show; nil if there is none.
    public var contract: String?
    /// The folder `Public/`, the web app; nil if there is none.
    public var webApp: String?
    /// What `GET /v1/server` says.
    public var version = "0.1.0"
    public var attachments = AttachmentLimits()
    /// What time removes, and when.
    public var sweep = SweepPolicy()
    public var connections = ConnectionLimits()
    public var passwords = PasswordLimits()
    public var signIns = SignInLimits()
    /// Ephemeral messages of one device.
    public var ephemerals = Rate(burst: 100, perMinute: 1_200)

    public init() {}

    /// Whether only this machine can connect.
    public var listensOnLoopback: Bool { ServerSettings.isLoopback(host) }

    /// Pages of `http://localhost:*` and `http://127.0.0.1:*` may call a server that only this machine can reach
    /// (protocol.md, HTTP manners).
    var allowsLoopbackOrigins: Bool { listensOnLoopback }

    /// Whether a host can be reached from this machine alone.
    public static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}

/// Who may make an account by themselves.
public enum SignUpPolicy: String, Sendable, CaseIterable {
    /// Anybody.
    case open
    /// Only the operator, with the command; and whoever has the link that makes the first account.
    case closed
}

/// What one client, slow or hostile, can take of the server's time and memory.
public struct ConnectionLimits: Sendable {
    /// Open at once; more wait in the system's queue.
    public var count = 8_192
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
    /// For one e-mail address, from wherever. Tries that succeed do not count.
    public var perAccount = Rate(burst: 20, perMinute: 10)
    /// From one address (of IPv6: one /64 network). Tries that succeed do not count.
    public var perAddress = Rate(burst: 60, perMinute: 60)
    /// Accounts made from one address; loopback is free.
    public var signUps = Rate(burst: 20, perMinute: 2)

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
