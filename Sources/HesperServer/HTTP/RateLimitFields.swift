import HTTPTypes
import HesperModel

/// The header fields that tell a client the request limit of its account and how many requests remain
/// (draft-ietf-httpapi-ratelimit-headers).
extension RateLimiter<UniqueID> {
    func addFields(to headers: inout HTTPFields, for account: UniqueID) {
        let (tokens, fullAfter) = left(account)
        headers.append(HTTPField(name: .rateLimit, value: "\"account\";r=\(tokens);t=\(fullAfter)"))
        // The window of the limit (`w`): the time in which an empty token bucket becomes full, in seconds.
        let seconds = max(1, Int(Double(rate.burst) * 60 / rate.perMinute))
        headers.append(HTTPField(name: .rateLimitPolicy, value: "\"account\";q=\(rate.burst);w=\(seconds)"))
    }
}

extension HTTPField.Name {
    static let rateLimit = HTTPField.Name("RateLimit") ?? .date
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy") ?? .date
}
