import ArgumentParser
import Foundation
import HesperStore

/// Where the data is: what all commands have in common.
struct DataOptions: SettingOptions {
    @Option(.data) var data: String?
    @Option(.database) var database: String?
    @Option(.databaseConnections) var databaseConnections: String?
    @OptionGroup var placeOptions: PlaceOptions

    /// The settings of a command other than `serve`: where nobody says which data is meant, those of the installed service.
    /// - Throws: ``Failure`` that names what is wrong and where.
    func settings(_ flags: [Setting: [String]] = [:]) throws -> Settings {
        if !namesData, let service = InstalledService() { try service.lendEnvironment() }
        return try Settings(flags: allFlags.merging(flags) { $1 }, config: placeOptions.config)
    }

    /// Whether a flag or a variable says which data is meant, or the default is there.
    private var namesData: Bool {
        let environment = ProcessInfo.processInfo.environment
        return data != nil || database != nil || placeOptions.config != nil
            || [Setting.data.variable, Setting.database.variable, Setting.configVariable]
                .contains { !environment[$0, default: ""].isEmpty }
            || FileManager.default.fileExists(atPath: Settings.defaultData)
    }

    /// The settings that flags name, those of ``PlaceOptions`` among them.
    var allFlags: [Setting: [String]] { flags.merging(placeOptions.flags) { $1 } }

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
struct PlaceOptions: SettingOptions {
    @Option(.attachments) var attachments: String?

    @Option(
        help: ArgumentHelp(
            "A file of settings (HESPER_CONFIG; default: hesper.json in the data folder, if there is one).",
            valueName: "file"))
    var config: String?

    func settings(_ flags: [Setting: [String]]) throws -> Settings {
        try Settings(flags: self.flags.merging(flags) { $1 }, config: config)
    }
}
