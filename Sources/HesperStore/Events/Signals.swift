import HesperModel
import NIOCore

/// Carries hints between the servers that share a store. Nothing depends on any of them: whoever
/// missed one finds out by looking at the store.
public protocol Signals: Sendable {
    /// Sends to all other servers that listen now, in this order for each kind of signal. Never waits and never fails.
    func send(_ signals: [Signal])
    /// Hears what other servers send, until the task is cancelled. For one caller.
    func listen(_ hear: @Sendable (SignalEvent) -> Void) async
}

/// What one server tells all others.
public enum Signal: Sendable, Equatable {
    /// The scope has committed up to this sequence; whoever looks sees it.
    case moved(ScopeID, Int64)
    /// A device says something to the others of its scope: one line of JSON.
    case said(ScopeID, from: NodeID, ByteBuffer)
    /// Devices of a scope, or the scope itself, may be gone: the store knows.
    case check(ScopeID)
    /// These devices listen to the scope on the server that says so, and no others.
    case here(ScopeID, Set<NodeID>)
    /// One more listens, or does so no longer.
    case came(ScopeID, NodeID)
    case went(ScopeID, NodeID)
    /// Who listens elsewhere? All answer with what they have.
    case who
}

/// What a server hears from the others.
public enum SignalEvent: Sendable, Equatable {
    case signal(Signal, from: ServerID)
    /// It hears from now on; of what was sent before, some was missed, perhaps.
    case missed
    /// It hears nothing for now.
    case lost
    /// Something that no server of this version says; why, for a log.
    case unreadable(String)
}

/// One process that serves, as the others know it: 64 random bits.
public struct ServerID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public static func random() -> ServerID { ServerID(.random(in: .min ... .max)) }
}
