import ArgumentParser
import HesperModel
import HesperStore

/// `hesper adopt-attachments`
struct AdoptAttachments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the bytes of the attachments those of this database.",
        discussion: """
            Beside the bytes of attachments is a marker that names the database that they belong to. While the marker \
            does not fit the database, after a restore for example, nothing removes bytes. This command writes a new \
            marker. Stop the servers on all other copies of the database before. It may run beside serve.

            Bytes that are unknown to the database stay for 30 days more, and are then removed.
            """)

    @Flag(help: "Do it without asking.") var yes = false
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        try await dataOptions.withStore(adopt)
    }

    private func adopt(in store: any Store) async throws {
        let blobs = try await dataOptions.openBlobs()
        let claim = BlobClaim(store: store, blobs: blobs)
        let place = try dataOptions.settings().attachments()
        Terminal.say("Attachments: \(place)")
        Terminal.say("Marker: \(try await marker(claim, of: store.installation.node))")
        let walk = try await BlobWalk.run(in: blobs, knownTo: store, at: .now)
        Terminal.say(
            "Known to this database: \(count(walk.files - walk.unknownFiles, "file")) with "
                + "\(walk.bytes - walk.unknownBytes) bytes.")
        Terminal.say("Unknown to it: \(count(walk.unknownFiles, "file")) with \(walk.unknownBytes) bytes.")
        if !yes { try confirm(walk) }
        try await claim.adopt(acceptingUnknown: walk.unknownFiles)
        Terminal.say(
            "The attachments now belong to this database. A server removes bytes again after 5 minutes, and unknown ones "
                + "after 30 days.")
    }

    private func marker(_ claim: BlobClaim, of installation: NodeID) async throws -> String {
        guard let marker = try await claim.marker() else {
            return try await claim.removalBlocker() == .damaged ? "damaged" : "none"
        }
        let whose = marker.installation == installation ? "this installation" : "another installation"
        let state =
            switch try await claim.removalBlocker() {
            case .otherNonce: ", last used by another copy of the database"
            case .contested: ", contested"
            default: ""
            }
        return "\(whose), \(marker.installation)\(state)"
    }

    private func confirm(_ walk: BlobWalk) throws {
        guard Terminal.readsKeyboard else {
            throw Failure("Standard input is not a terminal: add --yes to adopt the attachments.", .usage)
        }
        let end = walk.unknownFiles > 0 ? " The unknown files are removed 30 days from now." : ""
        let answer = Terminal.ask("No other database may use these attachments.\(end) Type yes to adopt them: ")
        guard answer == "yes" else { throw Failure("Nothing was changed.") }
    }
}
