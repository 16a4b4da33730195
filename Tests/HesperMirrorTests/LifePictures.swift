import Foundation
import HesperClient
import HesperClientTesting
import Testing

@testable import HesperMirror

private typealias Attachment = HesperClient.Attachment

/// The pictures of a random life. Each has other bytes than all others: a name such as `p7p`. They are linked, replaced, removed, moved
/// and attached elsewhere. At the end both folders have the attachments of the notes as files, and no bytes are lost or doubled.
struct LifePictures {
    /// The contents of all pictures, and those that somebody removed or that belonged to a deleted note.
    private var written: Set<String> = []
    private var removed: Set<String> = []
    /// The contents of pictures that were moved. If two machines move a picture at the same time, both new paths exist.
    private var moved: Set<String> = []
    /// The notes of pictures, as far as they are known. A note that is deleted meanwhile takes them with it.
    private var hosts: [String: NoteID] = [:]

    private mutating func contents(_ count: inout Int) -> String {
        count += 1
        written.insert("p\(count)p")
        return "p\(count)p"
    }

    /// Changes a picture on a machine.
    /// - Parameter note: the path and the text of a note.
    /// - Returns: a description, and a new text for the note; nil if nothing was changed.
    mutating func change(
        _ machine: Machine, _ note: (path: String, text: String)?, _ random: inout SeededGenerator, _ count: inout Int
    ) throws -> (what: String, text: String?)? {
        let picture = random.element(of: machine.pictures.keys.sorted())
        switch (random.number(in: 0..<7), picture) {
        case (0...1, _):
            guard let note, machine.pictures.count < 6 else { return nil }
            let bytes = contents(&count)
            let name = "\(random.element(of: ["", "a/", "pics/"]) ?? "")x\(count)x.png"
            hosts[bytes] = machine.mirror.entries.first { $0.value.path == note.path }?.key
            try machine.write(name, bytes)
            return ("picture \(name) for \(note.path)", note.text + link(to: name, &random, &count))
        case (2, let picture?):
            guard let note else { return nil }
            return ("link to \(picture) in \(note.path)", note.text + link(to: picture, &random, &count))
        case (3, let picture?):
            removed.insert(machine.read(picture) ?? "")
            let bytes = contents(&count)
            hosts[bytes] = machine.mirror.attachments.entries.values.first { $0.path == picture }?.note
            try machine.write(picture, bytes)
            return ("replace \(picture) with \(bytes)", nil)
        case (4, let picture?):
            let target = "\(random.element(of: ["", "a/", "pics/"]) ?? "")y\(count)y.png"
            count += 1
            moved.insert(machine.read(picture) ?? "")
            try machine.move(picture, target)
            guard let note, note.text.contains(picture) else { return ("mv \(picture) \(target)", nil) }
            return ("mv \(picture) \(target) with its link", note.text.replacing(picture, with: target))
        case (5, let picture?):
            guard random.isTrue(withProbability: 0.5) else { return nil }
            removed.insert(machine.read(picture) ?? "")
            try machine.remove(picture)
            return ("rm \(picture)", nil)
        case (6, let picture?):
            guard let note, note.text.contains(picture) else { return nil }
            let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false)
            let rest = lines.filter { !$0.contains(picture) || !$0.contains("![") || $0.contains(/w[0-9]+w/) }
            return ("unlink \(picture) in \(note.path)", rest.joined(separator: "\n"))
        default: return nil
        }
    }

    /// A link that no other text has, because a stale editor is recognized by words that it lacks.
    private func link(to path: String, _ random: inout SeededGenerator, _ count: inout Int) -> String {
        count += 1
        return random.isTrue(withProbability: 0.5) ? "\n![q\(count)q](<\(path)>)\n" : "\n![[\(path)|q\(count)q]]\n"
    }

    /// Attaches a picture to a note in the web app, or removes one. Does nothing if another device deletes the note meanwhile.
    mutating func change(
        _ web: LocalStore, on machines: [Machine], _ random: inout SeededGenerator, _ count: inout Int
    ) async throws -> String? {
        let before = self
        do {
            return try await changeNote(web, on: machines, &random, &count)
        } catch StoreError.notFound {
            self = before
            return nil
        }
    }

    private mutating func changeNote(
        _ web: LocalStore, on machines: [Machine], _ random: inout SeededGenerator, _ count: inout Int
    ) async throws -> String? {
        guard let note = random.element(of: try await web.all(Note.self)) else { return nil }
        if random.isTrue(withProbability: 0.5), let id = random.element(of: Array(note.attachments).sorted()) {
            if let bytes = try await web.data(of: id) { removed.insert(String(decoding: bytes, as: UTF8.self)) }
            let attachment = try await web.get(id)
            try await web.update(note.id) { $0.attachments.remove(id) }
            // The bytes may not be here. Then it is known only what they were on the machines.
            for machine in machines {
                if let name = attachment?.filename, let bytes = machine.read(name) { removed.insert(bytes) }
            }
            return "detach \(attachment?.filename ?? "-")"
        }
        guard note.attachments.count < 3 else { return nil }
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let bytes = contents(&count)
        hosts[bytes] = note.id
        try Data(bytes.utf8).write(to: file)
        let name = "web\(random.number(in: 0..<3)).png"
        try await web.attach(file, to: note.id, filename: name)
        return "attach \(name) \(bytes)"
    }

    /// Takes note of the pictures of a note that is deleted: those that the machines have, and those to which its text links.
    /// - Parameter path: the path of the note's file on one of the machines.
    mutating func noteIsDeleted(_ id: NoteID?, _ path: String?, on machines: [Machine]) {
        for machine in machines {
            let entries = machine.mirror.attachments.entries.values
            let text = (path ?? id.flatMap { machine.mirror.entries[$0]?.path }).flatMap(machine.read) ?? ""
            for (picture, bytes) in machine.pictures
            where text.contains(picture) || entries.contains(where: { $0.path == picture && $0.note == id }) {
                removed.insert(bytes)
            }
        }
    }

    mutating func noteIsDeleted(_ note: Note, on machines: [Machine], _ web: LocalStore) async throws {
        noteIsDeleted(note.id, nil, on: machines)
        for id in note.attachments {
            if let bytes = try await web.data(of: id) { removed.insert(String(decoding: bytes, as: UTF8.self)) }
        }
    }

    func check(_ machines: [Machine], _ web: LocalStore, _ context: String) async throws {
        var attached: [AttachmentID: String] = [:]
        let notes = try await web.all(Note.self)
        for note in notes {
            for id in note.attachments {
                #expect(attached[id] == nil, "\(id) is in two notes, \(context)")
                attached[id] = try await web.data(of: id).map { String(decoding: $0, as: UTF8.self) }
                #expect(attached[id] != nil, "the bytes of \(id) are missing, \(context)")
            }
        }
        for machine in machines {
            let files = machine.mirror.attachments.entries.mapValues { machine.read($0.path) ?? "missing" }
            #expect(files == attached, "\(context)")
        }
        let counts = Dictionary(grouping: attached.values) { $0 }.filter { $0.value.count > 1 }
        let doubled = Set(counts.keys).subtracting(moved).sorted()
        #expect(doubled.isEmpty, "doubled \(doubled), \(context)")
        let found = Set(attached.values).union(machines.flatMap { $0.pictures.values })
        let gone = hosts.filter { host in !notes.contains { $0.id == host.value } }.keys
        let lost = written.subtracting(found).subtracting(removed).subtracting(gone).sorted()
        #expect(lost.isEmpty, "lost \(lost), \(context)")
    }
}

extension Machine {
    /// The contents of the pictures, by path.
    var pictures: [String: String] { contents.filter { $0.key.hasSuffix(".png") } }
}
