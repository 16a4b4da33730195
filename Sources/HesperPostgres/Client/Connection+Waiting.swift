import CPostgres
import Foundation

/// How long somebody waits, and whether what they waited for was cancelled meanwhile.
struct Patience {
    private(set) var end: ContinuousClock.Instant
    /// How often it came to its end.
    private(set) var extensions = 0

    init(_ duration: Duration) { end = .now + duration }

    /// Milliseconds for `poll()`: rounded up, so that it does not spin at the end.
    var milliseconds: Int32 { Int32(clamping: Int64(((end - .now) / .milliseconds(1)).rounded(.up))) }

    var isOver: Bool { extensions > 0 }

    mutating func extend(by duration: Duration) {
        extensions += 1
        end = .now + duration
    }
}

extension Connection {
    /// Does `body`, whose questions cost nothing. A server that leaves one of them without an answer hangs, and hears of no
    /// cancelling: the connection is given up.
    func soon<T>(_ body: () throws -> T) rethrows -> T {
        let usual = (patience: patience, cancellations: cancellations)
        patience = Connection.grace
        cancellations = 0
        defer {
            patience = usual.patience
            cancellations = usual.cancellations
        }
        return try body()
    }

    /// The next result of what is pending, nil between two statements.
    func nextResult(_ patience: inout Patience) throws -> OpaquePointer? {
        while PQisBusy(handle) != 0 { try waitForInput(&patience) }
        let result = PQgetResult(handle)
        if PQstatus(handle) == CONNECTION_BAD {
            let said = result.map { PostgresError($0, statement: nil) }
            if let result { PQclear(result) }
            let lost = lost()
            throw said.map { $0.sqlState == "08006" ? lost : broke($0) } ?? lost
        }
        return result
    }

    /// Sends what is to be sent until there is something to read, and reads it.
    func waitForInput(_ patience: inout Patience) throws {
        let unsent = PQflush(handle)
        // What the server said before it closed is still to be read: so a failed write shows itself there.
        if postgres_pending(handle) == 0 { try wait(forSending: unsent == 1, &patience) }
        guard PQconsumeInput(handle) == 1 else { throw lost() }
    }

    /// Waits until the socket can be read, or written to; cancels what runs when that takes too long.
    func wait(forSending sends: Bool, _ patience: inout Patience) throws {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN) | (sends ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            switch poll(&socket, 1, max(0, patience.milliseconds)) {
            case 1...: return
            case 0 where patience.extensions < cancellations:
                cancel()
                patience.extend(by: .seconds(1))
            case 0: throw broke(.lost("no answer\(cancellations > 0 ? ", not even to being cancelled" : "") in time"))
            default: guard errno == EINTR else { throw broke(.lost(String(cString: strerror(errno)))) }
            }
        }
    }

    /// Asks the server to end what it does for this session. libpq makes a connection of its own for it, to the same host.
    func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(request) }
        var message = [CChar](repeating: 0, count: 256)
        // Whether it arrived shows in what the statement answers.
        PQcancel(request, &message, Int32(message.count))
    }

    /// Whether the server is there and takes writes, if it did, as far as the socket knows: costs no round trip.
    func seemsAlive() -> Bool {
        guard brokenBy == nil, PQstatus(handle) == CONNECTION_OK, !isOutOfOffice else { return false }
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&socket, 1, 0) > 0 else { return true }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, PQstatus(handle) == CONNECTION_OK,
            notices.fatal == nil
        else {
            _ = lost()
            return false
        }
        return true
    }
}
