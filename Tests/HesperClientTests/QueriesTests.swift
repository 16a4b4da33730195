import Foundation
import GRDB
import HesperClient
import HesperModel
import Testing

@Suite("Queries") struct QueriesTests {
    let database: DatabaseQueue
    let tag = ObjectID<HesperClient.Tag>()

    init() throws {
        database = try DatabaseQueue()
        try database.write { database in
            TextFunction.install(in: database)
            try database.execute(
                sql: """
                    CREATE TABLE recipes (
                        row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, body TEXT NOT NULL, clocks TEXT NOT NULL)
                    """)
        }
        try add("Leek soup") {
            $0.servings.count = 2
            $0.labels = ["green", "it's"]
            $0.due = Date(timeIntervalSince1970: 100)
            $0.tags = [tag]
        }
        try add("Onion SOUP") {
            $0.cooked += 3
            $0.course = .starter
            $0.rating = 4
        }
        try add("Crème brûlée") {
            $0.course = .dessert
            $0.isFavorite = true
            $0.rating = 4.5
            $0.due = Date(timeIntervalSince1970: 200)
        }
        // An object of another version of the app, which has none of the properties.
        try add(id: ObjectID(), body: "{}")
    }

    private func add(_ title: String, _ edit: (inout Recipe) -> Void = { _ in }) throws {
        var recipe = Recipe(title: title)
        edit(&recipe)
        try add(id: recipe.id, body: body(image(of: recipe)))
    }

    private func add(id: ObjectID<Recipe>, body: String, clocks: String = "{}") throws {
        try database.write {
            try $0.execute(
                sql: "INSERT INTO recipes (id, body, clocks) VALUES (?, ?, ?)",
                arguments: [Data(id.uniqueID.bytes), body, clocks])
        }
    }

