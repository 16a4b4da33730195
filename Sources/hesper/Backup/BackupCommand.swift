import ArgumentParser

/// `hesper backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make a backup of everything, also while serving, or read one to check it.",
        discussion: "hesper backup FOLDER is short for hesper backup create FOLDER. hesper restore puts a backup back.",
        subcommands: [Create.self, Verify.self], defaultSubcommand: Create.self)
}
