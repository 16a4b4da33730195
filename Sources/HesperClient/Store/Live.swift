public import Observation

/// The objects of a type, for a view. They are updated after each change in the store.
///
///     struct RecipeList: View {
///         @State var recipes: Live<Recipe>
///         var body: some View { List(recipes.values) { Text($0.title) } }
///     }
@MainActor @Observable
public final class Live<Object: SyncedObject> {
    /// The objects, as of the last change. Empty until the first values are read.
    public private(set) var values: [Object] = []
    /// Whether the first values have been read.
    public private(set) var isLoaded = false
    /// The error that ended the observation, if there is one.
    public private(set) var error: (any Error)?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Observes the objects of a type. See ``LocalStore/values(_:where:order:limit:)``.
    public init(
        _ store: LocalStore, where condition: ((Fields<Object>) -> Condition<Object>)? = nil,
        order: Order<Object>? = nil, limit: Int? = nil
    ) {
        let snapshots = store.values(Object.self, where: condition, order: order, limit: limit)
        task = Task { [weak self] in
            do {
                for try await values in snapshots {
                    guard let self else { return }
                    self.values = values
                    self.isLoaded = true
                }
            } catch {
                self?.error = error
            }
        }
    }

    deinit { task?.cancel() }
}
