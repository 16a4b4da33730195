internal import HesperModel

/// A fault in the handling of a request to a ``MemoryServer``.
public enum Fault: Sendable, Equatable {
    /// The request does not reach the server.
    case requestLost
    /// The server processes the request, but its response is lost.
    case responseLost
    /// The server responds with 503 and does nothing.
    case unavailable(retryAfter: Int)
    /// The server responds with 429 and does nothing.
    case tooManyRequests(retryAfter: Int)
    /// The server responds with 500 and does nothing.
    case internalError
    /// The server responds with 507 `storage-full` and does nothing.
    case storageFull
    /// The server responds with 401 and does nothing.
    case unauthenticated
    /// The server responds with 410 `token-expired` if the request has a sync token.
    case tokenExpired
    /// Pages have at most this number of objects.
    case shortPage(objects: Int)
    /// The response arrives after this number of milliseconds.
    case slow(milliseconds: Int)
    /// The server rejects a field of every object in the push.
    /// - Parameters:
    ///   - field: the name of the field, as in a receipt: `text` or `attributes.title`.
    ///   - slug: the slug of the problem, such as `invalid-field`.
    case rejected(field: String, slug: String)
}

/// Draws the faults of each request with fixed probabilities. Two schedules with equal seeds and equal probabilities draw
/// the same faults.
///
///     server.faults = FaultSchedule(seed: 7, [(.responseLost, 0.1), (.unavailable(retryAfter: 5), 0.05)])
public struct FaultSchedule: Sendable {
    private var generator: SeededGenerator
    private let probabilities: [(fault: Fault, probability: Double)]

    /// Creates a schedule in which each fault occurs with the given probability.
    public init(seed: UInt64, _ probabilities: [(fault: Fault, probability: Double)]) {
        generator = SeededGenerator(seed: seed)
        self.probabilities = probabilities
    }

    /// Draws the faults of the next request.
    public mutating func next() -> [Fault] {
        probabilities.filter { generator.isTrue(withProbability: $0.probability) }.map(\.fault)
    }
}

/// A fault that a test has set for some of the next requests.
struct PlannedFault: Sendable {
    let fault: Fault
    /// The fault applies only to requests whose path begins with this text.
    let path: String
    /// The number of requests to which the fault still applies.
    var count: Int
}

extension Fault {
    /// The problem that the server returns instead of processing the request; nil for faults that have another effect.
    var refusal: Problem? {
        switch self {
        case .unavailable(let seconds): .unavailable(retryAfter: seconds)
        case .tooManyRequests(let seconds):
            Problem(
                .tooManyRequests, "This account has exceeded its request rate limit. Retry after \(seconds) s.",
                context: ["retryAfter": .integer(Int64(seconds))])
        case .internalError: Problem(.internalError, "The details are in the server's log, under this request ID.")
        case .storageFull:
            Problem(.storageFull, "Nothing was stored. Send the same request again later.", context: ["retryAfter": 60])
        case .unauthenticated: .unauthenticated
        case .tokenExpired: .tokenExpired
        case .requestLost, .responseLost, .shortPage, .slow, .rejected: nil
        }
    }
}
