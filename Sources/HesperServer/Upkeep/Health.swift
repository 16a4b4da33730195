import HesperStore
import Hummingbird

/// Health checks for load balancers and supervisors. `/healthz` shows whether the process runs. `/readyz` shows whether the
/// database can be used, and whether a disk is almost full.
struct Health: Resource {
    let store: any Store
    let disks: [DiskFolder]

    func add(to routes: inout Routes) {
        routes.open(.get, "/healthz", cache: .never) { _ in .object { $0.member("status", "ok") } }
        routes.open(.get, "/readyz", cache: .never, use: ready)
    }

    /// Responds with 503 if the database is unavailable. If a disk is almost full, the status is 200, and the body contains a
    /// warning. The server can still respond to reads in that case, but after a 503 a load balancer would send it no requests at
    /// all.
    @Sendable private func ready(_ request: APIRequest) async throws -> Response {
        // This query is cheap, and fails if the database is unavailable.
        _ = try await store.read { try $0.account(emailKey: "") }
        let full = disks.filter { Disk.space(at: $0.path).map { $0.free < Disk.lowSpace } ?? false }
        return .object { writer in
            writer.member("status", "ready")
            guard !full.isEmpty else { return }
            writer.name("reasons")
            writer.array { writer in
                for disk in full {
                    writer.string("The disk of the folder \(disk.name) is almost full: writes may fail.")
                }
            }
        }
    }
}
