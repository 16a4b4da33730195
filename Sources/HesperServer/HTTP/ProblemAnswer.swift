import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

extension Problem {
    /// Whatever was thrown, as what the client is told. The one place where an error becomes a problem.
    init(_ error: any Error, logger: Logger, outages: OutageLog = .shared) {
        switch error {
        case let problem as Problem:
            if problem.slug == .internalError { logger.error("Unexpected error: \(problem.detail)") }
            self = problem
        case StoreError.unavailable(let reason):
            outages.tell("The database is unavailable: \(reason)", logger: logger)
            self = .unavailable
        case StoreError.full(let reason):
            outages.tell("The disk is full: \(reason)", logger: logger)
            self = .storageFull
        case let error as HTTPParserError:
            self = Problem(.malformedRequest, "This is not HTTP/1.1 as RFC 9112 has it: \(error).")
        case is SearchTooCostly:
            self = Problem(
                .searchTooCostly,
                "The search had found nothing after \(Limits.searchSeconds) seconds. Search for longer words, or for more that are seldom.",
                at: "q")
        case is CancellationError:
            self = .unavailable
        default:
            logger.error("Unexpected error: \(String(reflecting: error))")
            self = Problem(.internalError, "The server's log says more, under this request ID.")
        }
    }

    /// The database is unavailable; what was sent is not confirmed.
    static let unavailable = Problem(
        .unavailable, "What was sent is not confirmed. Send the same again in 5 seconds.", context: ["retryAfter": 5])

    /// The disk is full: nothing is kept until there is room.
    static let storageFull = Problem(
        .storageFull, "Nothing of this was kept. Send the same again when the server's operator has made room.",
        context: ["retryAfter": 60])

    /// - Parameter seconds: after how many it is worth another try.
    static func tooManyRequests(_ what: String, retryAfter seconds: Int) -> Problem {
        Problem(
            .tooManyRequests, "\(what) Try again in \(seconds) seconds.",
            context: ["retryAfter": .integer(Int64(seconds))])
    }

    /// - Parameter what: what is too large, and how large it may be.
    static func tooLarge(_ what: String, limit: Int) -> Problem {
        Problem(.tooLarge, what, context: ["limit": .integer(Int64(limit))])
    }

    /// Problem details (RFC 9457) with what HTTP wants beside them.
    func response(requestID: String) -> Response {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .contentType, value: "application/problem+json"))
        if slug == .unauthenticated { headers.append(HTTPField(name: .wwwAuthenticate, value: "Bearer")) }
        if case .integer(let seconds)? = context["retryAfter"] {
            headers.append(HTTPField(name: .retryAfter, value: String(seconds)))
        }
        // Tells apart what is packed in a way that is not known from what is of another type (RFC 9110, 12.5.3).
        if case .string(let codings)? = context["acceptEncoding"] { headers[.acceptEncoding] = codings }
        if case .integer(let offset)? = context["uploadOffset"] {
            headers[.uploadOffset] = String(offset)
            headers[.uploadComplete] = "?0"
        }
        if case .integer(let byteCount)? = context["byteCount"], slug == .rangeNotSatisfiable {
            headers[.contentRange] = "bytes */\(byteCount)"
        }
        return Response(
            status: .init(code: slug.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: bytes(requestID: requestID))))
    }

    /// As it is sent.
    func bytes(requestID: String) -> [UInt8] {
        guard case .object(let object) = json else { return json.bytes }
        let members = object.members.map { ($0.name, $0.value) } + [("requestID", .string(requestID))]
        return JSON.object(JSONObject(members)).bytes
    }
}
