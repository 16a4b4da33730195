import Foundation
import HesperBlobs
import HesperModel
import HesperPostgres
import HesperSQLite
import HesperStore

/// Checks the data folder, the database and the attachments.
struct DataDiagnosis {
    let settings: Settings

    func all() async -> [Diagnosis] {
        let database: DatabaseLocation
        do { database = try settings.database() } catch { return [.wrong("\(error)")] }
        var found: [Diagnosis] = []
        // If the database is from an earlier version, it is not opened, because opening would migrate it.
        var canOpen = false
        switch database {
        case .sqlite(let folder):
            found += FolderDiagnosis(path: folder, contents: "data").all()
            found += Diagnosis.trying { try sqlite(in: folder, &canOpen) }
        case .postgres(let string):
            // If the version cannot be read, opening the database fails too, and its error says what to do.
            let (version, known) = ((try? PostgresStore.version(of: string)) ?? 0, PostgresStore.knownVersion)
            if version > 0, version < known {
                found.append(DataDiagnosis.earlier(version, known))
            } else {
                found += await postgres(database)
                canOpen = !found.contains { $0.kind == .wrong }
            }
        }
        return found + (await attachments(of: canOpen ? database : nil))
    }

    private func sqlite(in folder: String, _ canOpen: inout Bool) throws -> [Diagnosis] {
        try DatabaseLocation.checkRestored(folder)
        try DatabaseLocation.checkFile(in: folder, toName: "set the data folder with --data or HESPER_DATA")
        let overview = try SQLiteOverview(folder: URL(filePath: folder), clocks: DataDiagnosis.clockLimit)
        var found: [Diagnosis] = []
        let known = SQLiteOverview.knownVersion
        if overview.version > known {
            found.append(.wrong("\(StoreError.newerDatabase(version: overview.version, known: known))."))
        } else if overview.version < known {
            found.append(DataDiagnosis.earlier(overview.version, known))
        } else {
            canOpen = true
            found.append(.ok("The database has version \(known), which is current."))
        }
        found += overview.findings.map {
            .wrong("SQLite reports a damaged database: \($0). Restore a backup, and check the disk.")
        }
        if overview.findings.isEmpty {
            found.append(.ok("SQLite's quick check found no problems. Run hesper check for a full check."))
        }
        found += DataDiagnosis.ahead(overview.greatestClocks)
        if let last = overview.lastPushDate, last > Timestamp.now.adding(DataDiagnosis.tolerance) {
            found.append(
                .wrong("The last change was received at \(last), which is in the future. Correct this machine's clock.")
            )
        }
        return found
    }

    private static func earlier(_ version: Int, _ known: Int) -> Diagnosis {
        .warning("The database has version \(version). The next start upgrades it to \(known). Make a backup first.")
    }

    /// The maximum difference between two clocks that are considered synchronized, in milliseconds.
    private static let tolerance: Int64 = 60_000

    /// The maximum number of accounts that the findings list.
    private static let maximumAccounts = 10
    /// The number of accounts to read. It is one more than the maximum, to detect that not all accounts are listed.
    private static let clockLimit = maximumAccounts + 1

    /// Findings about accounts with edits whose dates are far in the future. The server usually refuses these edits. It accepted
    /// them when its own clock was wrong.
    private static func ahead(_ clocks: [AccountClock]) -> [Diagnosis] {
        let now = Timestamp.now
        let ahead = clocks.filter { $0.clock.timestamp > now.adding(Int64(Limits.clockAhead)) }
        let named = ahead.prefix(maximumAccounts).map { warning(about: $0, now: now) }
        guard ahead.count > maximumAccounts else { return named }
        return named + [
            .warning("More than \(maximumAccounts) accounts have edits dated ahead of this machine's clock.")
        ]
    }

    private static func warning(about account: AccountClock, now: Timestamp) -> Diagnosis {
        let date = account.clock.timestamp
        let minutes = (date.milliseconds - now.milliseconds) / 60_000
        let distance =
            switch minutes {
            case ..<120: counted(Int(minutes), "minute")
            case ..<2_880: counted(Int(minutes / 60), "hour")
            default: counted(Int(minutes / 1_440), "day")
            }
        return .warning(
            "\(account.email) has an edit dated \(date), \(distance) ahead of this machine's clock, from device \(account.clock.node). "
                + "If this machine's clock is right, the clock of that device was wrong or forged. List the devices with hesper account show "
                + "\(account.email). Reporting a device as lost undoes its changes.")
    }

    private func postgres(_ database: DatabaseLocation) async -> [Diagnosis] {
        do {
            return try await database.whileOpen(making: false, connections: 2) { store in
                let totals = try await store.read { try $0.totals() }
                let clocks = try await store.read { try $0.greatestClocks(limit: DataDiagnosis.clockLimit) }
                return [.ok("The PostgreSQL database is available and has \(counted(totals.accounts, "account")).")]
                    + DataDiagnosis.ahead(clocks)
            }
        } catch {
            return [.wrong("\(error)")]
        }
    }

    /// Checks the storage of attachments.
    /// - Parameter database: the database to which the attachments should belong. Nil if the database cannot be opened.
    private func attachments(of database: DatabaseLocation?) async -> [Diagnosis] {
        do {
            let location = try settings.attachments()
            guard !S3Location.isURL(location) else {
                let blobs = try await settings.openBlobs()
                return [.ok("The bucket of the attachments is accessible.")] + (await claim(of: database, to: blobs))
            }
            // The folder of attachments is created when it is needed, so it is not a problem if the folder does not exist.
            guard FileManager.default.fileExists(atPath: location) else { return [] }
            return FolderDiagnosis(path: location, contents: "attachments").all()
                + (await claim(of: database, to: try await settings.openBlobs()))
        } catch {
            return [.wrong("\(error)")]
        }
    }

    /// Checks whether the attachments belong to the database.
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
