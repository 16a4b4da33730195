import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// The texts that a note has had, with the server in memory and the real one.
struct StoreHistoryTests {
    @Test(arguments: ContractServer.available) func formerTextsAreThoseOfTheHistory(_ server: ContractServer)
        async throws
    {
        let transport = try await server.transport()
        let store = try await LocalStore(
            LocalDatabase(path: nil), MemoryAttachmentFiles(), [], makeTransport: { _ in transport })
        await #expect(throws: AccountError.wrongPassword) { try await store.formerTexts(of: ObjectID()) }
        let email = "\(UniqueID.random())@example.org"
        try await store.signUp(to: "https://notes.example.org", email: email, password: ContractDevice.password)
        let note = try await store.insert(HesperClient.Note(text: "one"))
        #expect(try await store.formerTexts(of: ObjectID()) == [])
        for text in ["two", "three"] {
            await store.syncNow()
            try await store.update(note.id) {
                $0.text = MergedText(text)
                $0.isArchived.toggle()
            }
        }
        await store.syncNow()
        #expect(try await store.formerTexts(of: note.id) == ["three", "two", "one"])
    }

    /// Each text of an object has a history.
    @Test(arguments: ContractServer.available) func formerTextsOfAnObject(_ server: ContractServer) async throws {
        let transport = try await server.transport()
        let store = try await LocalStore(
            LocalDatabase(path: nil), MemoryAttachmentFiles(), [Dish.self], makeTransport: { _ in transport })
        let email = "\(UniqueID.random())@example.org"
        try await store.signUp(to: "https://notes.example.org", email: email, password: ContractDevice.password)
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil.", tips: "Salt"))
        for text in ["Boil. Serve.", "Boil. Serve hot."] {
            await store.syncNow()
            try await store.update(soup.id) { $0.method = MergedText(text) }
        }
        await store.syncNow()
        #expect(
            try await store.formerTexts(of: soup.id, \.$method) == ["Boil. Serve hot.", "Boil. Serve.", "Boil."])
        #expect(try await store.formerTexts(of: soup.id, \.$tips) == ["Salt"])
    }
}
