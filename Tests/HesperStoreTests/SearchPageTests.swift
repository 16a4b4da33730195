import HesperModel
import HesperStore
import Testing

/// When a page of a search is full, and where the next begins.
@Suite struct SearchPageTests {
    private func note(_ text: String = "x") -> Note? {
        var (entity, clocks) = (Section.notes.empty(.random()), ClockSource(node: .random()))
        entity.fold(Edit(.text, .string(text), at: clocks.tick(at: 1)))
        if case .note(let note) = entity { return note } else { return nil }
    }

    private func search(
        limit: Int = 10, reach: Int = 10, patience: Duration = .seconds(60)
    ) throws -> Search {
        Search(query: try SearchQuery(""), limit: limit, reach: reach, patience: patience)
    }

    /// Looks at notes at places from 1 on.
    /// - Returns: how many it took, the last of which ended it, or one more.
    private func look(_ page: inout SearchPage, at notes: [Note?]) -> Int {
        for (index, note) in notes.enumerated() where !page.examine(note, .past(index + 1)) { return index + 1 }
        return notes.count + 1
    }

    @Test func oneMoreThanFitsTellsThatThereAreMore() throws {
        var page = SearchPage(try search(limit: 2))
        // What is gone is no more.
        let looked = look(&page, at: [note(), note(), nil, note(), note()])
        #expect(looked == 4)
        #expect(page.found.map(\.position) == [.past(1), .past(2)])
        #expect(page.next == .past(2))
    }

    @Test func behindTheLastThereIsNone() throws {
        var page = SearchPage(try search(limit: 2))
        let looked = look(&page, at: [note(), note(), nil])
        #expect(looked == 4)
        #expect(page.found.count == 2)
        #expect(page.next == nil)
    }

    @Test func examinedNotesWithoutMatchCount() throws {
        var page = SearchPage(try search(reach: 3))
        let looked = look(&page, at: [nil, nil, nil, note()])
        #expect(looked == 3)
        #expect(page.found.isEmpty)
        #expect(page.next == .past(3))
    }

    @Test func whereTimeIsUpOneWasLookedAt() throws {
        var page = SearchPage(try search(patience: .zero))
        #expect(!page.hasExamined)
        let looked = look(&page, at: [note(), note()])
        #expect(looked == 1)
        #expect(page.hasExamined)
        #expect(page.found.count == 1)
        #expect(page.next == .past(1))
    }

    @Test func longNotesEndItEarly() throws {
        var page = SearchPage(try search())
        let long = note(String(repeating: "x", count: Limits.textBytes))
        let looked = look(&page, at: [long, long, long, long, note()])
        #expect(looked == 5)
        #expect(page.next == .past(4))
    }
}
