import HesperStore
import NIOConcurrencyHelpers

/// How the requests to one route were answered since the start.
final class RouteMeter: Sendable {
    let method: String
    /// As the contract writes it, never as a client did: what clients make up would make up series.
    let path: String

    struct Reading: Equatable {
        /// How many answers had which status.
        var statuses: [Int: Int] = [:]
        /// From the request's head until its answer's.
        var seconds = Histogram(bounds: Histogram.seconds)
    }

    private let state = NIOLockedValueBox(Reading())

    init(method: String, path: String) {
        self.method = method
        self.path = path
    }

    var reading: Reading { state.withLockedValue { $0 } }

    func answered(_ status: Int, in duration: Duration) {
        let seconds = duration.inSeconds
        state.withLockedValue { reading in
            reading.statuses[status, default: 0] += 1
            reading.seconds.record(seconds)
        }
    }
}
