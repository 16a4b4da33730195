import HesperModel
import HesperStore

/// What every store must do, whatever it is made of. A store's own tests put it through all cases:
///
///     @Test(arguments: StoreContract.cases)
///     func keeps(_ contract: StoreContract.Case) async throws {
///         try await contract.run(StoreContract.Subject { try SQLiteStore(folder: folder) })
///     }
public struct StoreContract {
    /// The database under test, empty when a case begins.
    public struct Subject: Sendable {
        /// Opens it: each call as another process would.
        public let open: @Sendable () async throws -> any Store

        public init(open: @escaping @Sendable () async throws -> any Store) { self.open = open }
    }

    /// One thing that must hold. It throws a ``Violation`` where it does not.
    public struct Case: Sendable, CustomStringConvertible {
        public let name: String
        public let run: @Sendable (Subject) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.run = run
        }

        /// A case that opens the database once and has an account.
        init(_ name: String, desk run: @escaping @Sendable (Desk) async throws -> Void) {
            self.init(name) { subject in try await run(try await Desk(on: try await subject.open())) }
        }

        public var description: String { name }
    }

    public static let cases: [Case] =
        accountCases + passwordRaceCases + deviceCases + ticketCases + pushCases + groupCases + queueCases
        + transactionCases
        + scanCases + digestCases + deletionCases
        + bagCases + blobCases + sweepCases + quotaCases
        + historyCases + revocationCases + revocationRowCases + searchCases + durabilityCases
}

/// Where a store did not do as it must.
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
    _ found: T, is wanted: T, _ what: @autoclosure () -> String = "", file: String = #fileID, line: Int = #line
) throws {
    guard found != wanted else { return }
    throw Violation(description: "\(file):\(line): \(what()) is \(found), not \(wanted)")
}

func unwrap<T>(_ value: T?, _ what: String = "a value", file: String = #fileID, line: Int = #line) throws -> T {
    guard let value else { throw Violation(description: "\(file):\(line): \(what) is missing") }
    return value
}

/// An error that a case throws on purpose.
struct Deliberate: Error {}
