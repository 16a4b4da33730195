import HesperSQLite
import StoreContract
import Testing

@Suite("What every store must do, done by SQLite")
struct ContractTests {
    @Test(arguments: StoreContract.cases)
    func keeps(_ contract: StoreContract.Case) async throws {
        let folder = Folder()
        try await contract.run(StoreContract.Subject { try SQLiteStore(folder: folder.url) })
    }
}
