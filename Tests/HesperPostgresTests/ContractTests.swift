import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite(
    "Store contract on PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct ContractTests {
    @Test(arguments: StoreContract.cases)
    func conforms(_ contract: StoreContract.Case) async throws {
        try await Stores.with { stores in
            try await contract.run(StoreContract.Subject { try await stores.open() })
        }
    }
}
