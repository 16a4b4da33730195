import ArgumentParser
import Foundation
import HesperBlobs
import HesperPostgres
import HesperSQLite
import HesperStore

/// `hesper migrate-data --from sqlite:FOLDER --to postgresql://…`
struct MigrateData: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Move a whole installation from SQLite to PostgreSQL.",
        discussion: """
            Accounts, devices, notes, histories and all else go to an empty database as they are: devices stay signed in \
            and go on where they were. Nothing is changed in the database that they come from. Stop hesper serve before; no \
            other process can open it meanwhile. Every row is read back and compared.

            If it breaks off, do the same again: what is there already is compared, not moved again. Until it has come to \
            its end nothing serves the new database.

            The bytes of attachments stay where they are. Whether all of them are in HESPER_ATTACHMENTS (default: \
            attachments in the folder), where hesper serve will look for them, is looked at in the end; the exit status is \
            1 if any is missing.

            A password need not stand in the address, which every user of the machine can read on the command line: leave \
            --to out and set HESPER_DATABASE, or keep it apart in PGPASSFILE, ~/.pgpass or PGPASSWORD.
            """)

    @Option(help: ArgumentHelp("The folder of the data that moves.", valueName: "sqlite:FOLDER")) var from: String
    @Option(
        help: ArgumentHelp(
            "The empty database that it moves to (default: HESPER_DATABASE).", valueName: "postgresql://…"))
    var to: String?
    @OptionGroup var placeOptions: PlaceOptions

    func run() async throws {
        guard case .sqlite(let folder) = try location(from, of: "--from") else {
            throw Failure("--from: only sqlite:FOLDER can be moved; there is no way back to SQLite yet.", .usage)
        }
        let settings = try placeOptions.settings([.data: [folder]])
        let database = try to.map { try location($0, of: "--to") } ?? settings.database()
        guard case .postgres(let target) = database else {
            throw Failure("Name the database to move to, a postgresql://…, with --to or HESPER_DATABASE.", .usage)
        }
        try DatabaseLocation.checkFile(in: folder, toName: "name the data folder as --from sqlite:FOLDER")
        // Where they can not be looked for, that is known before anything has moved.
        let blobs = try await settings.openBlobs()

        let report = try await onThread { try Migration(folder: folder, target: target).run() }
        if report.found > 0 {
            Terminal.say("\(count(report.found, "scope")) of \(report.scopes) had been moved before.")
        }
        Terminal.say(
            "Moved \(count(report.scopes, "account")) with \(count(report.rows, "row")) to "
                + "PostgreSQL. Every row was compared.")
        let look = try await database.whileOpen(making: false, connections: 2) { store in
            try await AttachmentLook(store: store, blobs: blobs).run()
        }
        tellWhatStays(look, try settings.attachments(), folder)
        if look.missing > 0 { throw ExitCode(Failure.Kind.failed.rawValue) }
    }

    private func location(_ text: String, of flag: String) throws -> DatabaseLocation {
        do {
            return try DatabaseLocation(text, data: Settings.defaultData)
        } catch let error as DatabaseLocation.Wrong {
            throw Failure("\(flag): \(error.why)", .usage)
        }
    }

    /// What an operator has to know before the first start on the new database.
    private func tellWhatStays(_ look: AttachmentLook.Report, _ attachments: String, _ folder: String) {
        if look.count > 0 {
            let isBucket = S3Location.isMeant(by: attachments)
            let place = isBucket ? attachments : URL(filePath: attachments).path
            let bytes = "The bytes of \(count(look.count, "attachment")) stay in \(place)"
            Terminal.say(
                look.missing == 0
                    ? "\(bytes): all are there." : "\(bytes), where \(look.missing) of them are missing.")
            Terminal.say(
                "Serve with HESPER_ATTACHMENTS=\(place)"
                    + (isBucket ? "." : ": several servers need that very folder, or all that is in it in S3."))
        }
        let file = URL(filePath: folder).appending(path: SQLiteStore.fileName).path
        Terminal.say(
            "\(file) is as it was. Put it away: what a server writes to one of the two never comes to the other.")
    }
}
