import ArgumentParser
import Foundation
import HesperStore

/// The options of all commands that use the data: the folder, the database and the attachments.
struct DataOptions: SettingOptions {
    @Option(.data) var data: String?
    @Option(.database) var database: String?
    @Option(.databaseConnections) var databaseConnections: String?
    @OptionGroup var locationOptions: LocationOptions

    /// The settings of a command other than `serve`. Uses those of the installed service if no option, variable or default folder
    /// selects the data.
    /// - Throws: ``Failure``, which names the invalid setting and its source.
    func settings(_ flags: [Setting: [String]] = [:]) throws -> Settings {
        if !selectsData, let service = InstalledService() { try service.addToEnvironment() }
        return try Settings(flags: allFlags.merging(flags) { $1 }, config: locationOptions.config)
    }

    /// Whether an option or variable selects the data, or the default folder exists.
    private var selectsData: Bool {
        let environment = ProcessInfo.processInfo.environment
        return data != nil || database != nil || locationOptions.config != nil
            || [Setting.data.variable, Setting.database.variable, Setting.configVariable]
                .contains { !environment[$0, default: ""].isEmpty }
            || FileManager.default.fileExists(atPath: Settings.defaultData)
    }

    /// The settings given as options, including those of ``LocationOptions``.
    var allFlags: [Setting: [String]] { flags.merging(locationOptions.flags) { $1 } }

    /// Opens the store of attachment data.
    func openBlobs() async throws -> any BlobStore {
        try await settings().openBlobs()
    }

    /// Opens the database for the duration of `body`.
    /// - Parameter makes: whether to create a missing database. Most commands do not, so that a mistyped path does not create
    ///   one.
    /// - Throws: ``Failure`` if the database does not exist or cannot be reached.
    func withStore<T>(making makes: Bool = false, _ body: (any Store) async throws -> T) async throws -> T {
        let settings = try settings()
        return try await settings.database().whileOpen(
            making: makes, connections: try settings.databaseConnections(), body)
    }
}

/// The options for the attachments and the settings file. For commands that select the database in another way.
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
