import Foundation
import GRDB
import HesperClient

// Measures HesperClient beside GRDB, and prints one line of JSON for each figure. All files are in the given folder.
//
//     client FOLDER
//     client FOLDER inserts|keystroke|observation
//     client FOLDER first-sync SERVER EMAIL PASSWORD TOKEN
//
// TOKEN is that of another session of the account, with which its pages are read and discarded.

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Recipe: SyncedObject {
    static let objectType = "recipe"
    var id = ObjectID<Recipe>()
    @Merged var title = ""
    @Merged var method = ""
    @Merged var servings = 4
    @Merged var isDone = false
}

let arguments = Array(CommandLine.arguments.dropFirst())
let folder = URL(filePath: arguments.first ?? ".")
let clock = ContinuousClock()

func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    try await clock.measure(body) / .seconds(1)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func report(_ name: String, _ values: [String: Double]) {
    let figures = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
    print("{\"name\": \"\(name)\", \(figures.joined(separator: ", "))}")
}

/// 10,000 inserts in one transaction, and GRDB inserting the rows that they wrote.
func inserts() async throws {
    let file = folder.appending(path: "inserts.sqlite")
    let store = try await LocalStore(at: file, Recipe.self)
    let method = String(repeating: "Stir. ", count: 30)
    let recipes = (0..<10_000).map { Recipe(title: "Recipe \($0)", method: method, servings: $0 % 9, isDone: false) }
    let library = try await seconds {
        try await store.write { tx in
            for recipe in recipes { try tx.insert(recipe) }
        }
    }
    report("inserts", ["seconds": library, "grdb": try await plainInserts(of: "recipe", in: file)])
}

/// The seconds that GRDB needs to insert the rows of a type, in one transaction.
func plainInserts(of type: String, in store: URL) async throws -> Double {
    let columns = "id, body, clocks, pending, digest, isHidden"
    let rows = try await DatabasePool(path: store.path).read {
        try Row.fetchAll($0, sql: "SELECT \(columns) FROM \"object.\(type)\"").map { Array($0.databaseValues) }
    }
    let other = try DatabasePool(path: store.path + "-plain")
    try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try await other.write {
        try $0.execute(
            sql: """
                CREATE TABLE object (
                    row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, body TEXT NOT NULL, clocks TEXT NOT NULL,
                    pending TEXT, digest BLOB, isHidden INTEGER NOT NULL);
                CREATE INDEX pending ON object (row) WHERE pending IS NOT NULL;
                """)
    }
    return try await seconds {
        try await other.write { database in
            let statement = try database.makeStatement(
                sql: "INSERT INTO object (\(columns)) VALUES (?, ?, ?, ?, ?, ?)")
            for row in rows { try statement.execute(arguments: StatementArguments(row)) }
        }
    }
}

/// A key typed in a note of 50 KB.
func keystrokes() async throws {
    let store = try await LocalStore(at: folder.appending(path: "keystrokes.sqlite"))
    var note = try await store.insert(
        Note(text: MergedText(String(repeating: "All work and no play.\n", count: 2_300))))
    var times: [Double] = []
    for number in 0..<200 {
        note.text.string += "\(number % 10)"
        let begin = clock.now
        note = try await store.save(note)
        times.append((clock.now - begin) / .seconds(1))
    }
    report("keystroke", ["milliseconds": median(times) * 1_000])
}

/// From the beginning of a transaction to the snapshot that an observer of 100 objects gets.
func observation() async throws {
    let store = try await LocalStore(at: folder.appending(path: "observation.sqlite"), Recipe.self)
    let first = try await store.write { tx in
        for number in 1..<100 { try tx.insert(Recipe(title: "Recipe \(number)")) }
        return try tx.insert(Recipe(title: "0"))
    }
    var times: [Double] = []
    var snapshots = store.values(Recipe.self).makeAsyncIterator()
    _ = try await snapshots.next()
    for number in 1...100 {
        let title = "\(number)"
        let begin = clock.now
        try await store.update(first.id) { $0.title = title }
        while let recipes = try await snapshots.next() {
            if recipes.contains(where: { $0.id == first.id && $0.title == title }) { break }
        }
        times.append((clock.now - begin) / .seconds(1))
    }
    report("observation", ["milliseconds": median(times) * 1_000])
}

/// The first sync of a device, from the end of signing in until the copy is known to be identical to the server's. Then the same pages
/// are read and discarded, and GRDB inserts the same rows.
func firstSync(server: String, email: String, password: String, token: String) async throws {
    let file = folder.appending(path: "first-sync.sqlite")
    let store = try await LocalStore(at: file)
    try await store.signIn(to: server, email: email, password: password)
    let library = await seconds {
        for await status in store.statuses where status.isIdentical { break }
    }
    let peak = try peakMemory()
    await store.suspend()
    let reading = try await seconds { try await readPages(server: server, token: token) }
    let figures = [
        "seconds": library, "read": reading, "grdb": try await plainInserts(of: "note", in: file), "peak": peak,
        "notes": Double(try await store.count(Note.self)),
    ]
    report("first-sync", figures)
}

/// Reads an account from the start, and discards the pages.
func readPages(server: String, token: String) async throws {
    let session = URLSession(configuration: .ephemeral)
    var request = URLRequest(url: URL(string: server + "/v1/sync") ?? folder)
    request.httpMethod = "POST"
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    var body = #"{"limit":500}"#
    while true {
        request.httpBody = Data(body.utf8)
        let (page, _) = try await session.data(for: request)
        if page.range(of: Data(#""hasMore":true"#.utf8), options: .backwards) == nil { return }
        let name = Data(#""syncToken":""#.utf8)
        guard let begin = page.range(of: name, options: .backwards)?.upperBound,
            let end = page[begin...].firstIndex(of: UInt8(ascii: "\""))
        else { throw CocoaError(.fileReadCorruptFile) }
        body = #"{"limit":500,"syncToken":"\#(String(decoding: page[begin..<end], as: UTF8.self))"}"#
    }
}

/// The largest memory of this process so far, in bytes.
func peakMemory() throws -> Double {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? .nan) * 1_024
}

switch arguments.dropFirst().first {
case "inserts": try await inserts()
case "keystroke": try await keystrokes()
case "observation": try await observation()
case "first-sync" where arguments.count == 6:
    try await firstSync(server: arguments[2], email: arguments[3], password: arguments[4], token: arguments[5])
default:
    try await inserts()
    try await keystrokes()
    try await observation()
}
