import HesperStore
import NIOConcurrencyHelpers

/// Counts the responses of one route by status, and measures their durations.
final class RouteMeter: Sendable {
    let method: String
    /// The path template of the route, such as `/v1/notes/{uniqueID}`. The paths of requests are not used, because each different
    /// path would be a metric of its own, and clients could create any number of metrics.
    let path: String

    struct Reading: Equatable {
        /// The number of responses by status.
        var statuses: [Int: Int] = [:]
        /// The distribution of response times: the seconds from the headers of a request to the headers of its response.
        var seconds = Histogram(bounds: Histogram.seconds)
    }

    private let state = NIOLockedValueBox(Reading())

    init(method: String, path: String) {
        self.method = method
        self.path = path
    }

    var reading: Reading { state.withLockedValue { $0 } }

    func record(_ status: Int, after duration: Duration) {
        let seconds = duration.inSeconds
        state.withLockedValue { reading in
            reading.statuses[status, default: 0] += 1
            reading.seconds.record(seconds)
        }
    }
}
