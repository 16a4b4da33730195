import Foundation
import NIOConcurrencyHelpers

/// A proxy between a client and a server on loopback. It cuts connections during requests or pauses them. It applies
/// back-pressure, and runs until the process ends.
final class CuttingProxy: Sendable {
    enum Direction { case request, response }

    /// A rule for cutting connections.
    struct Cut: Sendable {
        /// A part of the request line.
        let request: String
        let direction: Direction
        /// The minimum number of bytes of the request or response that pass.
        let bytes: Int
        var times = 1
    }

    private struct State {
        var cuts: [Cut] = []
        var cutCount = 0
        var passed: [Direction: Int] = [:]
        var isPaused = false
    }

    /// The current request on a connection.
    private struct Exchange {
        var line = ""
        var passed: [Direction: Int] = [:]
    }

    let port: Int
    private let state: NIOLockedValueBox<State>

    init(to target: Int, _ cuts: [Cut] = []) throws {
        let (descriptor, port) = try Loopback.listen()
        self.port = port
        state = NIOLockedValueBox(State(cuts: cuts))
        Thread.detachNewThread { [state] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                CuttingProxy.serve(client, target, state)
            }
        }
    }

    /// The number of cut connections.
    var cutCount: Int { state.withLockedValue { $0.cutCount } }

    /// The number of bytes that passed.
    func passed(_ direction: Direction) -> Int { state.withLockedValue { $0.passed[direction] ?? 0 } }

    /// Whether requests are paused.
    func pause(_ isPaused: Bool) { state.withLockedValue { $0.isPaused = isPaused } }

    private static func serve(_ client: Int32, _ target: Int, _ state: NIOLockedValueBox<State>) {
        guard let server = try? Loopback.connect(to: target) else {
            close(client)
            return
        }
        let exchange = NIOLockedValueBox(Exchange())
        let isOver = NIOLockedValueBox(false)
        for (from, to, direction) in [(client, server, Direction.request), (server, client, .response)] {
            Thread.detachNewThread {
                while let bytes = Loopback.receive(from) {
                    while direction == .request, state.withLockedValue({ $0.isPaused }) { usleep(5_000) }
                    guard !cuts(bytes, direction, exchange, state), Loopback.send(bytes, to: to) else { break }
                }
                Loopback.end(client)
                Loopback.end(server)
                // The second of the two threads closes both sockets.
                guard
                    isOver.withLockedValue({ isOver in
                        defer { isOver = true }
                        return isOver
                    })
                else { return }
                close(client)
                close(server)
            }
        }
    }

    /// Counts the bytes, and returns whether to cut the connection.
    private static func cuts(
        _ bytes: [UInt8], _ direction: Direction, _ exchange: NIOLockedValueBox<Exchange>,
        _ state: NIOLockedValueBox<State>
    ) -> Bool {
        let exchange = exchange.withLockedValue { exchange in
            let start = String(decoding: bytes.prefix(400), as: UTF8.self)
            if direction == .request, ["GET ", "PUT ", "POST ", "DELETE ", "HEAD "].contains(where: start.hasPrefix) {
                exchange = Exchange(line: start.prefix { $0 != "\r\n" }.description)
            }
            defer { exchange.passed[direction, default: 0] += bytes.count }
            return exchange
        }
        return state.withLockedValue { state in
            let index = state.cuts.firstIndex {
                $0.direction == direction && $0.times > 0 && exchange.line.contains($0.request)
                    && exchange.passed[direction, default: 0] + bytes.count > $0.bytes
            }
            guard let index else {
                state.passed[direction, default: 0] += bytes.count
                return false
            }
            state.cuts[index].times -= 1
            state.cutCount += 1
            return true
        }
    }
}
