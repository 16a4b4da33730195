/// What is to be done when the client goes while its answer is being written: sent down the channel to ``ConnectionGuard``,
/// which hears of it first.
struct Farewell: Sendable {
    let say: @Sendable () -> Void

    init(_ say: @escaping @Sendable () -> Void) { self.say = say }
}

extension Call {
    func send(_ farewell: Farewell) { channel.triggerUserOutboundEvent(farewell, promise: nil) }
}
