import CPostgres
import Foundation

extension Connection {
    /// Waits for something to come while nothing was asked.
    /// - Returns: whether something did.
    func waitForNotification(_ duration: Duration) throws -> Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard postgres_pending(handle) > 0 || poll(&socket, 1, Patience(duration).milliseconds) > 0 else {
            return false
        }
        guard PQconsumeInput(handle) == 1, PQisBusy(handle) == 0, notices.fatal == nil else { throw lost() }
        return true
    }

    /// What has come.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = PQnotifies(handle) else { return nil }
        defer { PQfreemem(notification) }
        return (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }
}
