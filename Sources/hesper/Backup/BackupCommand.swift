import ArgumentParser

/// The command `hesper backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Create or verify a backup of the whole installation.",
        discussion:
            "hesper backup FOLDER is short for hesper backup create FOLDER. Use hesper restore to restore a backup.",
        subcommands: [Create.self, Verify.self], defaultSubcommand: Create.self)
}
