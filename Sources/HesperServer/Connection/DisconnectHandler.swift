/// Runs a closure when the client disconnects before its response is complete. Sent through the channel to ``ConnectionGuard``,
/// the first handler that learns of it.
struct DisconnectHandler: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

extension APIRequest {
    func onDisconnect(_ handler: DisconnectHandler) { channel.triggerUserOutboundEvent(handler, promise: nil) }
}
