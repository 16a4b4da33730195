import Crypto
import Foundation
import HesperClient
import HesperModel
import Testing

@Suite("Types: the coder") struct TypesCoderTests {
    @Test func insertWritesEveryLeafUnderItsName() throws {
        var recipe = Recipe(title: "Soup", rank: try rank("V1"))
        recipe.labels = ["green"]
        recipe.cooked += 2
        recipe.due = Date(timeIntervalSince1970: 1_000_000.5)
        let (fixed, changes) = try recipe.insertion()
        let green = "attributes.labels." + Array(SHA256.hash(data: Data("green".utf8)).prefix(16)).hex
        #expect(fixed.isEmpty)
        #expect(
            changes == [
                .set("attributes.title", .string("Soup")), .set("attributes.servings.count", .integer(4)),
                .set("attributes.servings.unit", .string("plates")), .set(green, .string("green")),
                .add("attributes.cooked", 2), .set("attributes.course", .string("main")),
                .set("attributes.favorite", .bool(false)),
                .set("attributes.due", .string("1970-01-12T13:46:40.500Z")), .set("attributes.rating", .null),
                .set("attributes.source", .null), .set("attributes.rank", .string("V1")),
            ])
    }

    @Test func anObjectIsReadAsItWasWritten() throws {
        let tag = ObjectID<HesperClient.Tag>()
        var recipe = Recipe(title: "Soupe à l’oignon")
        recipe.servings = Servings(count: 2, unit: "bowls")
        recipe.tags = [tag]
        recipe.labels = ["green", "hot 🌶"]
        recipe.cooked += 3
        recipe.course = .dessert
        recipe.isFavorite = true
        recipe.due = Date(timeIntervalSince1970: 1_790_000_000.123)
        recipe.rating = 4.5
        recipe.source = URL(string: "https://example.org/soup?x=1")
        let read = try Recipe(image: image(of: recipe))
        #expect(read == recipe)
        #expect(read.cooked.value == 3)
        #expect(try read.changes() == [])
    }

    @Test func onlyLeavesThatDifferFromWhatWasReadAreWritten() throws {
        var recipe = try Recipe(image: image(of: Recipe(title: "Soup")))
        recipe.servings.unit = "bowls"
        recipe.title = "Soup"
        #expect(try recipe.changes() == [.set("attributes.servings.unit", .string("bowls"))])
        recipe.cooked += 1
        recipe.cooked -= 3
        recipe.due = nil
        #expect(
            try recipe.changes() == [
                .set("attributes.servings.unit", .string("bowls")), .add("attributes.cooked", -2),
            ])
    }

    @Test func textsThatSwiftConsidersEqualAreDifferent() throws {
        var recipe = try Recipe(image: image(of: Recipe(title: "caf\u{e9}")))
        recipe.title = "cafe\u{301}"
        #expect(try recipe.changes() == [.set("attributes.title", .string("cafe\u{301}"))])
    }

    @Test func absentAttributesReadAsTheirDefaults() throws {
        let id = UniqueID.random()
        let recipe = try Recipe(image: ObjectImage(id: id, values: ["attributes.servings.count": .integer(6)]))
        #expect(recipe.id.uniqueID == id)
        #expect(recipe.title.isEmpty && recipe.servings == Servings(count: 6) && recipe.course == .main)
        #expect(try recipe.changes() == [])
    }

    @Test(arguments: [Value.string("flambé"), .integer(3), .null, .bool(true)])
    func valuesOfAnotherKindReadAsTheDefaultAndStay(_ value: Value) throws {
        var image = try image(of: Recipe(title: "Soup"))
        for name in ["attributes.course", "attributes.favorite.x", "attributes.due", "attributes.servings.count"] {
            image.values[name] = value
        }
        var recipe = try Recipe(image: image)
        #expect(recipe.course == .main)
        #expect(recipe.due == nil)
        recipe.title = "Leek soup"
        #expect(try recipe.changes() == [.set("attributes.title", .string("Leek soup"))])
        recipe.course = .dessert
        #expect(try recipe.changes().last == .set("attributes.course", .string("dessert")))
    }

    @Test func membersThatWereRemovedBecomeFalse() throws {
        let (a, b, c) = (ObjectID<HesperClient.Tag>(), ObjectID<HesperClient.Tag>(), ObjectID<HesperClient.Tag>())
        var recipe = Recipe()
        recipe.tags = [a, b]
        recipe.labels = ["green"]
        recipe = try Recipe(image: image(of: recipe))
        recipe.tags.remove(a)
        recipe.tags.insert(c)
        recipe.labels.removeAll()
        let changes = try recipe.changes()
        #expect(changes.contains(.set("attributes.tags.\(c)", .bool(true))))
        #expect(changes.contains(.set("attributes.tags.\(a)", .bool(false))))
        #expect(changes.count { if case .set(_, .null) = $0 { true } else { false } } == 1)
        #expect(changes.count == 3)
        let again = try Recipe(image: applying(changes, to: image(of: recipe)))
        #expect(Set(again.tags) == [b, c] && again.labels.isEmpty)
    }

    @Test func setsOfTagsAreReadThroughMergedTags() throws {
        let (merged, survivor, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        func read(_ values: [UniqueID: (Bool, UInt64)]) throws -> [UniqueID] {
            var image = ObjectImage(id: .random(), values: [:])
            for (id, (isIn, time)) in values {
                image.values["attributes.tags.\(id)"] = .bool(isIn)
                image.clocks["attributes.tags.\(id)"] = Clock(milliseconds: time, node: node)
            }
            let recipe = try Recipe(image: image) { $0 == deleted ? nil : $0 == merged ? survivor : $0 }
            return recipe.tags.map(\.uniqueID)
        }
        #expect(try read([merged: (true, 1), deleted: (true, 1)]) == [survivor])
        #expect(try read([merged: (true, 1), survivor: (false, 2)]).isEmpty)
        #expect(try read([merged: (true, 3), survivor: (false, 2)]) == [survivor])
        #expect(try read([merged: (false, 2), survivor: (true, 2)]) == [survivor])
        let (first, second) = (UniqueID.random(), UniqueID.random())
        #expect(try read([first: (true, 8), second: (true, 9), survivor: (true, 7)]) == [survivor, first, second])
    }

    @Test func countersAreSummedOverNodes() throws {
        var image = ObjectImage(id: .random(), values: [:])
        image.values["attributes.cooked.0000000000000001"] = .integer(2)
        image.values["attributes.cooked.00000000000000ff"] = .integer(-5)
        image.values["attributes.cooked.other"] = .integer(100)
        #expect(try Recipe(image: image).cooked.value == -3)
    }

    @Test func aNoteTravelsAsTheProtocolsNote() throws {
        let tag = ObjectID<HesperClient.Tag>()
        var note = HesperClient.Note(text: "Milk", creationDate: Date(timeIntervalSince1970: 5))
        #expect(try note.insertion().fixed == ["creationDate": .string("1970-01-01T00:00:05.000Z")])
        #expect(try note.insertion().changes == [.text("text", base: nil, now: "Milk")])
        note = try HesperClient.Note(image: image(of: note))
        #expect(note.sortDate == note.creationDate)
        note.text.string += " and eggs"
        note.isArchived = true
        note.isPinned = true
        note.tags.insert(tag)
        note.sortDate = Date(timeIntervalSince1970: 6)
        #expect(
            try note.changes() == [
                .text("text", base: "Milk", now: "Milk and eggs"),
                .set("sortDate", .string("1970-01-01T00:00:06.000Z")), .set("tags.\(tag)", .bool(true)),
                .set("archived", .bool(true)), .set("attributes.pinned", .bool(true)),
            ])
        let read = try HesperClient.Note(image: applying(note.changes(), to: image(of: note)))
        #expect(read == note)
    }

    @Test func theTagsNameIsAField() throws {
        #expect(try HesperClient.Tag(name: "kitchen").insertion().changes == [.set("name", .string("kitchen"))])
        #expect(throws: StoreError.self) { try HesperClient.Tag(name: " ").insertion() }
    }

    @Test func valuesOutOfRangeAreRefusedByName() throws {
        let cases: [(Recipe) -> Recipe] = [
            {
                var r = $0
                r.servings.count = 1 << 53
                return r
            },
            {
                var r = $0
                r.rating = .infinity
                return r
            },
            {
                var r = $0
                r.title = String(repeating: "x", count: 9_000)
                return r
            },
            {
                var r = $0
                r.due = Date(timeIntervalSince1970: 1e12)
                return r
            },
            {
                var r = $0
                r.title = "\0"
                return r
            },
        ]
        for (change, name) in zip(cases, ["servings.count", "rating", "title", "due", "title"]) {
            let error = #expect(throws: StoreError.self) { try change(Recipe()).insertion() }
            #expect(error?.description.contains(name) == true)
        }
    }

    @Test func ordinaryCodersWorkToo() throws {
        var recipe = Recipe(title: "Soup")
        recipe.labels = ["green"]
        recipe.cooked += 2
        let read = try JSONDecoder().decode(Recipe.self, from: JSONEncoder().encode(recipe))
        #expect(read == recipe)
        #expect(read.cooked.value == 2)
    }

    @Test func ranksAreBetweenTheirNeighbours() throws {
        var generator = Sequence(seed: 7)
        var ranks = [Rank()]
        for _ in 0..<2_000 {
            let index = Int.random(in: 0...ranks.count, using: &generator)
            let (lower, upper) = (index == 0 ? nil : ranks[index - 1], index == ranks.count ? nil : ranks[index])
            let rank = Rank(between: lower, and: upper, using: &generator)
            #expect(lower.map { $0 < rank } ?? true)
            #expect(upper.map { rank < $0 } ?? true)
            ranks.insert(rank, at: index)
        }
        #expect(ranks == ranks.sorted())
        let longest = ranks.map(\.description.utf8.count).max() ?? 0
        #expect(longest < 40)
        let same = Rank()
        #expect(Rank(between: same, and: same) > same)
    }

    private func rank(_ text: String) throws -> Rank {
        try JSONDecoder().decode([Rank].self, from: Data("[\"\(text)\"]".utf8))[0]
    }

    /// SplitMix64.
    private struct Sequence: RandomNumberGenerator {
        var seed: UInt64

        mutating func next() -> UInt64 {
            seed &+= 0x9e37_79b9_7f4a_7c15
            var z = seed
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
