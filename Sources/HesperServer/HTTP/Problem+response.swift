import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

extension Problem {
    /// Converts an error into the problem that is sent to the client. Unexpected errors, database outages and full disks are also
    /// logged.
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

    /// The problem if the database is unavailable. It is not known whether a write of the request was committed.
    static let unavailable = Problem(
        .unavailable, "It is not known whether the request was executed. Send the same request again in 5 seconds.",
        context: ["retryAfter": 5])

    /// The problem if the disk of the server is full.
    static let storageFull = Problem(
        .storageFull,
        "Nothing was stored. Send the same request again after the server's operator has freed disk space.",
        context: ["retryAfter": 60])

    /// The problem if a limit on the number of requests is exceeded.
    /// - Parameters:
    ///   - what: a sentence that says which limit was exceeded.
    ///   - seconds: the number of seconds after which a retry may succeed.
    static func tooManyRequests(_ what: String, retryAfter seconds: Int) -> Problem {
        Problem(
            .tooManyRequests, "\(what) Retry after \(seconds) s.",
            context: ["retryAfter": .integer(Int64(seconds))])
    }

    /// The problem `too-large`: a request body, or a number of objects, exceeds a limit.
    /// - Parameters:
    ///   - what: the detail, a sentence that names the exceeded limit.
    ///   - limit: the maximum.
    static func tooLarge(_ what: String, limit: Int) -> Problem {
        Problem(.tooLarge, what, context: ["limit": .integer(Int64(limit))])
    }

    /// The response: the problem details as JSON (RFC 9457), and the headers that this kind of problem requires, such as
    /// `Retry-After`.
    func response(requestID: String) -> Response {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .contentType, value: "application/problem+json"))
        if slug == .unauthenticated { headers.append(HTTPField(name: .wwwAuthenticate, value: "Bearer")) }
        if case .integer(let seconds)? = context["retryAfter"] {
            headers.append(HTTPField(name: .retryAfter, value: String(seconds)))
        }
        // An unsupported content coding and an unsupported media type have the same status, 415. The header `Accept-Encoding` tells
        // the client that the coding is unsupported (RFC 9110, 12.5.3).
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

    /// The body of the response: the problem as JSON, with the request ID.
    func bytes(requestID: String) -> [UInt8] {
        guard case .object(let object) = json else { return json.bytes }
        let members = object.members.map { ($0.name, $0.value) } + [("requestID", .string(requestID))]
        return JSON.object(JSONObject(members)).bytes
    }
}
