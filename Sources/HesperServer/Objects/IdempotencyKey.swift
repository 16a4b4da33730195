import Crypto
import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOConcurrencyHelpers

/// The value of the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). It may contain all visible ASCII
/// characters. Quotation marks around the value are part of the key, although the draft defines the header as a quoted string.
struct IdempotencyKey {
    /// The SHA-256 hash of the request's method and path, and of the key.
    let hash: [UInt8]

    /// Reads the key of a request.
    /// - Parameter path: the path of the route to which the request was sent.
    /// - Returns: nil if the request has no such header.
    /// - Throws: `malformed-request` if the key is invalid, or if the header was sent twice.
    init?(_ request: APIRequest, of path: String) throws(Problem) {
        let values = request.http.headers[values: .idempotencyKey]
        guard let key = values.first else { return nil }
        guard values.count == 1 else { throw IdempotencyKey.malformed("must be sent once") }
        guard (1...Limits.idempotencyKeyLength).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw IdempotencyKey.malformed("must have 1 to \(Limits.idempotencyKeyLength) visible ASCII characters")
        }
        hash = Array(SHA256.hash(data: Array("\(request.http.method.rawValue) \(path)\n\(key)".utf8)))
    }

    /// Throws `malformed-request` if a request has the header. Used for routes whose response contains a secret, such as a token.
    /// The secret is not stored, so the response to a retry could not contain it.
    static func refuse(in request: APIRequest) throws(Problem) {
        guard request.http.headers.contains(.idempotencyKey) else { return }
        throw malformed("is not supported here, because the secret in the response is not stored. Remove the header")
    }

    private static func malformed(_ what: String) -> Problem {
        Problem(.malformedRequest, "Idempotency-Key \(what).", at: "Idempotency-Key")
    }
}

/// A request with an idempotency key. Finds the record of an earlier request with the same key, or stores a record of this request.
final class IdempotentRequest: Sendable {
    private let key: IdempotencyKey
    private let bodyHash: [UInt8]
    private let found = NIOLockedValueBox<IdempotencyRecord?>(nil)

    init(_ key: IdempotencyKey, bodyHash: [UInt8]) {
        self.key = key
        self.bodyHash = bodyHash
    }

    /// The record of the earlier request with the same key. Nil if there was no such request, or before ``find(in:_:at:)`` was
    /// called.
    var earlier: IdempotencyRecord? { found.withLockedValue { $0 } }

    /// Looks for an earlier request with the same key, in the transaction that would create the object. The caller must have
    /// locked the scope.
    /// - Returns: whether there was an earlier request.
    /// - Throws: `idempotency-key-reused` if the earlier request had a different body.
    func find(in transaction: any Transaction, _ scope: ScopeID, at now: Timestamp) throws -> Bool {
        let record = try transaction.idempotencyRecord(key.hash, in: scope).flatMap { $0.isValid(at: now) ? $0 : nil }
        if let record, record.bodyHash != bodyHash {
            throw Problem(
                .idempotencyKeyReused,
                "The key was used for a request with a different body. Retry with the original body, or use a new key.",
                at: "Idempotency-Key")
        }
        // The transaction may be retried. The result is therefore set to nil if this attempt found no record.
        found.withLockedValue { $0 = record }
        return record != nil
    }

    /// Stores the record of this request with its idempotency key.
    /// - Parameters:
    ///   - object: the object that the request created, or that existed already.
    ///   - isCreation: whether the request created the object.
    func record(
        _ object: UniqueID, isCreation: Bool, in transaction: any Transaction, _ scope: ScopeID, at now: Timestamp
    ) throws {
        let record = IdempotencyRecord(
            keyHash: key.hash, bodyHash: bodyHash, object: object, isCreation: isCreation, date: now)
        try transaction.insert(record, in: scope, limit: Limits.idempotencyKeys)
    }
}

/// The idempotency keys of the requests that this process is handling at the moment. A second request with such a key is refused.
/// In another process, the second request is not refused: it waits until it can lock the scope.
final class IdempotencyKeysInUse: Sendable {
    private struct Key: Hashable {
        let scope: ScopeID
        let hash: [UInt8]
    }

    private let keys = NIOLockedValueBox<Set<Key>>([])

    /// Runs `body`, unless another request with the same key of the same scope is in progress.
    /// - Throws: `idempotency-key-in-use` if another request is in progress, and the errors of `body`.
    func with<T>(_ key: IdempotencyKey, of scope: ScopeID, _ body: () async throws -> T) async throws -> T {
        let key = Key(scope: scope, hash: key.hash)
        guard keys.withLockedValue({ $0.insert(key).inserted }) else {
            throw Problem(
                .idempotencyKeyInUse, "A request with this key is in progress. Retry after 1 s.",
                at: "Idempotency-Key", context: ["retryAfter": 1])
        }
        defer { keys.withLockedValue { _ = $0.remove(key) } }
        return try await body()
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .date
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed") ?? .date
}
