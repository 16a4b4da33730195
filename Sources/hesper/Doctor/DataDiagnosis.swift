import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore

/// The data: its folders, its database, its attachments.
struct DataDiagnosis {
    let settings: Settings

    func all() async -> [Diagnosis] {
        let database: DatabaseLocation
        do { database = try settings.database() } catch { return [.wrong("\(error)")] }
        var found: [Diagnosis] = []
        // Opening a database of an earlier version would change it.
        var canOpen = false
        switch database {
        case .sqlite(let folder):
            found += FolderDiagnosis(path: folder, what: "data").all()
            found += Diagnosis.trying { try sqlite(in: folder, &canOpen) }
        case .postgres:
            found += await postgres(database)
            canOpen = !found.contains { $0.kind == .wrong }
        }
        return found + (await attachments(of: canOpen ? database : nil))
    }

    private func sqlite(in folder: String, _ canOpen: inout Bool) throws -> [Diagnosis] {
        try DatabaseLocation.checkRestored(folder)
        try DatabaseLocation.checkFile(in: folder, toName: "name the data folder with --data or HESPER_DATA")
        let look = try SQLiteOverview(folder: URL(filePath: folder), clocks: DataDiagnosis.clockLimit)
        var found: [Diagnosis] = []
        let known = SQLiteOverview.knownVersion
        if look.version > known {
            found.append(.wrong("\(StoreError.newerDatabase(version: look.version, known: known))."))
        } else if look.version < known {
            found.append(
                .warning(
                    "The database has version \(look.version): the next start brings it to \(known). Make a backup before."
                ))
        } else {
            canOpen = true
            found.append(.ok("The database has version \(known), that of this Hesper."))
        }
        found += look.findings.map {
            .wrong("SQLite finds in the database: \($0). Restore a backup, and check the disk.")
        }
        if look.findings.isEmpty {
            found.append(.ok("SQLite's quick check finds nothing wrong; hesper check looks at all of it."))
        }
        found += DataDiagnosis.ahead(look.greatestClocks)
        if let last = look.lastPushDate, last > Timestamp.now.adding(DataDiagnosis.tolerance) {
            found.append(
                .wrong("The last change came at \(last), which this machine's clock says is to come: set the clock."))
        }
        return found
    }

    /// Two clocks that both follow the time differ by less, in milliseconds.
    private static let tolerance: Int64 = 60_000

    /// How many accounts are named.
    private static let mostAccounts = 10
    /// One more, to know whether there are more.
    private static let clockLimit = mostAccounts + 1

    /// Accounts with edits whose clocks are further ahead than a server accepts: one did when its own clock was wrong.
    private static func ahead(_ clocks: [AccountClock]) -> [Diagnosis] {
        let now = Timestamp.now
        let ahead = clocks.filter { $0.clock.timestamp > now.adding(Int64(Limits.clockAhead)) }
        let named = ahead.prefix(mostAccounts).map { warning(about: $0, now: now) }
        guard ahead.count > mostAccounts else { return named }
        return named + [
            .warning("More accounts than these \(mostAccounts) have edits with clocks ahead of this machine's.")
        ]
    }

    private static func warning(about account: AccountClock, now: Timestamp) -> Diagnosis {
        let date = account.clock.timestamp
        let minutes = (date.milliseconds - now.milliseconds) / 60_000
        let distance =
            switch minutes {
            case ..<120: count(Int(minutes), "minute")
            case ..<2_880: count(Int(minutes / 60), "hour")
            default: count(Int(minutes / 1_440), "day")
            }
        return .warning(
            "\(account.email) has an edit of \(date), \(distance) ahead of this machine's clock, by \(account.clock.node). If this "
                + "machine's clock is right, that device's was wrong or forged: hesper account show \(account.email) lists devices, and "
                + "revoking one as lost undoes its changes.")
    }

    private func postgres(_ database: DatabaseLocation) async -> [Diagnosis] {
        do {
            return try await database.whileOpen(making: false, connections: 2) { store in
                let totals = try await store.read { try $0.totals() }
                let clocks = try await store.read { try $0.greatestClocks(limit: DataDiagnosis.clockLimit) }
                return [.ok("PostgreSQL answers, and has \(count(totals.accounts, "account")).")]
                    + DataDiagnosis.ahead(clocks)
            }
        } catch {
            return [.wrong("\(error)")]
        }
    }

    /// - Parameter database: that can be opened; nil if there is none.
    private func attachments(of database: DatabaseLocation?) async -> [Diagnosis] {
        do {
            let place = try settings.attachments()
            guard !S3Location.isMeant(by: place) else {
                let blobs = try await settings.openBlobs()
                return [.ok("The bucket of the attachments answers.")] + (await claim(of: database, to: blobs))
            }
            // It is made when it is needed.
            guard FileManager.default.fileExists(atPath: place) else { return [] }
            return FolderDiagnosis(path: place, what: "attachments").all()
                + (await claim(of: database, to: try await settings.openBlobs()))
        } catch {
            return [.wrong("\(error)")]
        }
    }

    /// Whether the attachments belong to the database.
    private func claim(of database: DatabaseLocation?, to blobs: any BlobStore) async -> [Diagnosis] {
        guard let database else { return [] }
        do {
            return try await database.whileOpen(making: false, connections: 2) { store in
                guard let blocker = try await BlobClaim(store: store, blobs: blobs).removalBlocker() else {
                    return [.ok("The attachments belong to this database.")]
                }
                return [blocker == .unmarked ? .ok("\(blocker)") : .wrong("\(blocker)")]
            }
        } catch {
            return [.wrong("\(error)")]
        }
    }
}
