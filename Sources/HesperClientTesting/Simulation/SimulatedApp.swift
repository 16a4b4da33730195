internal import HesperClient
internal import HesperModel

/// An object of the app on simulated devices. The app also has notes, tags and attachments.
struct Recipe: SyncedObject {
    static let objectType = "recipe"
    var id = ObjectID<Recipe>()
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

extension RecordsTransaction {
    /// This transaction as a ``WriteTransaction`` for the types of the app on simulated devices.
    var app: WriteTransaction {
        forApp([
            HesperClient.Note.objectType, HesperClient.Tag.objectType, HesperClient.Attachment.objectType,
            Recipe.objectType, Board.objectType,
        ])
    }
}
