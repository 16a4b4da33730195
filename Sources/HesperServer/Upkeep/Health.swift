import HesperStore
import Hummingbird

/// For load balancers and supervisors: whether the process lives, and whether it can work.
struct Health: Resource {
    let store: any Store

    func add(to routes: inout Routes) {
        routes.open(.get, "/healthz", keeping: .never) { _ in .object { $0.member("status", "ok") } }
        routes.open(.get, "/readyz", keeping: .never, use: ready)
    }

    @Sendable private func ready(_ call: Call) async throws -> Response {
        // Any question will do; one about nobody touches next to nothing.
        _ = try await store.read { try $0.account(emailKey: "") }
        return .object { $0.member("status", "ready") }
    }
}
