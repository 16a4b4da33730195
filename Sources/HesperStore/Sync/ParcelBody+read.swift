import HesperModel

extension ParcelBody {
    /// Parses the body of a row of the table `edits`.
    /// - Throws: ``StoreError/damaged(_:)`` if the body is invalid.
    public static func read(_ body: UnsafeRawBufferPointer) throws -> [Edit] {
        guard case .array(let elements) = try JSONReader.read(body) else { throw unreadable(nil) }
        return try elements.map { element in
            guard case .array(let parts) = element, (2...3).contains(parts.count), case .string(let name) = parts[0],
                let attribute = Attribute(name)
            else { throw unreadable(element) }
            let clock: Clock?
            switch parts[1] {
            case .null: clock = nil
            case .string(let text):
                guard let known = Clock(text) else { throw unreadable(element) }
                clock = known
            default: throw unreadable(element)
            }
            return Edit(attribute, try parts.count == 3 ? value(parts[2]) : nil, at: clock)
        }
    }

    private static func value(_ json: JSON) throws -> Value {
        if let scalar = Value(scalar: json) { return scalar }
        guard case .object(let object) = json, case .string(let text)? = object["date"], let date = Timestamp(text)
        else { throw unreadable(json) }
        return .date(date)
    }

    private static func unreadable(_ json: JSON?) -> StoreError {
        .damaged("a parcel of edits cannot be read: \(String(decoding: json?.bytes.prefix(200) ?? [], as: UTF8.self))")
    }
}
