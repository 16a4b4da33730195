import Foundation
import HesperClient
import HesperModel

/// The output of `hesper sync --status`: the account, and the files and changes that are not synced.
struct MirrorStatus: Codable, Equatable, Sendable {
    struct Refused: Codable, Equatable, Sendable {
        /// The path of the file whose note or attachment was refused; nil if there is no such file.
        var path: String?
        var reason: String
    }

    struct Missing: Codable, Equatable, Sendable {
        var path: String
        /// The time of the first scan in which the file was missing; nil if no round has recorded it.
        var since: Date?
    }

    var folder: String
    /// The e-mail address of the account; nil if the folder has no account.
    var account: String?
    /// Whether the device must sign in again.
    var needsSignIn = false
    /// The number of files that are notes.
    var files: Int
    /// The number of files that are attachments.
    var attachments: Int
    /// The number of actions of each kind that a round would carry out now, by the description of the kind.
    var plan: [String: Int]
    /// The number of objects that are not sent to the server yet.
    var unsent: Int
    var refused: [Refused]
    var skipped: [SkippedFile]
    /// The missing files, of notes and of attachments.
    var missing: [Missing]
    /// The messages that ask the user to confirm changes.
    var questions: [String]

    init(_ mirror: Mirror) async throws {
        let (plan, attachmentPlan) = try await mirror.plan()
        let (entries, attachmentEntries) = (mirror.entries, mirror.attachments.entries)
        let store = mirror.store
        folder = mirror.folder.path
        account = try await store.account
        needsSignIn = store.status.needsSignIn
        files = entries.count
        attachments = attachmentEntries.count
        self.plan = plan.counts.merging(attachmentPlan.counts, uniquingKeysWith: +)
        unsent = store.status.toSend.objects
        refused = []
        for try await changes in store.shelf {
            refused = changes.map { change in
                let id = change.objectID.uuidString
                let path =
                    NoteID(id).flatMap { entries[$0]?.path } ?? AttachmentID(id).flatMap { attachmentEntries[$0]?.path }
                return Refused(path: path, reason: change.message)
            }
            break
        }
        skipped = plan.skipped + attachmentPlan.skipped
        missing = plan.missing.compactMap { id in
            entries[id].map { Missing(path: $0.path, since: $0.absence?.date) }
        }
        missing += attachmentPlan.missing.compactMap { id in
            attachmentEntries[id].map {
                Missing(path: $0.path, since: $0.absence?.date)
            }
        }
        questions = (plan.questions + attachmentPlan.questions).map(\.text)
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The status as lines of text.
    var lines: [String] {
        let count = counted(files, "note") + (attachments > 0 ? ", \(counted(attachments, "attachment"))" : "")
        var lines = ["\(folder): \(count)" + (account.map { ", account \($0)" } ?? "")]
        if needsSignIn { lines.append(SyncProblem.signInAgain(.expired).text) }
        lines += plan.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        if unsent > 0 { lines.append("Not sent to the server yet: \(unsent)") }
        lines += refused.map { "Refused by the server: \($0.path ?? "a note"): \($0.reason)" }
        lines += skipped.map { "Skipped \($0.path): \($0.reason.rawValue)" }
        lines += missing.map { "Missing: \($0.path)" }
        lines += questions
        if lines.count == 1 { lines.append("Everything is synced.") }
        return lines
    }
}
