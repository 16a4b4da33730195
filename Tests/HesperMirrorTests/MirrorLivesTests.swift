import Foundation
import HesperClient
import HesperClientTesting
import Testing

@testable import HesperMirror

/// Random lives of two folders and a web client, edited as editors and tools do it. At the end both folders are equal, every word
/// that nobody removed is in a note, and none is there twice; the same applies to pictures. `HESPER_TEST_SEED` repeats the actions of
/// one life, though not the moments at which the devices sync by themselves.
struct MirrorLivesTests {
    private static let environment = ProcessInfo.processInfo.environment

    static var seeds: [UInt64] {
        if let seed = environment["HESPER_TEST_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(1...(environment["HESPER_EVERYTHING"] == nil ? 3 : 200))
    }

    @Test(arguments: seeds) func nothingIsLostAndNothingIsDoubled(_ seed: UInt64) async throws {
        var life = try await MirrorLife(seed: seed)
        for _ in 0..<120 { try await life.step() }
        try await life.end()
    }
}

/// One random life.
struct MirrorLife {
    private let world = MirrorWorld()
    private let seed: UInt64
    private var random: SeededGenerator
    private let machines: [Machine]
    private let web: LocalStore
    private var count = 0
    /// All words that were ever written, and those that somebody removed.
    private var words: Set<String> = []
    private var removed: Set<String> = []
    /// Former contents by machine and path, for a checkout.
    private var former: [[String: [String]]] = [[:], [:]]
    /// What an editor has shown since it opened a file.
    private var buffers: [[String: String]] = [[:], [:]]
    private var pictures = LifePictures()
    private var log: [String] = []
    private static let printsLog = ProcessInfo.processInfo.environment["HESPER_TEST_SEED"] != nil

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        machines = [try await world.machine(), try await world.machine()]
        web = try await world.device()
    }

    private mutating func note(_ text: String) {
        log.append(text)
        if MirrorLife.printsLog { print(text) }
    }

    private mutating func word() -> String {
        count += 1
        words.insert("w\(count)w")
        return "w\(count)w"
    }

