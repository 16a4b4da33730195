import Foundation
import HesperClient
import HesperModel

struct Servings: MergedRecord { var count = 4, unit = "plates" }

struct Recipe: SyncedObject {
    static let objectType = "recipe"
    static let indexes = [Index(\Recipe.$title), Index { $0.$servings.count }, Index(\Recipe.$due)]
    var id = ObjectID<Recipe>()
    @Merged var title = ""
    @Merged var servings = Servings()
    @Merged var tags = MergedSet<ObjectID<HesperClient.Tag>>()
    @Merged var labels: MergedSet<String> = []
    @Merged var cooked = Counter()
    @Merged var course = Course.main
    @Merged var isFavorite = false
    @Merged var due: Date?
    @Merged var rating: Double?
    @Merged var source: URL?
    @Merged var rank = Rank()

    enum CodingKeys: String, CodingKey {
        case id, title, servings, tags, labels, cooked, course
        case isFavorite = "favorite"
        case due, rating, source, rank
    }
}

enum Course: String, MergedScalar { case starter, main, dessert }

let node = NodeID(0x9f86_d081_884c_7d65)

/// Applies changes as the records do.
func applying(_ changes: [AttributeChange], to image: ObjectImage, node: NodeID = node) -> ObjectImage {
    var image = image
    for change in changes {
        switch change {
        case .set(let name, let value): image.values[name] = value
        case .add(let name, let delta):
            let part = "\(name).\(node)"
            guard case .integer(let count) = image.values[part] ?? .integer(0) else { continue }
            image.values[part] = .integer(count + Int64(delta))
        case .text(let name, _, let now): image.values[name] = .string(now)
        }
    }
    return image
}

/// The image of an object that was just inserted.
func image<Object: SyncedObject>(of object: Object) throws -> ObjectImage {
    let (fixed, changes) = try object.insertion()
    return applying(changes, to: ObjectImage(id: object.id.uniqueID, values: fixed))
}
