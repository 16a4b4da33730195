import HesperClient

/// What a test tells the device to do. Each command is one call of the library, or a few.
enum Command: Decodable {
    /// Opens the local copy. `wall` is the offset of the device's wall clock in milliseconds. `isOld`: the app is an earlier version,
    /// in which a recipe has only a title.
    case open(wall: Int64?, isOld: Bool?)
    /// Closes it, as the end of the app's process does.
    case close
    case setWall(Int64)

    case signIn(server: String, email: String, password: String, deviceName: String)
    case resume
    case suspend
    /// Syncs until nothing is left, or sync must wait, at most for a time.
    case sync(seconds: Double)
    case status

    /// `creationDate` is in milliseconds since 1970.
    case makeNote(id: String?, text: String, tags: [String], isPinned: Bool?, creationDate: Int64?)
    case makeTag(id: String?, name: String)
    case makeContact(id: String?, name: String, mobile: String, work: String)
    /// Inserts contacts in transactions of 1,000.
    case makeContacts(count: Int)
    case makeRecipe(id: String?, title: String, method: String, tips: String)
    /// Edits a property. Members of sets are written as in the protocol: `tags.<ID>` with true or false.
    case edit(type: String, id: String, attribute: String, value: Scalar?)
    /// Replaces the text of a note, unless it is not `base` any more. The result is whether it was.
    case replaceText(note: String, base: String, text: String)
    /// Deletes an object, and sends the deletion at once unless `isHeld`.
    case delete(type: String, id: String, isHeld: Bool?)
    case attach(file: String, note: String, filename: String, mimeType: String)
    /// Adds a file to a recipe. The property is `photo` or `scan`.
    case attachToRecipe(file: String, recipe: String, property: String, filename: String, mimeType: String)
    case undo
    case redo

    case note(String)
    case notes
    case tags
    case contacts
    case recipes
    /// The texts that the method of a recipe has had, newest first.
    case formerMethods(String)
    case count(type: String)
    /// Downloads an attachment. The result is its bytes in Base64, or null.
    case download(String)
    case notices
    case shelf

    /// Writes what is unsent in the local copy to a file, without opening the copy.
    case saveUnsent(file: String)
}

/// A value of JSON that is neither an array nor an object.
enum Scalar: Codable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case string(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .string(let string): try container.encode(string)
        }
    }

    var bool: Bool { if case .bool(true) = self { true } else { false } }
    var integer: Int { if case .integer(let integer) = self { integer } else { 0 } }
    var string: String { if case .string(let string) = self { string } else { "" } }
}

/// A type of the app.
struct Contact: SyncedObject {
    static let objectType = "contact"

    var id = ObjectID<Contact>()
    @Merged var name = ""
    @Merged var mobile = ""
    @Merged var work = ""
    @Merged var calls = Counter()
    @Merged var groups = MergedSet<String>()
}

/// A type of the app with texts that merge and with files.
struct Recipe: SyncedObject {
    static let objectType = "recipe"

    var id = ObjectID<Recipe>()
    @Merged var title = ""
    @Merged var method: MergedText = ""
    @Merged var tips: MergedText = ""
    @Merged var photo: Attachment.ID?
    @Merged var scan: Attachment.ID?
}

/// ``Recipe`` in an earlier version of the app.
struct OldRecipe: SyncedObject {
    static let objectType = "recipe"

    var id = ObjectID<OldRecipe>()
    @Merged var title = ""
}
