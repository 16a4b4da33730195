/// The properties of a type, to which predicates refer.
///
///     { $0.$title.contains("soup") && $0.$servings.count > 2 }
@dynamicMemberLookup
public struct Fields<Object: SyncedObject>: Sendable {
    package init() {}

    /// A property declared with ``Merged``.
    public subscript<Value: MergedValue>(dynamicMember path: KeyPath<Object, Merged<Value>>) -> Field<Object, Value> {
        Field(path)
    }

    /// The object's ID.
    public var id: Field<Object, ObjectID<Object>> { Field(.id) }
}

/// Refers to a property of a type, or to a property of one of its records, in predicates, orders and indexes.
@dynamicMemberLookup
public struct Field<Object: SyncedObject, Value>: Sendable {
    let column: Column

    init(_ column: Column) { self.column = column }

    init(_ path: KeyPath<Object, Merged<Value>>) where Value: MergedValue {
        self.init(Column(attribute: Shape<Object>.shared.probe[keyPath: path].name, in: Shape<Object>.shared))
    }

    /// A property of a record.
    public subscript<Leaf: MergedValue>(
        dynamicMember path: KeyPath<Value, Leaf>
    ) -> Field<Object, Leaf> where Value: MergedRecord {
        guard case .record(let name) = column, let leaf = RecordShape<Value>.shared.name(of: path) else {
            return Field<Object, Leaf>(.unknown)
        }
        return Field<Object, Leaf>(Column(attribute: "\(name).\(leaf)", in: Shape<Object>.shared))
    }
}
