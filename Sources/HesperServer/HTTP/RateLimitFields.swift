import HTTPTypes
import HesperModel

/// How many requests an account may send, and how many of them are left (draft-ietf-httpapi-ratelimit-headers).
extension RateLimiter<UniqueID> {
    func fields(of account: UniqueID) -> HTTPFields {
        let (tries, wholeIn) = left(account)
        var fields = HTTPFields()
        fields.append(HTTPField(name: .rateLimit, value: "\"account\";r=\(tries);t=\(wholeIn)"))
        // As many as may come at once are there again after so many seconds.
        let seconds = max(1, rate.burst * 60 / rate.perMinute)
        fields.append(HTTPField(name: .rateLimitPolicy, value: "\"account\";q=\(rate.burst);w=\(seconds)"))
        return fields
    }
}

extension HTTPField.Name {
    static let rateLimit = HTTPField.Name("RateLimit") ?? .date
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy") ?? .date
}
