import ArgumentParser
import HesperModel
import HesperStore

/// The command `hesper adopt-attachments`.
struct AdoptAttachments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Assign the stored attachments to this database.",
        discussion: """
            A marker beside the attachments names the database that they belong to. While the marker does not match the \
            database, for example after a restore, no attachments are removed. This command writes a new marker. Before you run \
            it, stop all servers that use other copies of the database. A server that uses this copy may keep running.

            Files that are unknown to the database are removed after 30 days.
            """)

    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(adopt)
    }

    private func adopt(in store: any Store) async throws {
        let blobs = try await dataOptions.openBlobs()
        let claim = BlobClaim(store: store, blobs: blobs)
        let location = try dataOptions.settings().attachments()
        Terminal.printLine("Attachments: \(location)")
        Terminal.printLine("Marker: \(try await marker(claim, of: store.installation.node))")
        let walk = try await BlobWalk.run(in: blobs, knownTo: store, at: .now)
        Terminal.printLine(
            "Known to this database: \(counted(walk.files - walk.unknownFiles, "file")) with "
                + "\(walk.bytes - walk.unknownBytes) bytes.")
        Terminal.printLine(
            "Unknown to this database: \(counted(walk.unknownFiles, "file")) with \(walk.unknownBytes) bytes.")
        if !yes { try confirm(walk) }
        try await claim.adopt(acceptingUnknown: walk.unknownFiles)
        Terminal.printLine(
            "The attachments now belong to this database. A server starts to remove deleted attachments after 5 minutes, "
                + "and unknown files after 30 days.")
    }

    private func marker(_ claim: BlobClaim, of installation: NodeID) async throws -> String {
        guard let marker = try await claim.marker() else {
            return try await claim.removalBlocker() == .damaged ? "damaged" : "none"
        }
        let owner = marker.installation == installation ? "this installation" : "another installation"
        let state =
            switch try await claim.removalBlocker() {
            case .otherNonce: ", last used by another copy of the database"
            case .contested: ", contested"
            default: ""
            }
        return "\(owner), \(marker.installation)\(state)"
    }

    private func confirm(_ walk: BlobWalk) throws {
        guard Terminal.readsKeyboard else {
            throw Failure("Standard input is not a terminal. Add --yes to adopt the attachments.", .usage)
        }
        let end = walk.unknownFiles > 0 ? " The unknown files are removed after 30 days." : ""
        let answer = Terminal.prompt("No other database may use these attachments.\(end) Type yes to adopt them: ")
        guard answer == "yes" else { throw Failure("Nothing was changed.") }
    }
}
