import HesperClient

/// A type with texts that merge and files.
struct Dish: SyncedObject {
    static let objectType = "dish"
    var id = ObjectID<Dish>()
    @Merged var title = ""
    @Merged var method: MergedText = ""
    @Merged var tips = MergedText()
    @Merged var photo: HesperClient.Attachment.ID? = nil
    @Merged var scan: HesperClient.Attachment.ID? = nil
}

/// ``Dish`` as an earlier version of the app declared it.
struct PlainDish: SyncedObject {
    static let objectType = "dish"
    var id = ObjectID<PlainDish>()
    @Merged var title = ""
}

/// ``Dish`` as another version of the app declares it.
struct OtherDish: SyncedObject {
    static let objectType = "dish"
    var id = ObjectID<OtherDish>()
    @Merged var story = MergedText()
    @Merged var shopping = MergedText()
    @Merged var wine = MergedText()
}
