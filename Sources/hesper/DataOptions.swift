import ArgumentParser
import Foundation
import HesperStore

/// Where the data is: what all commands have in common.
struct DataOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the data (HESPER_DATA; default: data, and for commands other than serve, where there is none, that of "
                + "the installed service).", valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "The database: sqlite: for a file in the folder of the data, or postgresql://… (HESPER_DATABASE; default: "
                + "sqlite:). A password in it can be read by every user of the machine: set the variable, or see "
                + "PGPASSFILE.", valueName: "URL"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "How many connections to PostgreSQL requests have at once at most; a server has two more, to hear others and to "
                + "tell them (HESPER_DATABASE_CONNECTIONS; default: 16).",
            valueName: "number"))
    var databaseConnections: String?

    @OptionGroup var placeOptions: PlaceOptions

    /// The settings of a command other than `serve`: where nobody says which data is meant, those of the installed service.
    /// - Throws: ``Failure`` that names what is wrong and where.
    func settings(_ flags: [Setting: [String]] = [:]) throws -> Settings {
        if !namesData, let service = InstalledService() { try service.lendEnvironment() }
        return try ownSettings(flags)
    }

    /// Whether a flag or a variable says which data is meant, or the default is there.
    private var namesData: Bool {
        let environment = ProcessInfo.processInfo.environment
        return data != nil || database != nil || placeOptions.config != nil
            || [Setting.data.variable, Setting.database.variable, Setting.configVariable]
                .contains { !environment[$0, default: ""].isEmpty }
            || FileManager.default.fileExists(atPath: Settings.defaultData)
    }

    /// The settings that this process was given itself.
    func ownSettings(_ flags: [Setting: [String]]) throws -> Settings {
        var flags = flags
        if let data { flags[.data] = [data] }
        if let database { flags[.database] = [database] }
        if let databaseConnections { flags[.databaseConnections] = [databaseConnections] }
        return try placeOptions.settings(flags)
    }

    /// Where the bytes of attachments are.
    func openBlobs() async throws -> any BlobStore {
        try await settings().openBlobs()
    }

    /// Opens the database while `body` runs.
    /// - Parameter makes: whether to make one if there is none. Most commands do not: a mistyped name must not become a
    ///   database.
    /// - Throws: ``Failure`` if there is none, or it cannot be reached.
    func withStore<T>(making makes: Bool = false, _ body: (any Store) async throws -> T) async throws -> T {
        let settings = try settings()
        return try await settings.database().whileOpen(
            making: makes, connections: try settings.databaseConnections(), body)
    }
}

/// What stands beside a database, whichever it is.
struct PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the attachments' bytes are: a folder, or s3://bucket/prefix with the usual AWS variables "
                + "(HESPER_ATTACHMENTS; default: attachments in the data folder).", valueName: "place"))
    var attachments: String?

    @Option(
        help: ArgumentHelp(
            "A file of settings (HESPER_CONFIG; default: hesper.json in the data folder, if there is one).",
            valueName: "file"))
    var config: String?

    func settings(_ flags: [Setting: [String]]) throws -> Settings {
        var flags = flags
        if let attachments { flags[.attachments] = [attachments] }
        return try Settings(flags: flags, config: config)
    }
}
