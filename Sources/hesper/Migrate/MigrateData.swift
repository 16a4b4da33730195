import ArgumentParser
import Foundation
import HesperBlobs
import HesperModel
import HesperPostgres
import HesperSQLite
import HesperStore

/// The command `hesper migrate-data --from sqlite:FOLDER --to postgresql://…`.
struct MigrateData: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Migrate an installation from SQLite to PostgreSQL.",
        discussion: """
            Copies accounts, devices, notes, histories and all other data to an empty database. Devices stay signed in and \
            continue to sync. The source database is not changed. Stop hesper serve first. No other process can open the source \
            during the migration. Every row is read back and compared.

            If the migration is interrupted, run it again: rows that were already copied are only compared. Until it is \
            complete, hesper serve does not start on the new database.

            Attachments are not moved. After the migration, the command checks that all of them are in HESPER_ATTACHMENTS \
            (default: attachments in the data folder), as for hesper serve. The exit status is 1 if any is missing.

            All users of the machine can read a password on the command line. To avoid that, set HESPER_DATABASE instead of --to, \
            or use PGPASSFILE, ~/.pgpass or PGPASSWORD.
            """)

    @Option(help: ArgumentHelp("The data folder to migrate.", valueName: "sqlite:FOLDER")) var from: String
    @Option(
        help: ArgumentHelp(
            "The empty database to migrate to (default: HESPER_DATABASE).", valueName: "postgresql://…"))
    var to: String?
    @OptionGroup var locationOptions: LocationOptions

    func run() async throws {
        guard case .sqlite(let folder) = try location(from, of: "--from") else {
            throw Failure(
                "--from: must have the form sqlite:FOLDER. Migrating from PostgreSQL is not supported.", .usage)
        }
        let settings = try locationOptions.settings([.data: [folder]])
        let database = try to.map { try location($0, of: "--to") } ?? settings.database()
        guard case .postgres(let target) = database else {
            throw Failure("Set the database to migrate to, postgresql://…, with --to or HESPER_DATABASE.", .usage)
        }
        try DatabaseLocation.checkFile(in: folder, toName: "set the data folder with --from sqlite:FOLDER")
        // The storage of attachments is opened first, so that an invalid setting is reported before the migration.
        let blobs = try await settings.openBlobs()

        let report = try await onThread { try Migration(folder: folder, target: target).run() }
        if report.found > 0 {
            Terminal.printLine("\(report.found) of \(counted(report.scopes, "scope")) had already been migrated.")
        }
        Terminal.printLine(
            "Migrated \(counted(report.scopes, "account")) with \(counted(report.rows, "row")) to "
                + "PostgreSQL. Every row was compared.")
        let presence = try await database.whileOpen(making: false, connections: 2) { store in
            try await AttachmentPresenceCheck(store: store, blobs: blobs).run()
        }
        printNextSteps(presence, try settings.attachments(), folder)
        if presence.missing > 0 { throw ExitCode(Failure.Kind.failed.rawValue) }
    }

    private func location(_ text: String, of flag: String) throws -> DatabaseLocation {
        do {
            return try DatabaseLocation(text, data: Settings.defaultData)
        } catch let error as DatabaseLocation.Invalid {
            throw Failure("\(flag): \(error.reason)", .usage)
        }
    }

    /// Prints what the operator must do before starting the server with the new database.
    private func printNextSteps(_ presence: AttachmentPresenceCheck.Report, _ attachments: String, _ folder: String) {
        if presence.count > 0 {
            let isBucket = S3Location.isURL(attachments)
            let location = isBucket ? attachments : URL(filePath: attachments).path
            let summary = "\(counted(presence.count, "attachment")) in \(location)"
            Terminal.printLine(
                presence.missing == 0
                    ? "\(summary): all present." : "\(summary): \(presence.missing) missing.")
            Terminal.printLine(
                "Start the server with HESPER_ATTACHMENTS=\(location)"
                    + (isBucket
                        ? "." : ". If several servers use the database, they must share this folder, or use S3."))
        }
        let file = URL(filePath: folder).appending(path: SQLiteStore.fileName).path
        Terminal.printLine(
            "\(file) is unchanged. Archive it: changes made in one database do not reach the other.")
    }
}
