import Foundation
import HesperClient
import Testing

private struct Plain: SyncedObject {
    static let objectType = "plain"
    var id = ObjectID<Plain>()
    var title = ""
}

private struct Constant: SyncedObject {
    static let objectType = "constant"
    let id: ObjectID<Constant>
    @Merged var title = ""
    init() { id = ObjectID() }
    init(from decoder: any Decoder) throws { self.init() }
}

private struct Left: SyncedObject {
    static let objectType = "left"
    var id = ObjectID<Left>()
    @Merged var title = ""
    @Merged var other = ""
    enum CodingKeys: CodingKey { case id, title }
}

private struct Listing: MergedRecord { var names: [String] = [] }
private struct WithArray: SyncedObject {
    static let objectType = "withArray"
    var id = ObjectID<WithArray>()
    @Merged var listing = Listing()
}

private struct Section: MergedRecord { var method = MergedText() }
private struct TextInRecord: SyncedObject {
    static let objectType = "textInRecord"
    var id = ObjectID<TextInRecord>()
    @Merged var section = Section()
}

private struct Cover: MergedRecord { var photo: HesperClient.Attachment.ID? }
private struct FileInRecord: SyncedObject {
    static let objectType = "fileInRecord"
    var id = ObjectID<FileInRecord>()
    @Merged var cover = Cover()
}

private struct Filed: SyncedObject {
    static let objectType = "filed"
    var id = ObjectID<Filed>()
    @Merged var photo: HesperClient.Attachment.ID? = HesperClient.Attachment.ID()
}

private struct FiveTexts: SyncedObject {
    static let objectType = "fiveTexts"
    var id = ObjectID<FiveTexts>()
    @Merged var one = MergedText()
    @Merged var two = MergedText()
    @Merged var three = MergedText()
    @Merged var four = MergedText()
    @Merged var five = MergedText()
}

private struct SameName: SyncedObject {
    static let objectType = "sameName"
    var id = ObjectID<SameName>()
    @Merged var method = ""
    @Merged var steps = MergedText()

    struct CodingKeys: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
        static let id = CodingKeys(stringValue: "id")
        static let method = CodingKeys(stringValue: "method")
    }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(ObjectID<SameName>.self, forKey: .id)
        _method = try container.decode(Merged<String>.self, forKey: .method)
        _steps = try container.decode(Merged<MergedText>.self, forKey: .method)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(_method, forKey: .method)
        try container.encode(_steps, forKey: .method)
    }
}

private struct Named: SyncedObject {
    static let objectType = "not a name"
    var id = ObjectID<Named>()
}

private struct Foreign: SyncedObject {
    static let objectType = "note"
    var id = ObjectID<Foreign>()
}

private struct Long: SyncedObject {
    static let objectType = "long"
    var id = ObjectID<Long>()
    @Merged var aNameThatIsTooLongForASetOfTags = MergedSet<ObjectID<HesperClient.Tag>>()
}

private struct Umlaut: SyncedObject {
    static let objectType = "umlaut"
    var id = ObjectID<Umlaut>()
    @Merged var size = 1
    enum CodingKeys: String, CodingKey {
        case id
        case size = "größe"
    }
}

private struct Colliding: SyncedObject {
    static let objectType = "colliding"
    var id = ObjectID<Colliding>()
    @Merged var count = Counter()
    @Merged var other = 1
    enum CodingKeys: String, CodingKey {
        case id, count
        case other = "count.other"
    }
}

private struct Twin: SyncedObject {
    static let objectType = "recipe"
    var id = ObjectID<Twin>()
}

private enum Side: String, MergedScalar { case left, right }
private struct Sides: MergedRecord { var one = Side.left, other = Side.left }
private struct Sided: SyncedObject {
    static let objectType = "sided"
    var id = ObjectID<Sided>()
    @Merged var sides = Sides()
}

@Suite("Types: the check of declarations") struct TypesShapeTests {
    static let offences: [(any SyncedObject.Type, String)] = [
        (Plain.self, "Plain.title must be declared with @Merged."),
        (Constant.self, "Constant.id must be declared with var and must be in CodingKeys."),
        (Left.self, "Left.other must be in CodingKeys."),
        (WithArray.self, "WithArray.listing.names cannot be merged: Array<String>"),
        (TextInRecord.self, "TextInRecord.section.method must be a property of TextInRecord, not of a record"),
        (FileInRecord.self, "FileInRecord.cover.photo must be a property of FileInRecord, not of a record"),
        (Filed.self, "Filed.photo must be nil by default"),
        (FiveTexts.self, "FiveTexts must have at most 4 properties of type MergedText."),
        (SameName.self, "SameName.method must be unique: two properties have this name."),
        (Named.self, "Named.objectType must match"), (Foreign.self, "Foreign.objectType must not be \"note\""),
        (
            Long.self,
            "Long.aNameThatIsTooLongForASetOfTags must have a name that begins with a letter and has at most 27"
        ),
        (Umlaut.self, "Umlaut.größe must have a name"),
        (Colliding.self, "Colliding.count.other must not begin with the name of the set or counter count."),
        (Sided.self, "Sides.one must be a CaseIterable enum"),
    ]

    @Test(arguments: offences.indices) func offencesAreNamed(_ index: Int) {
        let (type, message) = TypesShapeTests.offences[index]
        let error = #expect(throws: StoreError.self) { try checkDeclarations([Recipe.self, type]) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test func objectTypesAreUnique() {
        let error = #expect(throws: StoreError.self) { try checkDeclarations([Recipe.self, Twin.self]) }
        #expect(error?.description == "Twin.objectType must be unique: Recipe is \"recipe\" too.")
    }

    @Test func whatIsDeclaredWellIsAccepted() throws {
        try checkDeclarations([
            Recipe.self, Recipe.self, HesperClient.Note.self, HesperClient.Tag.self, HesperClient.Attachment.self,
        ])
    }

    @Test func setsHaveAtMost240MembersEver() throws {
        let names = (0..<240).map { "attributes.tags.\($0)" }
        try Shape<Recipe>.shared.checkLimits(names)
        #expect(throws: StoreError.tooManyMembers(set: "Recipe.tags", limit: 240)) {
            try Shape<Recipe>.shared.checkLimits(names + ["attributes.tags.240"])
        }
    }

    @Test func anIDIsWrittenInLowerCase() throws {
        let text = "77C1F2E0-4D3B-4A8E-9B1A-0C5D6E7F8091"
        let id = try #require(ObjectID<Recipe>(text))
        #expect(id.description == text.lowercased())
        #expect(id.uuid == UUID(uuidString: text))
        #expect(ObjectID<Recipe>(id.uuid) == id)
        #expect(ObjectID<Recipe>("soup") == nil)
        #expect(try JSONDecoder().decode([ObjectID<Recipe>].self, from: JSONEncoder().encode([id])) == [id])
    }
}
