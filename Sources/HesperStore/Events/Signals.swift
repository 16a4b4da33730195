import HesperModel
import NIOCore

/// Sends hints between the servers that share a database. They are unreliable: a server that missed a signal finds the change
/// when it polls the database.
public protocol Signals: Sendable {
    /// Sends signals to all other servers that are listening. Signals of the same kind keep their order. It does not wait and
    /// does not fail.
    func send(_ signals: [Signal])
    /// Receives signals from other servers until the task is cancelled. Only one task may call it.
    func listen(_ receive: @Sendable (SignalEvent) -> Void) async
}

/// A message from one server to all others.
public enum Signal: Sendable, Equatable {
    /// The scope has committed up to this sequence number, which is visible to readers.
    case committed(ScopeID, Int64)
    /// A device sends a message to the other devices of its scope: one line of JSON.
    case message(ScopeID, from: NodeID, ByteBuffer)
    /// Devices of the scope were signed out or disabled, or the scope was deleted. Receivers read the database.
    case sessionsChanged(ScopeID)
    /// Exactly these devices listen to the scope on the sending server.
    case presence(ScopeID, Set<NodeID>)
    /// A device has begun to listen to the scope on the sending server.
    case joined(ScopeID, NodeID)
    /// A device no longer listens to the scope on the sending server.
    case left(ScopeID, NodeID)
    /// Requests ``presence(_:_:)`` for all scopes from all servers.
    case presenceRequest
}

/// An event in the reception of signals.
public enum SignalEvent: Sendable, Equatable {
    case signal(Signal, from: ServerID)
    /// Signals are received from now on. Earlier ones may have been missed.
    case connected
    /// No signals are received for now.
    case disconnected
    /// A message that no server of this version sends. The text is an excerpt for the log.
    case unreadable(String)
}

/// The ID of a server process: 64 random bits.
public struct ServerID: Hashable, Sendable {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public static func random() -> ServerID { ServerID(.random(in: .min ... .max)) }
}
