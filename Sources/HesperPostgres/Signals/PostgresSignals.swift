import HesperStore
import NIOConcurrencyHelpers

/// Signals through LISTEN and NOTIFY. At its commit a NOTIFY takes a lock over all databases of the server, gets a
/// transaction number and a place in the log: so there is none in a transaction that somebody waits for, and whatever comes
/// up while one is under way goes into the next one together.
final class PostgresSignals: Signals {
    private let server = ServerID.random()
    private let settings: PostgresSettings
    /// Two installations in schemas of one database do not hear each other.
    private let channel: String
    /// Of one connection, which sends.
    private let pool: PostgresPool
    private let log: (@Sendable (String) -> Void)?
    private let state = NIOLockedValueBox(State())

    private struct State {
        var outbox = Outbox()
        var (isSending, isClosed) = (false, false)
        var closer: CheckedContinuation<Void, Never>?
    }

    /// Between two sendings, at least.
    private static let pause: Duration = .milliseconds(10)
    /// Payloads that one statement sends at most.
    private static let payloadsOfStatement = 64
    /// How long a statement may wait for the lock: what it has to say is stale by then.
    private static let patience: Duration = .seconds(5)

    init(
        _ settings: PostgresSettings, of installation: Installation, log: (@Sendable (String) -> Void)? = nil
    ) {
        self.settings = settings
        self.log = log
        channel = "hesper_\(installation.node)"
        var own = settings
        own.size = 1
        own.statementTimeout = PostgresSignals.patience
        pool = PostgresPool(own)
    }

    // MARK: Sending

    func send(_ signals: [Signal]) {
        let begins = state.withLockedValue { state in
            guard !state.isClosed else { return false }
            for signal in signals { state.outbox.add(signal) }
            guard !state.isSending, !state.outbox.isEmpty else { return false }
            state.isSending = true
            return true
        }
        if begins { Task { await sendAll() } }
    }

    private func sendAll() async {
        while let signals = next() {
            var payloads = SignalPayload.payloads(of: signals, from: server)[...]
            while !payloads.isEmpty {
                await notify(Array(payloads.prefix(PostgresSignals.payloadsOfStatement)))
                payloads = payloads.dropFirst(PostgresSignals.payloadsOfStatement)
            }
            try? await Task.sleep(for: PostgresSignals.pause)
        }
    }

    /// What is to be sent now; if there is nothing, the sending is over.
    private func next() -> [Signal]? {
        let (signals, closer) = state.withLockedValue { state -> ([Signal]?, CheckedContinuation<Void, Never>?) in
            guard state.outbox.isEmpty else { return (state.outbox.take(), nil) }
            state.isSending = false
            return (nil, state.closer)
        }
        closer?.resume()
        return signals
    }

    /// What can not be sent is not sent: those who wait for it look at the store before long.
    private func notify(_ payloads: [String]) async {
        try? await pool.run { [channel, log] connection in
            connection.log = log
            connection.enqueue("BEGIN")
            connection.enqueue("SET LOCAL synchronous_commit = off")
            connection.enqueue(PostgresSignals.notify, [.text(channel), .textArray(payloads)])
            try connection.run("COMMIT")
        }
    }

    static let notify =
        "SELECT pg_notify($1, payload) FROM unnest($2) WITH ORDINALITY AS of(payload, place) ORDER BY place"

    /// Ends when what was said last, such as that nobody listens any more, is sent.
    func close() async {
        await withCheckedContinuation { done in
            let isSending = state.withLockedValue { state in
                state.isClosed = true
                if state.isSending { state.closer = done }
                return state.isSending
            }
            if !isSending { done.resume() }
        }
        await pool.close()
    }

    // MARK: Hearing

    func listen(_ hear: @Sendable (SignalEvent) -> Void) async {
        let listener = PostgresListener(settings, channels: [channel])
        defer { listener.close() }
        for await event in listener.events {
            switch event {
            case .connected: hear(.connected)
            case .disconnected: hear(.disconnected)
            case .notification(_, let payload):
                guard let (server, signals) = SignalPayload.read(payload) else {
                    hear(.unreadable(String(payload.prefix(80))))
                    continue
                }
                // NOTIFY comes back to whoever sent it.
                guard server != self.server else { continue }
                for signal in signals { hear(.signal(signal, from: server)) }
            }
        }
    }
}
