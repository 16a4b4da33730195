import HesperModel
import HesperStore
import Testing

/// The end of a page of a search, and the beginning of the next.
@Suite struct SearchPageTests {
    private func note(_ text: String = "x") -> Note? {
        var (entity, clocks) = (Section.notes.empty(.random()), ClockSource(node: .random()))
        entity.fold(Edit(.text, .string(text), at: clocks.tick(at: 1)))
        if case .note(let note) = entity { return note } else { return nil }
    }

    private func search(
        limit: Int = 10, noteLimit: Int = 10, timeout: Duration = .seconds(60)
    ) throws -> Search {
        Search(query: try SearchQuery(""), limit: limit, noteLimit: noteLimit, timeout: timeout)
    }

    /// Examines notes, which have positions from 1 on.
    /// - Returns: the number of the note that ended the page; one more than the number of notes if none did.
    private func examine(_ notes: [Note?], for page: inout SearchPage) -> Int {
        for (index, note) in notes.enumerated() where !page.examine(note, .past(index + 1)) { return index + 1 }
        return notes.count + 1
    }

    @Test func aMatchThatDoesNotFitBeginsTheNextPage() throws {
        var page = SearchPage(try search(limit: 2))
        // A note that no longer exists does not count.
        let count = examine([note(), note(), nil, note(), note()], for: &page)
        #expect(count == 4)
        #expect(page.found.map(\.position) == [.past(1), .past(2)])
        #expect(page.next == .past(2))
    }

    @Test func theLastPageHasNoNext() throws {
        var page = SearchPage(try search(limit: 2))
        let count = examine([note(), note(), nil], for: &page)
        #expect(count == 4)
        #expect(page.found.count == 2)
        #expect(page.next == nil)
    }

    @Test func examinedNotesWithoutMatchCount() throws {
        var page = SearchPage(try search(noteLimit: 3))
        let count = examine([nil, nil, nil, note()], for: &page)
        #expect(count == 3)
        #expect(page.found.isEmpty)
        #expect(page.next == .past(3))
    }

    @Test func oneNoteIsExaminedAfterTheTimeout() throws {
        var page = SearchPage(try search(timeout: .zero))
        #expect(!page.hasExamined)
        let count = examine([note(), note()], for: &page)
        #expect(count == 1)
        #expect(page.hasExamined)
        #expect(page.found.count == 1)
        #expect(page.next == .past(1))
    }

    @Test func longNotesEndThePageEarly() throws {
        var page = SearchPage(try search())
        let long = note(String(repeating: "x", count: Limits.textBytes))
        let count = examine([long, long, long, long, note()], for: &page)
        #expect(count == 5)
        #expect(page.next == .past(4))
    }
}
