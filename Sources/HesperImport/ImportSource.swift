import Foundation
import HesperArchive
import HesperModel
import HesperMoveIn

/// A file or a folder that can be imported: an export of Hesper, or notes of another app.
///
///     let source = try await ImportSource("notes.zip", limits, MarkupProcess())
///     let report = try await source.run(into: target) { done, skipped in … }
public struct ImportSource: Sendable {
    private enum Kind {
        case export(ExportContents)
        case notes(MoveIn)
    }

    private let path: String
    private let kind: Kind
    private let limits: SourceLimits

    /// Opens a source, and detects its format.
    /// - Parameters:
    ///   - path: the path of a folder, an archive or a file.
    ///   - isLoose: whether the files in an archive do not belong together (``MoveIn``).
    ///   - runner: runs the parser of HTML and ENEX.
    /// - Throws: ``MoveInError``, ``ArchiveError`` or ``Problem`` if the source cannot be read.
    public init(
        _ path: String, _ limits: SourceLimits, isLoose: Bool = false, _ runner: any MarkupRunner
    ) async throws {
        (self.path, self.limits) = (path, limits)
        if ZipReader.isZip(path) {
            try limits.check(path, .zip)
            if let contents = try await ExportContents(of: path) {
                kind = .export(contents)
                return
            }
        }
        kind = .notes(try await MoveIn(path, limits, isLoose: isLoose, runner))
    }

    /// The name of the source, for messages.
    public var name: String {
        switch kind {
        case .export: path
        case .notes(let source): source.name
        }
    }

    /// The total number of steps for which ``run(into:progress:)`` reports progress.
    public var count: Int {
        switch kind {
        case .export(let contents): contents.attachments.count + contents.objectCount
        case .notes(let source): source.reader.count
        }
    }

    /// The unit of the steps, for messages: `notes` or `objects`.
    public var unit: String {
        switch kind {
        case .export: "objects"
        case .notes: "notes"
        }
    }

    /// Imports the source.
    /// - Parameter progress: called with the number of steps since the previous call, and the files, notes and objects that were
    ///   skipped in these steps.
    public func run(
        into target: ImportTarget, progress: (_ done: Int, _ skipped: [ImportReport.Skipped]) async throws -> Void
    ) async throws -> ImportReport {
        switch kind {
        case .export(let contents):
            try await ArchiveImporter(path, contents, into: target).run(progress: progress)
        case .notes(let source): try await Importer(into: target).run(source.reader, progress: progress)
        }
    }

    /// Reads the source without importing it.
    /// - Parameter progress: called with the number of steps since the previous call.
    public func preview(progress: (_ done: Int) async throws -> Void) async throws -> ImportPreview {
        var preview = ImportPreview()
        switch kind {
        case .export(let contents):
            try await contents.forEachElement(of: path) { element in
                preview.add(element)
                try await progress(1)
            }
        case .notes(let source):
            var tags: Set<String> = []
            try await source.reader.read { entry in
                switch entry {
                case .note(let note):
                    preview.add(note)
                    tags.formUnion(note.tags.map(TagName.fold))
                    try await progress(1)
                case .skipped(let path, let reason):
                    preview.skipped.append(ImportReport.Skipped(path: path, reason: reason))
                    try await progress(1)
                case .trashed: preview.trashed += 1
                case .ignored(let count): preview.ignored += count
                }
            }
            preview.tags = tags.count
        }
        return preview
    }
}

/// The contents of a source, before it is imported.
public struct ImportPreview: Sendable, Equatable {
    public var notes = 0
    public var tags = 0
    /// The number of attachments that are pictures.
    public var pictures = 0
    /// The number of all other attachments.
    public var files = 0
    /// The number of app objects in an export of Hesper.
    public var objects = 0
    /// The notes, parts of notes and files that cannot be imported.
    public var skipped: [ImportReport.Skipped] = []
    /// The number of notes that were in the trash when they were exported. They are not imported.
    public var trashed = 0
    /// The number of files that are neither notes nor parts of notes.
    public var ignored = 0

    fileprivate mutating func add(_ note: SourceNote) {
        notes += 1
        for attachment in note.attachments {
            if attachment.isPicture { pictures += 1 } else { files += 1 }
        }
        skipped += note.losses.map {
            ImportReport.Skipped(path: "\(note.path), \($0.part)", reason: $0.reason)
        }
    }

    fileprivate mutating func add(_ element: Push.Element) {
        switch element {
        case .change(let change):
            switch change.section {
            case .notes: notes += 1
            case .tags: tags += 1
            case .objects: objects += 1
            case .attachments:
                let type = change.edits.first { $0.attribute == .mimeType }?.value
                if case .string(let name)? = type, name.hasPrefix("image/") { pictures += 1 } else { files += 1 }
            }
        case .deletion: break
        case .rejected(let receipt):
            guard let problem = receipt.problem else { return }
            let object = receipt.uniqueID.map { "\(receipt.objectType ?? "object") \($0)" } ?? receipt.pointer
            skipped.append(ImportReport.Skipped(path: object, reason: problem.detail))
        }
    }
}
