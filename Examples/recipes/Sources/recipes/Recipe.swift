import HesperClient

struct Servings: MergedRecord { var count = 4, unit = "plates" }

struct Recipe: SyncedObject {
    static let objectType = "recipe"
    static let indexes = [Index(\Recipe.$title)]
    var id = ObjectID<Recipe>()
    @Merged var title = ""
    @Merged var servings = Servings()
    @Merged var steps: MergedText = ""
    @Merged var cooked = Counter()
}

extension Recipe: CustomStringConvertible {
    /// The line of a list.
    var description: String {
        "\(title) (\(servings.count) \(servings.unit))" + (cooked.value > 0 ? ", cooked: \(cooked)" : "")
    }
}
