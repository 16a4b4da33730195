import Testing

@testable import HesperModel

/// merge.md, Cases: an attachment belongs to at most one note, and never changes.
@Suite("Cases: attachments")
struct CaseAttachmentTests {
    let start: World
    let (one, other, picture): (UniqueID, UniqueID, UniqueID)
    static let bytes = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))

    init() throws {
        var world = World()
        one = world.makeNote("1")
        other = world.makeNote("2")
        picture = world.id()
        world.server.bag.data[picture] = CaseAttachmentTests.bytes
        world[0].make(.attachments, picture, CaseAttachmentTests.properties)
        try world.settle()
        start = world
    }

    static let properties = [
        Edit(.mimeType, .string("image/png"), at: nil), Edit(.width, .integer(4), at: nil),
        Edit(.height, .integer(3), at: nil),
        Edit(.filename, .string("a.png"), at: nil),
    ]

    func push(_ world: inout World, _ edits: [Edit]) throws -> Receipt {
        let push = Push([.change(Change(uniqueID: picture, section: .attachments, edits: edits))])
        return try world.server.bag.apply(push, server: world.server.node, at: world.now).receipts[0]
    }

    @Test("Case 21: pushing an attachment twice changes nothing; different bytes are rejected")
    func case21() throws {
        var world = start
        let digest = world.server.bag.digest
        #expect(try push(&world, CaseAttachmentTests.properties).status == .unchanged)
        let differs = try push(&world, [Edit(.sha256, .string(String(repeating: "cd", count: 32)), at: nil)])
        #expect(differs.status == .rejected)
        #expect(differs.fields["sha256"]?.problem?.slug == .immutable)
        #expect(world.server.bag.digest == digest)
        world.expectEqual()
    }

    @Test("An attachment without bytes is rejected; for a deleted one the receipt is deleted")
    func missingData() throws {
        var world = start
        let unknown = world.id()
        world[0].make(.attachments, unknown, CaseAttachmentTests.properties)
        try world.sync(0)
        #expect(world[0].receipts.map(\.problem?.slug) == [.attachmentDataMissing])
        world.server.bag.data[picture] = nil
        world[0].delete(picture)
        try world.sync(0)
        #expect(try push(&world, CaseAttachmentTests.properties).status == .deleted)
    }

    @Test("Case 23: A puts p on note 1, B on note 2: the later push gets attachment-in-use for that member only")
    func case23() throws {
        var world = start
        world[0].attach(picture, to: one)
        world[1].attach(picture, to: other)
        world[1].archive(other)
        for (order, holder) in [([0, 1], one), ([1, 0], other)] {
            var end = world
            try end.settle(order)
            #expect(end[0].attachments(of: one) == (holder == one ? [picture] : []))
            #expect(end[1].attachments(of: other) == (holder == other ? [picture] : []))
            #expect(end[0].note(other)?.archived == true)
            #expect((end[0].rejections + end[1].rejections).map(\.slug) == [.attachmentInUse])
        }
    }

    @Test("Case 29: A moves a picture from note 1 to note 2 in one push: it is on note 2")
    func case29() throws {
        var world = start
        world[0].attach(picture, to: one)
        try world.settle()
        world[0].attach(picture, to: one, false)
        world[0].attach(picture, to: other)
        for end in try world.everyOrder() {
            #expect(end[1].attachments(of: one) == [] && end[1].attachments(of: other) == [picture])
            #expect(end[0].rejections.isEmpty)
        }
    }

    @Test("A picture of a deleted note can be put on another note without a new upload")
    func undoneDeletion() throws {
        var world = start
        world[0].attach(picture, to: one)
        try world.settle()
        world[0].delete(one)
        world[0].attach(picture, to: other)
        for end in try world.everyOrder() { #expect(end[1].attachments(of: other) == [picture]) }
    }

    @Test("After a restore another note has the picture: the member that is given back is rejected and leaves the copy")
    func restored() throws {
        var world = start
        let backup = world.server.bag
        world[0].attach(picture, to: one)
        try world.sync(0)
        world.server.restore(backup)
        world[1].attach(picture, to: other)
        for (order, holder) in [([0, 1], one), ([1, 0], other)] {
            var end = world
            try end.settle(order)
            for device in end.indices {
                #expect(end[device].attachments(of: one) == (holder == one ? [picture] : []))
                #expect(end[device].attachments(of: other) == (holder == other ? [picture] : []))
            }
        }
    }

    @Test("Two notes claim one picture in one push: one of them gets it")
    func twice() throws {
        var world = start
        world[0].attach(picture, to: one)
        world[0].attach(picture, to: other)
        for end in try world.everyOrder() {
            #expect(end[1].attachments(of: one).count + end[1].attachments(of: other).count == 1)
            #expect(end[0].rejections.map(\.slug) == [.attachmentInUse])
        }
    }
}
