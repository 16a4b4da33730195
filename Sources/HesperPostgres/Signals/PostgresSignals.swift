import HesperStore
import NIOConcurrencyHelpers

/// Sends signals with LISTEN and NOTIFY. A transaction with NOTIFY is expensive: its commit takes a lock that all databases of the
/// server share, and writes to the write-ahead log. So signals are sent in separate transactions. Signals that arrive while such a
/// transaction is running are sent together in the next transaction.
final class PostgresSignals: Signals {
    private let server = ServerID.random()
    private let settings: PostgresSettings
    /// The name of the channel for NOTIFY. It contains the node of the installation, because two installations may use different
    /// schemas of the same database.
    private let channel: String
    /// A pool with a single connection, on which signals are sent.
    private let pool: PostgresPool
    private let log: (@Sendable (String) -> Void)?
    private let state = NIOLockedValueBox(State())

    private struct State {
        var queue = SignalQueue()
        var (isSending, isClosed) = (false, false)
        var closer: CheckedContinuation<Void, Never>?
    }

    /// The pause between two transactions that send signals.
    private static let pause: Duration = .milliseconds(10)
    /// The maximum number of payloads in one statement.
    private static let payloadsOfStatement = 64
    /// The maximum time that a statement waits for the lock of NOTIFY. After this time the signals would be outdated.
    private static let statementTimeout: Duration = .seconds(5)

    init(
        _ settings: PostgresSettings, of installation: Installation, log: (@Sendable (String) -> Void)? = nil
    ) {
        self.settings = settings
        self.log = log
        channel = "hesper_\(installation.node)"
        var own = settings
        own.size = 1
        own.statementTimeout = PostgresSignals.statementTimeout
        pool = PostgresPool(own)
    }

    // MARK: Sending

    func send(_ signals: [Signal]) {
        let begins = state.withLockedValue { state in
            guard !state.isClosed else { return false }
            for signal in signals { state.queue.add(signal) }
            guard !state.isSending, !state.queue.isEmpty else { return false }
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

    /// Returns the signals to send now. If there are none, records that no task is sending, and returns nil.
    private func next() -> [Signal]? {
        let (signals, closer) = state.withLockedValue { state -> ([Signal]?, CheckedContinuation<Void, Never>?) in
            guard state.queue.isEmpty else { return (state.queue.take(), nil) }
            state.isSending = false
            return (nil, state.closer)
        }
        closer?.resume()
        return signals
    }

    /// Sends payloads once. Errors are ignored: the receivers query the database every few seconds anyway.
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

    /// Sends the queued signals, such as those about listeners that have stopped, and then closes the pool.
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

    // MARK: Receiving

    func listen(_ receive: @Sendable (SignalEvent) -> Void) async {
        let listener = PostgresListener(settings, channels: [channel])
        defer { listener.close() }
        for await event in listener.events {
            switch event {
            case .connected: receive(.connected)
            case .disconnected: receive(.disconnected)
            case .notification(_, let payload):
                guard let (server, signals) = SignalPayload.read(payload) else {
                    receive(.unreadable(String(payload.prefix(80))))
                    continue
                }
                // A session also receives its own notifications, which are skipped.
                guard server != self.server else { continue }
                for signal in signals { receive(.signal(signal, from: server)) }
            }
        }
    }
}
