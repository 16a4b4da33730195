/// A closure that runs if the client disconnects before the complete response has been sent. To register the closure, this value
/// is sent through the channel to ``ConnectionGuard``, which is the first handler that notices a disconnection.
struct DisconnectHandler: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

extension APIRequest {
    func onDisconnect(_ handler: DisconnectHandler) { channel.triggerUserOutboundEvent(handler, promise: nil) }
}
