import Hummingbird
import NIOCore

/// The context that Hummingbird passes with each request. Everything else is in ``APIRequest``.
struct HesperContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
