internal import Crypto
internal import Foundation
internal import HesperModel

/// A set whose members are merged one by one: if two devices add different members, the set contains both.
///
/// The members are in the order in which they were added. A set may have at most 240 different members over its
/// lifetime (1,000 in a ``Note``), including those that were removed. For larger relations, declare a separate type.
///
/// Two sets are equal if they have the same members, in any order.
public struct MergedSet<Element: MergedElement>: MergedValue {
    private var ordered: [Element] = []
    private var members: Set<Element> = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set with the elements of a sequence.
    public init(_ elements: some Sequence<Element>) {
        for element in elements { insert(element) }
    }

    /// Adds an element. Returns false if the set contained it.
    @discardableResult
    public mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        ordered.append(element)
        return true
    }

    /// Removes an element. Returns false if the set did not contain it.
    @discardableResult
    public mutating func remove(_ element: Element) -> Bool {
        guard members.remove(element) != nil else { return false }
        ordered.removeAll { $0 == element }
        return true
    }

    /// Removes all elements.
    public mutating func removeAll() {
        self = MergedSet()
    }

    /// Whether the set contains an element.
    public func contains(_ element: Element) -> Bool { members.contains(element) }

    public static func == (left: Self, right: Self) -> Bool { left.members == right.members }
}

extension MergedSet: RandomAccessCollection {
    public var startIndex: Int { ordered.startIndex }
    public var endIndex: Int { ordered.endIndex }
    public subscript(position: Int) -> Element { ordered[position] }
}

extension MergedSet: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(members) }
}

extension MergedSet: ExpressibleByArrayLiteral {
    /// Creates a set with the given elements.
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension MergedSet: Codable {
    /// Reads a set from an array of its elements.
    public init(from decoder: any Decoder) throws {
        self = try Self.read(decoder) ?? MergedSet([Element](from: decoder))
    }

    /// Writes the set as an array of its elements.
    public func encode(to encoder: any Encoder) throws {
        if try !isWritten(encoder) { try ordered.encode(to: encoder) }
    }
}

// MARK: Registers

/// The register of a set's element.
struct ElementRegister {
    /// The last part of the register's name.
    let key: String
    /// The register's value while the element is in the set.
    let inside: Value
    /// The register's value after the element was removed.
    let outside: Value

    /// Creates the register of an element. The key of an ID or a number is its text. The key of any other element is the hash of
    /// its text, because the text may be too long for a name.
    init<Element: MergedElement>(_ element: Element) throws {
        switch try ScalarCoder.value(element) {
        case .string(let text) where element is any NamingElement:
            (key, inside, outside) = (text, .bool(true), .bool(false))
        case .string(let text):
            (key, inside, outside) = (ElementRegister.hash(text), .string(text), .null)
        case .integer(let number):
            (key, inside, outside) = (String(number), .bool(true), .bool(false))
        case .null, .bool, .number, .date:
            throw ScalarCoder.Refused()
        }
    }

    /// The element whose register has this key and value; nil if it was removed or cannot be read as this type.
    static func element<Element: MergedElement>(_ key: String, _ value: Value) -> Element? {
        switch value {
        case .string(let text):
            return hash(text) == key ? try? ScalarCoder.decode(Element.self, .string(text)) : nil
        case .bool(true):
            if Element.self is any NamingElement.Type { return try? ScalarCoder.decode(Element.self, .string(key)) }
            return Int64(key).flatMap { try? ScalarCoder.decode(Element.self, .integer($0)) }
        case .null, .bool, .integer, .number, .date:
            return nil
        }
    }

    private static func hash(_ text: String) -> String { Array(SHA256.hash(data: Array(text.utf8)).prefix(16)).hex }

    /// The maximum length of ``key`` for elements of a type.
    static func keyLength(_ element: any MergedElement.Type) -> Int {
        element is any NamingElement.Type ? 36 : 32
    }
}

/// An element whose text can be part of the name of a register.
protocol NamingElement: MergedElement {}
extension ObjectID: NamingElement {}
extension UUID: NamingElement {}

extension MergedSet: RegisterCoded {
    /// Whether the elements are IDs of tags or attachments. When such a set is read, IDs of deleted objects are left out, and IDs of
    /// merged tags are replaced.
    static var isResolved: Bool { Element.self == ObjectID<Tag>.self || Element.self == ObjectID<Attachment>.self }

    init(_ reader: ImageReader, _ name: String) throws {
        let prefix = name + "."
        var registers = reader.defaults.filter { $0.key.hasPrefix(prefix) }
        for (attribute, value) in reader.image.values where attribute.hasPrefix(prefix) {
            registers[attribute] = value
        }
        var found: [(clock: Clock, key: String, element: Element)] = []
        if MergedSet.isResolved {
            // A tag has several registers if other tags were merged into it. The register with the greatest clock determines
            // whether the tag is in the set (merge.md, Membership).
            var live: [UniqueID: (clock: Clock, isIn: Bool)] = [:]
            for (attribute, value) in registers {
                guard let member = UniqueID(String(attribute.dropFirst(prefix.count))), case .bool(let isIn) = value,
                    let target = try reader.resolve(member)
                else { continue }
                let register = (clock: reader.image.clocks[attribute] ?? .zero, isIn: isIn)
                if let standing = live[target],
                    (standing.clock, standing.isIn ? 1 : 0) >= (register.clock, register.isIn ? 1 : 0)
                {
                    continue
                }
                live[target] = register
            }
            for (target, register) in live where register.isIn {
                let key = target.description
                if let element: Element = ElementRegister.element(key, .bool(true)) {
                    found.append((register.clock, key, element))
                }
            }
        } else {
            for (attribute, value) in registers {
                let key = String(attribute.dropFirst(prefix.count))
                if let element: Element = ElementRegister.element(key, value) {
                    found.append((reader.image.clocks[attribute] ?? .zero, key, element))
                }
            }
        }
        self.init(found.sorted { ($0.clock, $0.key) < ($1.clock, $1.key) }.map(\.element))
    }

    func write(_ writer: ImageWriter, _ name: String) throws {
        writer.note(name, .set(keyLength: ElementRegister.keyLength(Element.self)), Self.self)
        for element in ordered {
            let register = try ElementRegister(element)
            writer.put("\(name).\(register.key)", .value(register.inside, removed: register.outside))
        }
    }
}
