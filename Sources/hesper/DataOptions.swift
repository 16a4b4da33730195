import ArgumentParser
import Foundation
import HesperStore

/// The options with which commands select the data folder, the database and the storage of attachments.
struct DataOptions: SettingOptions {
    @Option(.data) var data: String?
    @Option(.database) var database: String?
    @Option(.databaseConnections) var databaseConnections: String?
    @OptionGroup var locationOptions: LocationOptions

    /// The settings of a command other than `serve`. The settings of the installed service are ignored if an option or a variable
    /// selects the data, or if the default data folder exists. In all other cases they are used.
    /// - Throws: ``Failure``, which names the invalid setting and its source.
    func settings(_ flags: [Setting: [String]] = [:]) throws -> Settings {
        if !selectsData, let service = InstalledService() { try service.addToEnvironment() }
        return try Settings(flags: allFlags.merging(flags) { $1 }, config: locationOptions.config)
    }

    /// Whether an option or a variable selects the data, or the default data folder exists.
    private var selectsData: Bool {
        let environment = ProcessInfo.processInfo.environment
        return data != nil || database != nil || locationOptions.config != nil
            || [Setting.data.variable, Setting.database.variable, Setting.configVariable]
                .contains { !environment[$0, default: ""].isEmpty }
            || FileManager.default.fileExists(atPath: Settings.defaultData)
    }

    /// The settings that were given as options, including the options of ``LocationOptions``.
    var allFlags: [Setting: [String]] { flags.merging(locationOptions.flags) { $1 } }

    /// Opens the storage for the bytes of attachments.
    func openBlobs() async throws -> any BlobStore {
        try await settings().openBlobs()
    }

    /// Opens the database, calls `body`, and closes the database again.
    /// - Parameter makes: whether to create the database if it does not exist. Most commands do not create it, because the path
    ///   may be mistyped.
    /// - Throws: ``Failure`` if the database does not exist or cannot be reached.
    func withStore<T>(making makes: Bool = false, _ body: (any Store) async throws -> T) async throws -> T {
        let settings = try settings()
        return try await settings.database().whileOpen(
            making: makes, connections: try settings.databaseConnections(), body)
    }
}

/// The options for the attachments and the settings file, for commands that do not use ``DataOptions`` because they have their own
/// options for the database.
struct LocationOptions: SettingOptions {
    @Option(.attachments) var attachments: String?

    @Option(
        help: ArgumentHelp(
            "A settings file (HESPER_CONFIG; default: hesper.json in the data folder, if it exists).",
            valueName: "file"))
    var config: String?

    func settings(_ flags: [Setting: [String]]) throws -> Settings {
        try Settings(flags: self.flags.merging(flags) { $1 }, config: config)
    }
}
