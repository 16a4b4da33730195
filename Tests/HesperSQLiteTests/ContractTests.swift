import HesperSQLite
import StoreContract
import Testing

@Suite("Store contract on SQLite")
struct ContractTests {
    @Test(arguments: StoreContract.cases)
    func conforms(_ contract: StoreContract.Case) async throws {
        let folder = Folder()
        try await contract.run(StoreContract.Subject { try SQLiteStore(folder: folder.url) })
    }
}
