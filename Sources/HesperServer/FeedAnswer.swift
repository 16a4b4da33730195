import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// Writes pages as the routes of feeds answer them: bodies are copied, never parsed.
struct FeedAnswer {
    let backend: Backend

    /// A page with everything under `changes`: sync and changes.
    /// - Parameter results: JSON of the receipts of a push, if there was one.
    func changes(_ page: Page, results: [UInt8]? = nil) -> Response {
        answer(page) { buffer in
            if let results {
                buffer.writeStaticString("\"results\":")
                buffer.writeBytes(results)
                buffer.writeStaticString(",")
            }
            buffer.writeStaticString("\"changes\":{")
            for section in Section.allCases {
                list(section.name, page.sections[section.rawValue], to: &buffer)
                buffer.writeStaticString(",")
            }
            list("deletedObjects", page.deletedObjects, to: &buffer)
            buffer.writeStaticString("}")
            // The digest is of everything, so it is told where everything was asked for and has been sent.
            if !page.hasMore, page.token.isOfEverything {
                buffer.writeString(",\"digest\":\"\(page.head.digest)\"")
            }
        }
    }

    /// A page of one section, with the DeletedObjects that its reader needs; of DeletedObjects alone without a section.
    func section(_ section: Section?, _ page: Page, results: [UInt8]? = nil) -> Response {
        answer(page) { buffer in
            if let results {
                buffer.writeStaticString("\"results\":")
                buffer.writeBytes(results)
                buffer.writeStaticString(",")
            }
            if let section {
                list(section.name, page.sections[section.rawValue], to: &buffer)
                buffer.writeStaticString(",")
            }
            list("deletedObjects", page.deletedObjects, to: &buffer)
        }
    }

    private func list(_ name: String, _ elements: [UInt8], to buffer: inout ByteBuffer) {
        buffer.writeStaticString("\"")
        buffer.writeString(name)
        buffer.writeStaticString("\":[")
        buffer.writeBytes(elements)
        buffer.writeStaticString("]")
    }

    private func answer(_ page: Page, _ body: (inout ByteBuffer) -> Void) -> Response {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(page.amount.bytes + page.amount.objects + 1_024)
        buffer.writeStaticString("{")
        body(&buffer)
        buffer.writeString(",\"syncToken\":\"\(page.token.text)\",\"hasMore\":\(page.hasMore)")
        buffer.writeString(",\"remaining\":{\"objects\":\(page.remaining.objects),\"bytes\":\(page.remaining.bytes)}")
        if let clock = backend.serverClock { buffer.writeString(",\"serverClock\":\"\(clock)\"") }
        buffer.writeStaticString("}")
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: buffer))
    }
}

extension SyncToken {
    /// Whether it was given out for the feed of all kinds.
    var isOfEverything: Bool {
        selection == SyncToken(epoch: epoch, scope: scope, selection: .all, position: position).selection
    }
}

extension Call {
    /// A token among the parameters.
    func token(_ name: String = "since") throws(Problem) -> SyncToken? {
        guard let text = query[name] else { return nil }
        guard let token = SyncToken(text) else { throw Problem.invalidToken(at: name) }
        return token
    }

    /// The size of a page; larger ones are clamped.
    func limit() throws(Problem) -> Int {
        try query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
    }
}

extension Problem {
    static func invalidToken(at pointer: String) -> Problem {
        Problem(.invalidField, "A token is what an earlier answer gave as syncToken, unchanged.", at: pointer)
    }
}
