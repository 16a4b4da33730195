import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/digests`: returns digests of the objects whose IDs begin with a prefix. The objects are grouped by the hex digit that
/// follows the prefix in their IDs, and each group has one digest. Clients use the digests to find the objects that differ from
/// their copies (merge.md, The digest).
struct Digests: Resource {
    let backend: Backend
    /// If at most this many objects have the prefix, the response also contains the digest of each object. If more objects have the
    /// prefix, the response contains only the digests of the groups.
    static let fewObjects = 16

    func add(to routes: inout Routes) {
        routes.get("/v1/digests", ["prefix"], tokens: .read, use: digests)
    }

    private struct Sum {
        var digest = Digest.zero
        var objects = 0
    }

    private func digests(_ request: APIRequest, _ session: Session) async throws -> Response {
        let prefix = (request.query["prefix"] ?? "").lowercased()
        guard prefix.utf8.count <= 32, prefix.utf8.allSatisfy({ Digests.hexDigits.contains($0) }) else {
            throw Problem(
                .invalidField, "prefix must be at most 32 hex digits of an ID, without hyphens.", at: "prefix")
        }
        let (scope, clock) = (session.scope, backend.serverClock)
        let body = try await backend.store.read { try Digests.body(prefix, scope, clock, in: $0) }
        return .json(body)
    }

    private static let hexDigits = Set("0123456789abcdef".utf8)

    private static func body(
        _ prefix: String, _ scope: ScopeID, _ clock: Clock?, in snapshot: any Snapshot
    ) throws -> [UInt8] {
        var total = Sum()
        var children: [String: Sum] = [:]
        var items: [(UniqueID, ObjectType, Digest)] = []
        try snapshot.digests(in: scope, prefix: prefix) { id, type, digest in
            total.digest ^= digest
            total.objects += 1
            if items.count <= fewObjects { items.append((id, type, digest)) }
            let digits = id.description.filter { $0 != "-" }
            if digits.count > prefix.count {
                let child = String(digits.prefix(prefix.count + 1))
                children[child, default: Sum()].digest ^= digest
                children[child, default: Sum()].objects += 1
            }
        }
        var writer = JSONWriter(capacity: 2_048)
        writer.object { writer in
            writer.member("prefix", prefix)
            writer.member("digest", total.digest.description)
            writer.member("objects", Int64(total.objects))
            writer.name("children")
            writer.array { writer in
                for (child, sum) in children.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.member("prefix", child)
                        writer.member("digest", sum.digest.description)
                        writer.member("objects", Int64(sum.objects))
                    }
                }
            }
            if items.count <= fewObjects {
                writer.name("items")
                writer.array { writer in
                    for (id, type, digest) in items {
                        writer.object { writer in
                            writer.member("uniqueID", id)
                            writer.member("objectType", type.name)
                            writer.member("digest", digest.description)
                        }
                    }
                }
            }
            if let clock { writer.member("serverClock", clock) }
        }
        return writer.bytes
    }
}
