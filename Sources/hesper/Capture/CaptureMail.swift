import ArgumentParser
import Foundation
import HesperImport
import HesperModel
import HesperMoveIn
import HesperServer
import HesperStore

/// The command `hesper capture-mail TOKEN`, which a mail server runs for each message that arrives for a certain address.
struct CaptureMail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture-mail",
        abstract: "Store the e-mail message on standard input as a note. For mail servers.",
        discussion: """
            TOKEN is an access token whose only scope is append. It may be part of the address, for example \
            notes+TOKEN@example.org: upper and lower case are not distinguished, and hesper_ at the \
            beginning can be left out. See docs/automate.md.

            The subject becomes the title. Attached files become attachments. A message that is delivered twice becomes one note.

            Exit status: 0 the note is stored; 65 the message cannot be stored, for example because it is too large; 77 the token is \
            not valid; 75 anything else: the mail server should try again later.
            """)

    @Argument(help: "An access token whose only scope is append.") var token: String
    @OptionGroup var dataOptions: DataOptions

    func run() async throws {
        do {
            try await dataOptions.withStore(capture)
        } catch let failure as Failure where failure.kind == .noPermission || failure.kind == .unusableData {
            throw failure
        } catch let error as MailError {
            throw Failure(error.description, .unusableData)
        } catch let rejected as SourceNote.Rejected {
            throw Failure("The message cannot be stored as a note. \(rejected.reason)", .unusableData)
        } catch let problem as Problem {
            throw Failure(problem.detail, .tryLater)
        } catch {
            throw Failure("\(error)", .tryLater)
        }
    }

    private func capture(in store: any Store) async throws {
        guard let hash = NewToken.hash(of: token), let session = try await store.session(of: hash),
            let access = session.device.access, !access.isExpired(at: .now), !session.isDisabled
        else { throw Failure("The access token is not valid.", .noPermission) }
        guard access.scopes == [.append] else {
            throw Failure(
                "The only scope of the access token must be append, because other mail servers can see the token in the address.",
                .noPermission)
        }
        let settings = try dataOptions.settings().server()
        let message = try MailSource(
            try CaptureMail.readMessage(), tags: try await tags(access.tag, session.scope, store), received: .now,
            SourceLimits(attachmentBytes: settings.attachments.largest), MarkupProcess())
        let importer = Importer(
            into: ImportTarget(
                store: store, blobs: try await dataOptions.openBlobs(), scope: session.scope, by: session.device.node,
                maximumAttachmentBytes: settings.attachments.largest, quota: settings.quota, now: { .now }))
        let report = try await importer.run(message) { _, _ in }
        try await store.write {
            try $0.recordUse(
                of: session.device.node, at: .now, appVersion: nil, userAgent: "hesper capture-mail", address: nil,
                readSequence: nil)
        }
        if let skipped = report.skipped.first { throw Failure("\(skipped.path): \(skipped.reason)", .tryLater) }
    }

    /// The names of the note's tags: the tag to which the token is restricted, or the tag into which that tag was merged. Empty if
    /// the token is not restricted.
    private func tags(_ tag: UniqueID?, _ scope: ScopeID, _ store: any Store) async throws -> [String] {
        guard let tag else { return [] }
        return try await store.read { snapshot in
            guard let target = try Resolver(snapshot: snapshot, scope: scope).live(tag),
                case .entity(.tag(let entity), _)? = try snapshot.state(of: target, in: scope)
            else { throw Failure("The tag to which the access token is restricted was deleted.", .noPermission) }
            return [entity.name]
        }
    }

    private static func readMessage() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try FileHandle.standardInput.read(upToCount: 1 << 20), !part.isEmpty {
            bytes += part
            // If the message is too large, the rest of it is not read. MailMessage then throws an error.
            if bytes.count > MailMessage.maximumBytes { break }
        }
        return bytes
    }
}
