import HesperModel
import HesperStore

/// The requirements for every store. The tests of a store run all cases:
///
///     @Test(arguments: StoreContract.cases)
///     func fulfils(_ contract: StoreContract.Case) async throws {
///         try await contract.run(StoreContract.Subject { try SQLiteStore(folder: folder) })
///     }
public struct StoreContract {
    /// The database under test, empty when a case begins.
    public struct Subject: Sendable {
        /// Opens the database. Each call opens it as another process would.
        public let open: @Sendable () async throws -> any Store

        public init(open: @escaping @Sendable () async throws -> any Store) { self.open = open }
    }

    /// A requirement. It throws a ``Violation`` if it is not met.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }

        /// A case with one opening of the database and one account.
        init(_ name: String, client run: @escaping @Sendable (Client) async throws -> Void) {
            self.init(name) { subject in try await run(try await Client(on: try await subject.open())) }
        }

        public var description: String { name }
    }

    public static let cases: [Case] =
        accountCases + passwordRaceCases + deviceCases + ticketCases + pushCases + groupCases + queueCases
        + transactionCases
        + scanCases + digestCases + deletionCases
        + bagCases + objectTextCases + blobCases + sweepCases + quotaCases
        + idempotencyCases + importCases + webhookCases + historyCases + revocationCases + revocationRowCases
        + searchCases + durabilityCases
}

/// The violation of a requirement.
public struct Violation: Error, CustomStringConvertible {
    public let description: String
}

func expect(
    _ condition: Bool, _ what: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line
) throws {
    guard !condition else { return }
    throw Violation(description: "\(file):\(line): \(what())")
}

func expect<T: Equatable>(
    _ value: T, is expected: T, _ what: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line
) throws {
    guard value != expected else { return }
    throw Violation(description: "\(file):\(line): \(what()) is \(value), not \(expected)")
}

func unwrap<T>(_ value: T?, _ what: String = "a value", file: String = #fileID, line: Int = #line) throws -> T {
    guard let value else { throw Violation(description: "\(file):\(line): \(what) is missing") }
    return value
}

/// An error that a case throws on purpose.
struct Deliberate: Error {}