    private func body(_ image: ObjectImage) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in image.values.sorted(by: { $0.key < $1.key }) { writer.member(name, value.json) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func titles(
        order: Order<Recipe>? = .ascending(\.$title), context: QueryContext = QueryContext(),
        where condition: (Fields<Recipe>) -> Condition<Recipe>
    ) throws -> [String] {
        try database.read { database in
            let sql: SQL = """
                SELECT coalesce(body ->> '$."attributes.title"', '?') FROM recipes
                WHERE \(try Condition(condition).sql(context)) ORDER BY \(try Order.sql(order))
                """
            return try SQLRequest<String>(literal: sql).fetchAll(database)
        }
    }

    @Test func scalarsAreCompared() throws {
        #expect(try titles { $0.$title == "Leek soup" } == ["Leek soup"])
        #expect(try titles { $0.$title != "Leek soup" } == ["?", "Crème brûlée", "Onion SOUP"])
        #expect(try titles { $0.$title > "Leek soup" } == ["Onion SOUP"])
        #expect(try titles { $0.$title >= "Leek soup" && $0.$title <= "Onion SOUP" } == ["Leek soup", "Onion SOUP"])
        #expect(try titles { $0.$course == .starter } == ["Onion SOUP"])
        #expect(try titles { $0.$isFavorite == true } == ["Crème brûlée"])
        #expect(try titles { $0.$rating > 4 } == ["Crème brûlée"])
        #expect(try titles { $0.$rating == 4 } == ["Onion SOUP"])
        #expect(try titles { $0.$title == "'; DROP TABLE recipes; --" }.isEmpty)
    }

    @Test func absenceReadsAsTheDefault() throws {
        #expect(try titles { $0.$title == "" } == ["?"])
        #expect(try titles { $0.$servings.count == 4 } == ["?", "Crème brûlée", "Onion SOUP"])
        #expect(try titles { $0.$servings.count < 4 } == ["Leek soup"])
        #expect(try titles { $0.$servings.unit == "plates" }.count == 4)
        #expect(try titles { $0.$course == .main } == ["?", "Leek soup"])
        #expect(try titles { $0.$isFavorite == false } == ["?", "Leek soup", "Onion SOUP"])
        #expect(try titles { $0.$cooked == 0 } == ["?", "Crème brûlée", "Leek soup"])
    }

    @Test func optionalsAreComparedAndNegated() throws {
        let date = Date(timeIntervalSince1970: 150)
        #expect(try titles { $0.$due == nil } == ["?", "Onion SOUP"])
        #expect(try titles { $0.$due != nil } == ["Crème brûlée", "Leek soup"])
        #expect(try titles { $0.$due < date } == ["Leek soup"])
        #expect(try titles { !($0.$due < date) } == ["?", "Crème brûlée", "Onion SOUP"])
        #expect(try titles { $0.$due == Date(timeIntervalSince1970: 200) } == ["Crème brûlée"])
        #expect(try titles { $0.$rating != 4 } == ["?", "Crème brûlée", "Leek soup"])
        #expect(try titles { $0.$rating.isIn([4, nil]) } == ["?", "Leek soup", "Onion SOUP"])
    }

    @Test func textsContainTexts() throws {
        #expect(try titles { $0.$title.contains("soup") } == ["Leek soup", "Onion SOUP"])
        #expect(try titles { $0.$title.contains("creme BRU") } == ["Crème brûlée"])
        #expect(try titles { $0.$title.contains("soup") && $0.$servings.count > 2 } == ["Onion SOUP"])
        #expect(try titles { $0.$title.contains("") }.count == 4)
        #expect(try titles { $0.$title.contains("%") }.isEmpty)
    }

    @Test func conditionsAreCombined() throws {
        #expect(try titles { $0.$course.isIn([.starter, .dessert]) } == ["Crème brûlée", "Onion SOUP"])
        #expect(try titles { $0.$course.isIn([]) }.isEmpty)
        #expect(try titles { !($0.$title.contains("soup") || $0.$isFavorite == true) } == ["?"])
        #expect(try titles { $0.$cooked >= 3 } == ["Onion SOUP"])
        #expect(try titles { !($0.$cooked >= 3) && $0.$title != "" } == ["Crème brûlée", "Leek soup"])
    }

    @Test func setsContainElements() throws {
        #expect(try titles { $0.$tags.contains(tag) } == ["Leek soup"])
        #expect(try titles { !$0.$tags.contains(tag) } == ["?", "Crème brûlée", "Onion SOUP"])
        #expect(try titles { $0.$labels.contains("it's") } == ["Leek soup"])
        #expect(try titles { $0.$labels.contains("red") }.isEmpty)
    }

    @Test func setsOfTagsAreReadThroughMergedTags() throws {
        let (survivor, merged) = (ObjectID<HesperClient.Tag>(), ObjectID<HesperClient.Tag>())
        func add(_ title: String, _ registers: [(ObjectID<HesperClient.Tag>, Bool, Int)]) throws {
            let body = registers.map { "\"attributes.tags.\($0.0)\": \($0.1)" }
            let clocks = registers.map { "\"attributes.tags.\($0.0)\": \"2026-01-01T00:00:0\($0.2).000Z\"" }
            let title = "\"attributes.title\": \"\(title)\""
            try self.add(
                id: ObjectID(), body: "{\((body + [title]).joined(separator: ","))}",
                clocks: "{\(clocks.joined(separator: ","))}")
        }
        try add("by the merged one", [(merged, true, 1)])
        try add("removed later", [(merged, true, 1), (survivor, false, 2)])
        try add("added later", [(merged, true, 2), (survivor, false, 1)])
        try add("at the same time", [(merged, false, 2), (survivor, true, 2)])
        let context = QueryContext { id in
            id == survivor.uniqueID ? [survivor.uniqueID, merged.uniqueID] : id == merged.uniqueID ? [] : [id]
        }
        let expected = ["added later", "at the same time", "by the merged one"]
        #expect(try titles(context: context) { $0.$tags.contains(survivor) } == expected)
        #expect(try titles(context: context) { $0.$tags.contains(merged) }.isEmpty)
    }

    @Test func objectsAreFoundByID() throws {
        let recipe = Recipe(title: "Found")
        try add(id: recipe.id, body: body(image(of: recipe)))
        #expect(try titles { $0.id == recipe.id } == ["Found"])
        #expect(try titles { $0.id.isIn([recipe.id, ObjectID()]) } == ["Found"])
    }

    @Test func ordersHaveSeveralTerms() throws {
        #expect(
            try titles(order: .descending(\.$title)) { $0.$title != "" } == ["Onion SOUP", "Leek soup", "Crème brûlée"])
        #expect(
            try titles(order: [.descending { $0.$servings.count }, .ascending(\.$title)]) { $0.$title != "" }
                == ["Crème brûlée", "Onion SOUP", "Leek soup"])
        #expect(try titles(order: .ascending(\.$due)) { $0.$due != nil } == ["Leek soup", "Crème brûlée"])
        #expect(
            try titles(order: .descending(\.$cooked)) { $0.$title.contains("soup") } == ["Onion SOUP", "Leek soup"])
    }

    @Test func queriesThatCannotBeAnsweredThrow() {
        #expect(throws: StoreError.self) { try titles { $0.$rating == .infinity } }
        #expect(throws: StoreError.self) { try titles(order: .ascending(\.$labels)) { $0.$title == "" } }
    }

    @Test func declaredIndexesAreUsed() throws {
        try database.write { database in
            for index in Recipe.indexes { try database.execute(sql: index.sql(table: "recipes")) }
            for index in Recipe.indexes { try database.execute(sql: index.sql(table: "recipes")) }
        }
        let queries: [(Condition<Recipe>, Order<Recipe>?)] = [
            (Condition { $0.$title == "Soup" }, nil), (Condition { $0.$servings.count > 2 }, nil),
            (Condition { $0.$due == nil }, nil), (Condition { $0.$due < Date() && $0.$isFavorite == true }, nil),
            (Condition { $0.$title.isIn(["Soup", "Stew"]) }, nil),
        ]
        for (condition, order) in queries {
            let plan = try plan(condition, order)
            #expect(plan.contains("SEARCH recipes USING INDEX index.recipe."), "\(plan)")
        }
        for order in [Order<Recipe>.ascending(\.$title), .descending(\.$title), .ascending { $0.$servings.count }] {
            let plan = try plan(Condition { $0.$isFavorite == true }, order)
            #expect(plan.contains("SCAN recipes USING INDEX index.recipe.") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
    }

    private func plan(_ condition: Condition<Recipe>, _ order: Order<Recipe>?) throws -> String {
        try database.read { database in
            let ordering: SQL = order == nil ? "" : "ORDER BY \(try Order.sql(order))"
            let sql: SQL =
                "EXPLAIN QUERY PLAN SELECT body FROM recipes WHERE \(try condition.sql()) \(ordering) LIMIT 20"
            return try SQLRequest<Row>(literal: sql).fetchAll(database).map { $0["detail"] as String }
                .joined(separator: "; ")
        }
    }
}

extension Condition {
    init(_ body: (Fields<Object>) -> Condition) { self = body(Fields()) }
}