    private static func words(_ text: String) -> Set<String> {
        Set(text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    /// Takes note that words may be gone.
    private mutating func remove(_ text: String, leaving rest: String = "") {
        removed.formUnion(MirrorLife.words(text).subtracting(MirrorLife.words(rest)))
    }

    mutating func step() async throws {
        let index = random.number(in: 0..<2)
        let machine = machines[index]
        let paths = machine.contents.keys.filter { NotePath.isNote(NotePath.name(of: $0)) }.sorted()
        let path = random.element(of: paths)
        let action = random.number(in: 0..<34)
        switch (action, path) {
        case (0...1, _):
            // Few files, so that both sides often change the same one.
            guard machine.contents.count - machine.pictures.count < 7 else { return }
            let path = random.element(of: ["", "a/", "b/c/"]).map { "\($0)New \(count).md" } ?? ""
            note("\(index) new \(path)")
            try machine.write(path, word() + "\n" + word() + "\n")
        case (2, let path?):
            note("\(index) append \(path)")
            buffers[index][path] = nil
            let handle = try FileHandle(forWritingTo: machine.url.appending(path: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data((word() + "\n").utf8))
            try handle.close()
        case (3...4, let path?): try save(index, path, edited(machine.read(path) ?? ""), "vim")
        case (5, let path?):
            // Emacs: the file becomes the backup, and a new one gets its name.
            note("\(index) emacs \(path)")
            buffers[index][path] = nil
            let text = edited(machine.read(path) ?? "")
            try? machine.remove(path + "~")
            try machine.move(path, path + "~")
            try machine.write(path, text)
        case (6, let path?):
            note("\(index) open \(path)")
            buffers[index][path] = machine.read(path)
            // Somebody else edits the note that the editor shows.
            await web.syncNow()
            if let note = try await web.all(Note.self, where: { $0.$path == path }).first {
                try await write(edited(note.text.string), to: note)
                await web.syncNow()
            }
        case (7...8, _):
            guard let (path, text) = random.element(of: buffers[index].sorted { $0.key < $1.key }),
                machine.read(path) != nil
            else { return }
            // What is on the disk came from the mirror, which has seen everything that the person saved.
            _ = try await machine.mirror.round()
            guard machine.read(path) != nil else { return }
            let new = text + word() + "\n"
            try save(index, path, new, "stale")
            buffers[index][path] = new
        case (9, let path?):
            let target = "\(random.element(of: ["", "a/", "d/"]) ?? "")Moved \(count).md"
            count += 1
            // A file that is saved by renaming and moved between two scans is a new one.
            _ = try await machine.mirror.round()
            guard machine.read(path) != nil else { return }
            note("\(index) mv \(path) \(target)")
            try machine.move(path, target)
            buffers[index][target] = buffers[index].removeValue(forKey: path)
            _ = try await machine.mirror.round()
        case (10, let path?):
            guard random.isTrue(withProbability: 0.5) else { return }
            note("\(index) rm \(path)")
            remove(machine.read(path) ?? "")
            pictures.noteIsDeleted(machine.mirror.entries.first { $0.value.path == path }?.key, path, on: machines)
            try machine.remove(path)
        case (11, let path?):
            guard let text = random.element(of: former[index][path] ?? []) else { return }
            // The words that are gone are those that the person saw.
            _ = try await machine.mirror.round()
            guard let current = machine.read(path) else { return }
            remove(current, leaving: text)
            try save(index, path, text, "checkout")
        case (12, let path?):
            // A line is removed.
            var lines = (machine.read(path) ?? "").split(separator: "\n")
            guard lines.count > 2 else { return }
            remove(String(lines.remove(at: random.number(in: 0..<lines.count))))
            try save(index, path, lines.joined(separator: "\n") + "\n", "cut")
        case (13, _), (24...25, _): try await editOnTheWeb()
        case (14, _):
            guard try await web.count(Note.self) < 6 else { return }
            note("web new")
            try await web.insert(Note(text: MergedText(word() + "\n" + word() + "\n")))
        case (15, _): await web.syncNow()
        case (16, _):
            note("\(index) restart")
            try await machine.restart()
        case (17, _):
            note("pass")
            world.pass(Double(random.number(in: 0..<400)))
        case (18...19, _):
            note("\(index) round")
            _ = try await machine.mirror.round()
        case (26...31, _):
            guard
                let change = try pictures.change(machine, path.map { ($0, machine.read($0) ?? "") }, &random, &count)
            else { return }
            note("\(index) \(change.what)")
            if let path, let text = change.text {
                removed.formUnion(MirrorLife.words(text).subtracting(MirrorLife.words(machine.read(path) ?? "")))
                try save(index, path, text, "link")
            }
        case (32, _):
            if let what = try await pictures.change(web, on: machines, &random, &count) { note("web \(what)") }
        default:
            note("\(index) sync")
            try await machine.sync()
            for (path, text) in machine.contents where former[index][path]?.last != text {
                former[index][path, default: []].append(text)
            }
        }
    }

    private mutating func edited(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.insert(word(), at: random.number(in: 0..<max(lines.count, 1)))
        return lines.joined(separator: "\n")
    }

    /// Saves as vim, `sed -i` and rsync do: a new file gets the name.
    private mutating func save(_ index: Int, _ path: String, _ text: String, _ what: String) throws {
        note("\(index) \(what) \(path): \(text.replacing("\n", with: " "))")
        buffers[index][path] = nil
        let machine = machines[index]
        try machine.write(path + ".tmp~", text)
        let target = machine.url.appending(path: path).path
        #expect(rename(target + ".tmp~", target) == 0)
    }

    private mutating func editOnTheWeb() async throws {
        guard let note = random.element(of: try await web.all(Note.self)) else { return }
        if random.isTrue(withProbability: 0.15) {
            self.note("web delete \(note.path ?? "-")")
            // The note may have changed since it was read, because the store syncs by itself.
            let deleted = try await web.write { tx in
                let deleted = try tx.get(note.id)
                try tx.delete(note.id)
                return deleted
            }
            guard let deleted else { return }
            remove(deleted.text.string)
            try await pictures.noteIsDeleted(deleted, on: machines, web)
            try await web.sendDeletionsNow()
        } else {
            self.note("web edit \(note.path ?? "-")")
            try await write(edited(note.text.string), to: note)
        }
    }

    /// Saves a text that was edited from a note's text. Changes that arrived since the note was read are merged with it.
    private mutating func write(_ text: String, to note: Note) async throws {
        var edited = note
        edited.text = MergedText(text)
        do {
            try await web.save(edited)
        } catch StoreError.notFound {
            // It was deleted since it was read.
            remove(text, leaving: note.text.string)
        }
    }

    mutating func end() async throws {
        note("end")
        for round in 0..<8 {
            for machine in machines {
                try await machine.sync(isConfirmed: round == 1 || round == 4)
                await web.syncNow()
            }
            world.pass(400)
        }
        let context = "seed \(seed)\n\(log.joined(separator: "\n"))\nend of the log"
        let notes = try await web.all(Note.self)
        for machine in machines {
            let texts = machine.contents.filter { NotePath.isNote(NotePath.name(of: $0.key)) }.values.sorted()
            let expected = notes.map(\.text.string).sorted()
            let report = try await machine.mirror.round()
            #expect(texts == expected, "\(report), \(machine.store.status), \(context)")
            #expect(try await machine.texts() == expected, "\(context)")
        }
        try await pictures.check(machines, web, context)
        let found = notes.flatMap { MirrorLife.words($0.text.string) }
        let lost = words.subtracting(found).subtracting(removed)
        #expect(lost.isEmpty, "lost \(lost.sorted()), \(context)")
        // If two machines edit a note that is deleted elsewhere, its words live on in a note of each (clients.md, rule 4).
        let doubled = Set(Dictionary(grouping: found) { $0 }.filter { $0.value.count > 1 }.keys).subtracting(removed)
            .sorted()
        #expect(doubled.isEmpty, "doubled \(doubled), \(context)")
    }
}
