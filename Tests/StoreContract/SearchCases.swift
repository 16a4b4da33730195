import HesperModel
import HesperStore

extension StoreContract {
    static let searchCases: [Case] = [
        Case("fills the index of terms in the order of changes, a batch at a time") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            try await other.push(other.note(.random(), "Milk", at: 1))
            let both = [desk.scope, other.scope].sorted()
            let ids = (0..<5).map { _ in UniqueID.random() }
            try await desk.push(ids.map { desk.note($0, "Milk", at: 1) } + [desk.tag(.random(), "Milk", at: 1)])
            try expect(try await desk.read { try $0.scopesToIndex(after: nil, limit: 9) }, is: both)
            try expect(try await desk.read { try $0.scopesToIndex(after: nil, limit: 1) }, is: [both[0]])
            try expect(try await desk.read { try $0.scopesToIndex(after: both[0], limit: 9) }, is: [both[1]])
            try expect(try await desk.found("milk"), is: [])
            var steps: [Int] = []
            var isDone = false
            while !isDone, steps.count < 10 {
                isDone = try await desk.store.write { try $0.indexTerms(of: desk.scope, limit: 2) }
                steps.append(try await desk.found("milk").count)
            }
            try expect(steps, is: [2, 4, 5])
            try expect(try await desk.read { try $0.indexedSequence(of: desk.scope) }, is: 6)
            try expect(try await desk.read { try $0.scopesToIndex(after: nil, limit: 9) }, is: [other.scope])
            try expect(try await desk.store.write { try $0.indexTerms(of: desk.scope, limit: 2) }, is: true)
        },
        Case("follows notes as they change and go") { (desk: Desk) in
            let (note, dead) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "Milk and bread", at: 1), desk.note(dead, "Milk", at: 2))
            try await desk.index()
            try expect(try await desk.found("milk"), is: [dead, note])
            try await desk.push(desk.set(note, .text, .string("Butter"), at: 3), desk.delete(dead))
            // The index is behind; what is gone is not found even so.
            try expect(try await desk.found("milk").contains(dead), is: false)
            try await desk.index()
            try expect(try await desk.found("milk"), is: [])
            try expect(try await desk.found("butter"), is: [note])
            try await desk.push(desk.set(note, .archived, .bool(true), at: 4))
            try await desk.index()
            try expect(try await desk.found("butter", archived: false), is: [])
            try expect(try await desk.found("butter", archived: true), is: [note])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("gives notes whole, as they are now") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.note(note, "Milk", at: 1, (.custom("pinned"), .bool(true))))
            try await desk.index()
            let search = Search(query: try SearchQuery("milk"), limit: 9)
            try expect(
                try await desk.read { try $0.search(search, in: desk.scope).found.map(\.note) },
                is: [try await desk.note(note)])
        },
        Case("lists newest first by sort date, in pages") { (desk: Desk) in
            let ids = (0..<7).map { _ in UniqueID.random() }
            try await desk.push(ids.enumerated().map { desk.note($1, "Milk", at: UInt64($0 + 1)) })
            try await desk.push(desk.set(ids[2], .sortDate, .date(Desk.date(1_000)), at: 50))
            try await desk.index()
            let order = [ids[2]] + [6, 5, 4, 3, 1, 0].map { ids[$0] }
            for text in ["milk", ""] {
                try expect(try await desk.found(text), is: order)
                let pages = [Array(order[0..<3]), Array(order[3..<6]), Array(order[6...])]
                try expect(try await desk.pages(text, limit: 3), is: pages)
                // A page that is full to the last is the last.
                try expect(try await desk.pages(text, limit: 7), is: [order])
                try expect(try await desk.found(text, limit: 0), is: [])
            }
        },
        Case("goes on behind a note, whatever comes before it meanwhile") { (desk: Desk) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            try await desk.push(ids.enumerated().map { desk.note($1, "Milk", at: UInt64($0 + 1)) })
            try await desk.index()
            for text in ["milk", ""] {
                let all = try await desk.found(text)
                let first = try await desk.page(text, limit: 2)
                try expect(first.found.map(\.note.uniqueID), is: Array(all[..<2]))
                try await desk.push(desk.note(.random(), "Milk", at: 100))
                try await desk.index()
                let second = try await desk.page(text, limit: 2, from: first.next)
                try expect(second.found.map(\.note.uniqueID), is: Array(all[2..<4]))
            }
        },
        Case("reads so many notes for a page and no more, and goes on where it stopped") { (desk: Desk) in
            let ids = (0..<7).map { _ in UniqueID.random() }
            try await desk.push(ids.enumerated().map { desk.note($1, "Milk", at: UInt64($0 + 1)) })
            try await desk.index()
            let order = Array(ids.reversed())
            for (text, sort) in [("milk", Search.Order.newest), ("", .newest), ("milk", .relevance)] {
                let pages = try await desk.pages(text, order: sort, limit: 100, reach: 3)
                try expect(pages.map(\.count), is: [3, 3, 1], "\(sort)")
                try expect(pages.flatMap(\.self), is: order, "\(sort)")
            }
        },
        Case("gives up a search that takes too long, and nothing else") { (desk: Desk) in
            let ids = (0..<800).map { _ in UniqueID.random() }
            // No two notes have a word in common, all begin alike: the most that a query of prefixes can cost.
            try await desk.store.write { transaction in
                let notes = ids.enumerated().map { index, id in
                    desk.note(id, (0..<32).map { "word\($0)x\(index)" }.joined(separator: " "), at: 1)
                }
                try desk.push(notes, in: transaction)
            }
            try await desk.index()
            let query = (0..<32).map { "word\($0)x" }.joined(separator: " ")
            do {
                let page = try await desk.page(query, order: .relevance, limit: 10, patience: .zero)
                throw Violation(description: "\(page.found.count) notes were found in no time")
            } catch is SearchTooCostly {}
            try expect(Set(try await desk.found(query)), is: Set(ids))
            try expect(try await desk.found(query, order: .relevance).count, is: ids.count)
            try await desk.push(desk.note(.random(), "Milk", at: 2))
        },
        Case("puts first what is most about the query, if it is asked to") { (desk: Desk) in
            let (much, little) = (UniqueID.random(), UniqueID.random())
            let filler = Array(repeating: "something else entirely", count: 30).joined(separator: " ")
            try await desk.push(
                desk.note(much, "milk milk milk", at: 1), desk.note(little, "\(filler) milk \(filler)", at: 9))
            for index in 0..<10 { try await desk.push(desk.note(.random(), "bread \(index)", at: 5)) }
            try await desk.index()
            try expect(try await desk.found("milk", order: .newest), is: [little, much])
            try expect(try await desk.found("milk", order: .relevance), is: [much, little])
        },
        Case("filters by tags, of merged ones by the greatest clock") { (desk: Desk) in
            let (x, y) = (UniqueID.random(), UniqueID.random())
            let (hasX, hasY, tookY, none) = (UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await desk.push(desk.tag(x, "x", at: 1), desk.tag(y, "y", at: 1))
            try await desk.push(
                desk.note(hasX, "Milk", at: 2, (.tag(x), .bool(true))),
                desk.note(hasY, "Milk", at: 3, (.tag(y), .bool(true))),
                desk.note(tookY, "Milk", at: 4, (.tag(x), .bool(true))), desk.note(none, "Milk", at: 5))
            try await desk.push(desk.set(tookY, .tag(y), .bool(false), at: 6))
            try await desk.index()
            for text in ["milk", ""] {
                try expect(try await desk.found(text, tags: [x]), is: [tookY, hasX])
                try expect(try await desk.found(text, tags: [y]), is: [hasY])
                try expect(try await desk.found(text, tags: [x, y]), is: [hasY, hasX])
                try expect(try await desk.pages(text, tags: [x, y], limit: 1), is: [[hasY], [hasX]])
                try expect(try await desk.found(text, tags: []), is: [])
                try expect(try await desk.found(text, tags: [.random()]), is: [])
            }
            try expect(try await desk.found("bread", tags: [x]), is: [])
        },
        Case("takes nothing in a query for anything but words") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.note(note, "NEAR and OR not text: 7 milk", at: 1))
            try await desk.index()
            for text in [
                "\"", "*", "milk*", "NEAR(milk)", "text:milk", "milk AND", "OR", "NOT milk", "^milk", "(milk", "-milk",
                "{text}:7",
                "'; DROP TABLE notes; --", "milk\u{0}", "\"milk\"\"", "1:milk", "\(desk.scope.rawValue):milk",
            ] {
                let expected = try SearchQuery(text).matches("NEAR and OR not text: 7 milk") ? [note] : []
                try expect(try await desk.found(text), is: expected, text)
            }
        },
        Case("finds exactly what the query says, in any script") { (desk: Desk) in
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SeededGenerator(seed: seed)
            var texts: [UniqueID: String] = [:]
            for _ in 0..<6 {
                // Some are new, some change.
                let batch = (0..<25).map { _ in
                    (
                        texts.keys.sorted().randomElement(using: &random).flatMap {
                            Bool.random(using: &random) ? $0 : nil
                        } ?? .random(),
                        Words.text(using: &random)
                    )
                }
                for (id, text) in batch {
                    let time = UInt64(texts.count + 1)
                    if texts[id] == nil {
                        try await desk.push(desk.note(id, text, at: time))
                    } else {
                        var later = try await desk.note(id).textClock.map { $0.milliseconds - Desk.begin } ?? 0
                        later += 1_000
                        try await desk.push(desk.set(id, .text, .string(text), at: later))
                    }
                    texts[id] = try await desk.note(id).text
                }
                try await desk.index()
                for _ in 0..<40 {
                    let text = Words.query(of: Array(texts.values), using: &random)
                    let query = try SearchQuery(text)
                    let wanted = Set(texts.filter { query.matches($0.value) }.keys)
                    try expect(Set(try await desk.found(text)), is: wanted, "seed \(seed): \(text.debugDescription)")
                }
            }
            try expect(try await desk.inconsistencies(), is: [], "seed \(seed)")
        },
    ]
}

