public import Foundation

/// A value that a property of a synced object may have: a ``MergedScalar`` or an optional one, a ``MergedRecord``, a
/// ``MergedSet``, a ``Counter``, or a ``MergedText``.
///
/// A property of type `Attachment.ID?` holds a file: see ``Attachment``.
public protocol MergedValue: Codable, Sendable, Equatable {}

/// A value that is merged as a whole: the later of two edits wins.
///
/// An enum with raw values can be a scalar: the app declares that the enum conforms to this protocol. A raw value that this
/// version of the app does not know is read as the default of the property. The stored value remains until the property is edited.
///
///     enum Course: String, MergedScalar { case starter, main, dessert }
public protocol MergedScalar: MergedValue {}

extension String: MergedScalar {}
extension Int: MergedScalar {}
extension Double: MergedScalar {}
extension Bool: MergedScalar {}
/// Dates are stored in milliseconds. The year must be between 1 and 9999. `Date.distantPast` is outside this range.
extension Date: MergedScalar {}
extension UUID: MergedScalar {}
extension URL: MergedScalar {}

extension Optional: MergedValue where Wrapped: MergedScalar {}

/// A struct whose stored properties are merged one by one.
///
/// The properties are scalars, optional scalars, other records, sets or counters.
///
///     struct Servings: MergedRecord { var count = 4, unit = "plates" }
public protocol MergedRecord: MergedValue {
    /// Creates a record with the default values.
    init()
}

/// An element of a ``MergedSet``.
///
/// An enum with raw values of type `String` or `Int` can be an element: the app declares that the enum conforms to this protocol.
public protocol MergedElement: Hashable, Codable, Sendable {}

extension String: MergedElement {}
extension Int: MergedElement {}
extension UUID: MergedElement {}
