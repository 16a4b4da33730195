import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

extension Problem {
    /// The problem that a client is told about an error. Logs unexpected errors and outages of the database.
    init(_ error: any Error, logger: Logger, outages: OutageLog = .shared) {
        switch error {
        case let problem as Problem:
            if problem.slug == .internalError { logger.error("Unexpected error: \(problem.detail)") }
            self = problem
        case StoreError.unavailable(let reason):
            outages.report("Database unavailable: \(reason)", logger: logger)
            self = .unavailable
        case StoreError.full(let reason):
            outages.report("Disk full: \(reason)", logger: logger)
            self = .storageFull
        case let error as HTTPParserError:
            self = Problem(.malformedRequest, "The request is not valid HTTP/1.1 (RFC 9112): \(error).")
        case is SearchTooCostly:
            self = Problem(
                .searchTooCostly,
                "The search found nothing within \(Limits.searchSeconds) seconds. Search for longer or rarer words.",
                at: "q")
        case is CancellationError:
            self = .unavailable
        default:
            logger.error("Unexpected error: \(String(reflecting: error))")
            self = Problem(.internalError, "The details are in the server's log, under this request ID.")
        }
    }

    /// The database is unavailable. Whether a write was committed is unknown.
    static let unavailable = Problem(
        .unavailable, "The request is not confirmed. Send the same request again in 5 seconds.",
        context: ["retryAfter": 5])

    /// The disk is full.
    static let storageFull = Problem(
        .storageFull,
        "Nothing was stored. Send the same request again after the server's operator has freed disk space.",
        context: ["retryAfter": 60])

    /// - Parameters:
    ///   - what: the limit that was exceeded, as a sentence.
    ///   - seconds: the time after which a retry may succeed.
    static func tooManyRequests(_ what: String, retryAfter seconds: Int) -> Problem {
        Problem(
            .tooManyRequests, "\(what) Retry after \(seconds) s.",
            context: ["retryAfter": .integer(Int64(seconds))])
    }

    /// - Parameter what: the limit that was exceeded, as a sentence.
    static func tooLarge(_ what: String, limit: Int) -> Problem {
        Problem(.tooLarge, what, context: ["limit": .integer(Int64(limit))])
    }

    /// The response with problem details (RFC 9457), and the headers that belong to it.
    func response(requestID: String) -> Response {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .contentType, value: "application/problem+json"))
        if slug == .unauthenticated { headers.append(HTTPField(name: .wwwAuthenticate, value: "Bearer")) }
        if case .integer(let seconds)? = context["retryAfter"] {
            headers.append(HTTPField(name: .retryAfter, value: String(seconds)))
        }
        // Distinguishes an unsupported content coding from an unsupported media type (RFC 9110, 12.5.3).
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

    /// The body of the response.
    func bytes(requestID: String) -> [UInt8] {
        guard case .object(let object) = json else { return json.bytes }
        let members = object.members.map { ($0.name, $0.value) } + [("requestID", .string(requestID))]
        return JSON.object(JSONObject(members)).bytes
    }
}