extension Desk {
    /// Brings the index of terms up to the scope's sequence.
    func index() async throws {
        for _ in 0..<1_000 where try await store.write({ try $0.indexTerms(of: scope, limit: 100) }) { return }
        throw Violation(description: "the index of terms never comes to the scope's sequence")
    }

    func page(
        _ text: String, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Search.Order = .newest,
        limit: Int = 1_000, from start: SearchPosition? = nil, reach: Int = Limits.searchNotes,
        patience: Duration = .seconds(60)
    ) async throws -> SearchPage {
        let search = Search(
            query: try SearchQuery(text), tags: tags, archived: archived, order: order, start: start, limit: limit,
            reach: reach, patience: patience)
        return try await store.read { try $0.search(search, in: scope) }
    }

    /// All pages to the last.
    func pages(
        _ text: String, tags: [UniqueID]? = nil, order: Search.Order = .newest, limit: Int,
        reach: Int = Limits.searchNotes, patience: Duration = .seconds(60)
    ) async throws -> [[UniqueID]] {
        var (pages, start): ([[UniqueID]], SearchPosition?) = ([], nil)
        for _ in 0..<1_000 {
            let page = try await page(
                text, tags: tags, order: order, limit: limit, from: start, reach: reach, patience: patience)
            if !page.found.isEmpty { pages.append(page.found.map(\.note.uniqueID)) }
            guard let next = page.next else { return pages }
            start = next
        }
        throw Violation(description: "the pages of \(text) never end")
    }

    /// What the first page has.
    func found(
        _ text: String, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Search.Order = .newest,
        limit: Int = 1_000
    ) async throws -> [UniqueID] {
        try await page(text, tags: tags, archived: archived, order: order, limit: limit).found.map(\.note.uniqueID)
    }
}
