import Testing

@testable import HesperModel

/// Whatever the devices do and in whatever order they sync, all end with the same state (merge.md).
@Suite("Laws: histories of several devices")
struct HistoryLawTests {
    @Test("Digests of server and devices agree with a fold from scratch", arguments: 1...4)
    func histories(run: Int) throws {
        let seeds = SeededGenerator(for: "histories \(run)")
        var random = seeds
        var missing: Set<String> = [
            "unchanged", "applied", "merged", "deleted", "rejected", "superseded", "clock-ahead", "attachment-in-use",
        ]
        for _ in 0..<25 {
            let seed = UInt64.random(in: 0..<1_000_000_000, using: &random)
            missing.subtract(
                try HistoryLawTests.run(
                    SeededGenerator(seed: seed), "history with seed \(seed), run \(run) of \(seeds.seed)"))
        }
        #expect(missing.isEmpty, "run \(run) of \(seeds.seed) never produced these")
    }

    /// - Returns: the statuses, outcomes and problem slugs in the receipts.
    private static func run(_ seed: SeededGenerator, _ name: Comment) throws -> Set<String> {
        var history = RandomHistory(devices: 3, using: seed)
        var backup: MemoryBag?
        for step in 0..<120 {
            try history.step()
            if step == 40 { backup = history.world.server.bag }
            // Every third scope is restored from a backup.
            if step == 80, seed.seed % 3 == 0, let backup {
                history.world.server.restore(backup)
            }
            if step % 30 == 0 { history.world.server.bag.check(name) }
        }
        for index in history.world.indices { history.world[index].close() }
        try history.world.settle()
        history.world.expectEqual(name)
        let titles = history.world.indices.map { device in
            history.world[device].notes.sorted().map { note in
                [history.world[device].text(note) ?? ""] + history.world[device].tagNames(of: note)
                    + history.world[device].attachments(of: note).map(\.description)
            }
        }
        #expect(titles.allSatisfy { $0 == titles[0] }, name)
        return history.results
    }

    @Test("Two edits of one base merge into the same text in either order of arrival", arguments: 1...3)
    func twoEdits(run: Int) throws {
        var random = SeededGenerator(for: "two edits \(run)")
        for _ in 0..<150 {
            var editor = TextEditor(random: SeededGenerator(seed: random.next()))
            let base = editor.text(words: 30)
            var world = World()
            let note = world.makeNote(base)
            try world.settle()
            world[0].write(note, editor.edited(base))
            world[1].write(note, editor.edited(base))
            let ends = try world.everyOrder()
            let texts = ends.map { $0[0].text(note) }
            #expect(texts[0] == texts[1], "seed \(random.seed)")
            #expect(texts[0].map { Array($0.utf8) } == texts[1].map { Array($0.utf8) }, "seed \(random.seed)")
        }
    }

    @Test("Text written by one device is never lost and never duplicated, however many responses are lost")
    func oneDevice() throws {
        var random = SeededGenerator(for: "one device")
        for _ in 0..<100 {
            var world = World()
            let note = world.makeNote("")
            try world.settle()
            var text = ""
            for line in 0..<12 {
                text += "line \(line)\n"
                world[0].write(note, text)
                if Bool.random(using: &random) { try world.sync(0, responseIsLost: Bool.random(using: &random)) }
            }
            try world.settle()
            #expect(world[1].text(note) == text, "seed \(random.seed)")
        }
    }
}
