internal import HesperClient
internal import HesperModel

/// The properties that an object of the app has in all versions of the app.
protocol RecipeProperties: SyncedObject {
    var title: String { get set }
    var servings: Servings { get set }
    var labels: MergedSet<String> { get set }
    var cooked: Counter { get set }
}

/// An object of the app on simulated devices. The app also has notes, tags and attachments.
struct Recipe: RecipeProperties {
    static let objectType = "recipe"
    var id = ObjectID<Recipe>()
    @Merged var title = ""
    @Merged var servings = Servings()
    @Merged var labels = MergedSet<String>()
    @Merged var cooked = Counter()
    @Merged var method = MergedText()
    @Merged var hints = MergedText()
    @Merged var photo: HesperClient.Attachment.ID?
    @Merged var scan: HesperClient.Attachment.ID?
}

/// A recipe in an earlier version of the app, in which recipes have no texts and no attachments.
struct EarlierRecipe: RecipeProperties {
    static let objectType = Recipe.objectType
    var id = ObjectID<EarlierRecipe>()
    @Merged var title = ""
    @Merged var servings = Servings()
    @Merged var labels = MergedSet<String>()
    @Merged var cooked = Counter()
}

struct Servings: MergedRecord {
    var count = 4
    var unit = "plates"
}

/// An object whose attributes may be nil.
struct Board: SyncedObject {
    static let objectType = "board"
    var id = ObjectID<Board>()
    @Merged var title: String?
    @Merged var notes = MergedSet<ObjectID<HesperClient.Note>>()
}

/// A text that people edit: the text of a note, or one of the texts of a recipe.
enum TextProperty: Sendable {
    case note, method, hints

    var type: String { self == .note ? TypeName.note : Recipe.objectType }
    var attribute: Attribute {
        switch self {
        case .note: .text
        case .method: .namedText("method")
        case .hints: .namedText("hints")
        }
    }
}

/// A property of a recipe that is an attachment.
enum FileProperty: Sendable, CaseIterable {
    case photo, scan

    var attribute: Attribute { .file(self == .photo ? "photo" : "scan") }
    var path: WritableKeyPath<Recipe, HesperClient.Attachment.ID?> { self == .photo ? \.photo : \.scan }
}

/// A note or a recipe with a text that somebody is editing. The changes are not saved yet.
enum Draft {
    case note(HesperClient.Note)
    case recipe(Recipe, TextProperty)

    var id: UniqueID {
        switch self {
        case .note(let note): note.id.uniqueID
        case .recipe(let recipe, _): recipe.id.uniqueID
        }
    }

    var property: TextProperty {
        switch self {
        case .note: .note
        case .recipe(_, let property): property
        }
    }

    /// The text that is edited.
    var text: String {
        get {
            switch self {
            case .note(let note): note.text.string
            case .recipe(let recipe, let property): recipe[text: property]
            }
        }
        set {
            switch self {
            case .note(var note):
                note.text.string = newValue
                self = .note(note)
            case .recipe(var recipe, let property):
                recipe[text: property] = newValue
                self = .recipe(recipe, property)
            }
        }
    }

    /// Saves the draft, and returns it as it was stored.
    func save(_ transaction: WriteTransaction) throws -> Draft {
        switch self {
        case .note(let note): .note(try transaction.save(note))
        case .recipe(let recipe, let property): .recipe(try transaction.save(recipe), property)
        }
    }
}

extension Recipe {
    fileprivate subscript(text property: TextProperty) -> String {
        get { property == .method ? method.string : hints.string }
        set { if property == .method { method.string = newValue } else { hints.string = newValue } }
    }
}

extension Entity {
    /// The texts of a note or of an app's own object.
    var mergedTexts: [String] {
        switch self {
        case .note(let note): [note.text]
        case .object(let object):
            object.texts.registers.sorted { $0.key < $1.key }.compactMap { $0.value.value.json.string }
        case .tag, .attachment: []
        }
    }
}

extension LocalObject {
    /// The texts of the object as the app sees them.
    var mergedTexts: [String] {
        visible.sorted { $0.key < $1.key }.compactMap { attribute, cell in
            AttributeName.isText(attribute) ? cell.value.json.string : nil
        }
    }
}

extension RecordsTransaction {
    /// This transaction as a ``WriteTransaction`` for the types of the app on simulated devices.
    var app: WriteTransaction {
        forApp([
            HesperClient.Note.objectType, HesperClient.Tag.objectType, HesperClient.Attachment.objectType,
            Recipe.objectType, Board.objectType,
        ])
    }
}
