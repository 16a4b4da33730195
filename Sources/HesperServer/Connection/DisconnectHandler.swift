/// Runs a closure if the client disconnects before its response is complete. It is sent through the channel to
/// ``ConnectionGuard``, which is the first handler that notices the disconnection.
struct DisconnectHandler: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

extension APIRequest {
    func onDisconnect(_ handler: DisconnectHandler) { channel.triggerUserOutboundEvent(handler, promise: nil) }
}
