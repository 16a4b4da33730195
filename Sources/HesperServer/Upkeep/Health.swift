import HesperStore
import Hummingbird

/// For load balancers and supervisors: whether the process lives, and whether it can work.
struct Health: Resource {
    let store: any Store
    let disks: [DiskFolder]

    func add(to routes: inout Routes) {
        routes.open(.get, "/healthz", keeping: .never) { _ in .object { $0.member("status", "ok") } }
        routes.open(.get, "/readyz", keeping: .never, use: ready)
    }

    /// 503 where it can answer nobody. On a full disk it still answers whoever reads, and a balancer that took it away would
    /// take that away too: it says so, with 200.
    @Sendable private func ready(_ call: Call) async throws -> Response {
        // Any question will do; one about nobody touches next to nothing.
        _ = try await store.read { try $0.account(emailKey: "") }
        let full = disks.filter { Disk.room(at: $0.path).map { $0.free < Disk.low } ?? false }
        return .object { writer in
            writer.member("status", "ready")
            guard !full.isEmpty else { return }
            writer.name("reasons")
            writer.array { writer in
                for disk in full {
                    writer.string("There is little room on the disk of the folder \(disk.name): writing may fail.")
                }
            }
        }
    }
}
