internal import HesperModel

/// The description of a declared type: the names and kinds of its attributes, their defaults, and whether it can sync.
package struct Shape<Object: SyncedObject>: Sendable {
    /// An object whose properties contain the names of their attributes. With it, key paths are converted to names.
    let probe: Object
    let names: AttributeNames
    /// The values of a new object's registers. If an object lacks an attribute, the value in this dictionary is used.
    let defaults: [String: Value]
    private let properties: [ImageWriter.Property]
    /// The reason why the type cannot sync; nil if it can.
    package let problem: StoreError?

    /// The shape of the type. It is computed once.
    package static var shared: Shape {
        let key = ObjectIdentifier(Object.self)
        if let shape = shapes.withLock({ $0[key] }) as? Shape { return shape }
        let shape = Shape()
        shapes.withLock { $0[key] = shape }
        return shape
    }

    private init() {
        let sample = Object()
        names = AttributeNames(Object.objectType)
        do {
            try Shape.checkType()
            try Shape.checkProperties(sample)
            let writer = try ImageWriter(sample, isNew: true)
            try Shape.check(writer.properties, names, writer.values)
            let id = UniqueID(high: 0x4000, low: 0x8000_0000_0000_0001)
            let reader = ImageReader(ObjectImage(id: id, values: [:]), names, writer.values) { $0 }
            let probe = try Object(from: ImageDecoder(reader))
            try Shape.checkNames(probe, id)
            (self.probe, properties, defaults, problem) = (probe, writer.properties, writer.values, nil)
        } catch {
            let problem = error as? StoreError ?? .invalidType("\(Object.self) cannot be read: \(error).")
            (probe, properties, defaults, self.problem) = (sample, [], [:], problem)
        }
    }

    /// The defaults of the attributes of an object with this image. For a note, the default of `sortDate` is the creation date.
    func defaults(for image: ObjectImage) -> [String: Value] {
        guard names.isBuiltIn else { return defaults }
        var defaults = defaults
        for name in defaults.keys {
            guard case .field(let other)? = HesperModel.Field(rawValue: name)?.defaultValue else { continue }
            defaults[name] = image.values[other.rawValue]
        }
        return defaults
    }

    /// The kind of an attribute; nil if the type has no property with this attribute.
    func kind(of attribute: String) -> ImageWriter.Kind? { properties.first { $0.name == attribute }?.kind }

    /// The names of the attributes that a search looks through.
    var searchable: [String] {
        // The media type, the hash and the preview of an attachment are texts too, but are not useful to search.
        if Object.objectType == Attachment.objectType { return ["filename"] }
        if Object.objectType == Note.objectType { return [AttributeName.text] }
        return properties.filter { $0.type == String.self || $0.type == String?.self || $0.kind == .text }.map(\.name)
    }

    /// Whether the type has a set. If not, the clocks of its objects need not be read, because they only determine the order of a
    /// set's members.
    var hasSets: Bool {
        properties.contains { if case .set = $0.kind { true } else { false } }
    }

    /// Checks that an object does not have more attributes than the server accepts.
    /// - Parameter attributes: the names of all registers of the object, including the registers of removed members.
    package func checkLimits(_ attributes: some Collection<String>) throws {
        let limit = names.isBuiltIn ? Limits.members : 240
        for property in properties {
            guard case .set = property.kind else { continue }
            let prefix = property.name + "."
            if attributes.count(where: { $0.hasPrefix(prefix) }) > limit {
                throw StoreError.tooManyMembers(set: "\(Object.self).\(names.property(property.name))", limit: limit)
            }
        }
        let most = names.isBuiltIn ? Limits.attributes : Limits.objectAttributes
        for (section, limit) in [("attributes", most), ("texts", Limits.objectTexts), ("files", Limits.objectFiles)] {
            let prefix = section + "."
            if attributes.count(where: { $0.hasPrefix(prefix) }) > limit {
                throw StoreError.invalidValue(
                    "An object of the type \(Object.objectType) must have at most \(limit) \(section), including those "
                        + "of other versions of the app.")
            }
        }
    }

    // MARK: The check

    private static func checkType() throws {
        let isOurs = Object.self == Note.self || Object.self == Tag.self || Object.self == Attachment.self
        guard let type = ObjectType(Object.objectType) else {
            throw StoreError.invalidType(
                "\(Object.self).objectType must match [A-Za-z][A-Za-z0-9_.-]{0,63}, not \"\(Object.objectType)\".")
        }
        if !type.isAppDefined, !isOurs {
            throw StoreError.invalidType(
                "\(Object.self).objectType must not be \"\(type.name)\": the library has a type of that name.")
        }
    }

    /// Checks that every stored property except `id` is declared with ``Merged``.
    private static func checkProperties(_ sample: Object) throws {
        for (label, value) in Mirror(reflecting: sample).children where label != "id" && !(value is any AnyMerged) {
            throw StoreError.invalidType("\(Object.self).\(label ?? "?") must be declared with @Merged.")
        }
    }

    private static func check(
        _ properties: [ImageWriter.Property], _ names: AttributeNames, _ defaults: [String: Value]
    ) throws {
        var known: Set<String> = []
        for declared in properties {
            let property = "\(Object.self).\(names.property(declared.name))"
            let suffix: Int
            switch declared.kind {
            case .scalar, .record: suffix = 0
            case .set(let keyLength): suffix = 1 + keyLength
            case .counter: suffix = 17
            case .text, .file:
                suffix = 0
                // The properties of a record are attributes.
                guard !declared.name.hasPrefix("attributes.") else {
                    throw StoreError.invalidType(
                        "\(property) must be a property of \(Object.self), not of a record: \(declared.type) cannot be "
                            + "in a record.")
                }
                guard declared.kind == .text || defaults[declared.name] == .null else {
                    throw StoreError.invalidType("\(property) must be nil by default, because it holds an attachment.")
                }
            }
            let key = names.property(declared.name)
            guard Name.isValid(key), key.utf8.count + suffix <= Limits.nameLength else {
                throw StoreError.invalidType(
                    "\(property) must have a name that begins with a letter and has at most "
                        + "\(Limits.nameLength - suffix) letters, digits, \"_\", \".\" and \"-\". Set it in CodingKeys."
                )
            }
            guard known.insert(key).inserted else {
                throw StoreError.invalidType("\(property) must be unique: two properties have this name.")
            }
        }
        for declared in properties {
            switch declared.kind {
            case .scalar, .record, .text, .file: continue
            case .set, .counter: break
            }
            let key = names.property(declared.name)
            if let other = known.first(where: { $0.hasPrefix(key + ".") }) {
                throw StoreError.invalidType(
                    "\(Object.self).\(other) must not begin with the name of the set or counter \(key).")
            }
        }
        for declared in properties {
            if let record = declared.type as? any MergedRecord.Type, record.unnamedProperties.count > 1 {
                throw StoreError.invalidType(
                    "\(record).\(record.unnamedProperties[0]) must be a CaseIterable enum. A record can have "
                        + "only one enum that is not CaseIterable.")
            }
        }
        guard properties.count <= Limits.objectAttributes else {
            throw StoreError.invalidType("\(Object.self) must have at most \(Limits.objectAttributes) properties.")
        }
        for (kind, limit) in [(ImageWriter.Kind.text, Limits.objectTexts), (.file, Limits.objectFiles)] {
            if properties.count(where: { $0.kind == kind }) > limit {
                throw StoreError.invalidType(
                    "\(Object.self) must have at most \(limit) properties of type "
                        + "\(kind == .text ? "MergedText" : "Attachment.ID?").")
            }
        }
    }

    private static func checkNames(_ probe: Object, _ id: UniqueID) throws {
        guard probe.id.uniqueID == id else {
            throw StoreError.invalidType("\(Object.self).id must be declared with var and must be in CodingKeys.")
        }
        for (label, value) in Mirror(reflecting: probe).children {
            if let property = value as? any AnyMerged, property.name.isEmpty {
                throw StoreError.invalidType("\(Object.self).\(label?.dropFirst() ?? "?") must be in CodingKeys.")
            }
        }
    }
}

private let shapes = Locked<[ObjectIdentifier: any Sendable]>([:])

extension SyncedObject {
    /// Throws if the type cannot sync.
    package static func checkDeclaration() throws {
        if let problem = Shape<Self>.shared.problem { throw problem }
    }
}

/// Checks the types with which a store is opened.
package func checkDeclarations(_ types: [any SyncedObject.Type]) throws {
    var names: [String: any SyncedObject.Type] = [:]
    for type in types {
        try type.checkDeclaration()
        if let other = names.updateValue(type, forKey: type.objectType), other != type {
            throw StoreError.invalidType("\(type).objectType must be unique: \(other) is \"\(type.objectType)\" too.")
        }
    }
}
