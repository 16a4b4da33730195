import Foundation
import NIOConcurrencyHelpers

/// A proxy between a client and a server on loopback. It forwards everything until it is told to discard the data of all
/// current connections. It runs until the process ends.
final class Switch: Sendable {
    let port: Int
    private let state = NIOLockedValueBox((last: 0, swallowed: 0))

    init(to target: Int) throws {
        let (descriptor, port) = try Loopback.listen()
        self.port = port
        Thread.detachNewThread { [state] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                guard let server = try? Loopback.connect(to: target) else {
                    close(client)
                    continue
                }
                let number = state.withLockedValue { state in
                    state.last += 1
                    return state.last
                }
                for (from, to) in [(client, server), (server, client)] {
                    Thread.detachNewThread {
                        while let bytes = Loopback.receive(from) {
                            if state.withLockedValue({ $0.swallowed >= number }) { continue }
                            guard Loopback.send(bytes, to: to) else { break }
                        }
                        shutdown(from, Int32(SHUT_RDWR))
                        shutdown(to, Int32(SHUT_RDWR))
                    }
                }
            }
        }
    }

    /// Discards all further data of the current connections.
    func swallow() { state.withLockedValue { $0.swallowed = $0.last } }
}
