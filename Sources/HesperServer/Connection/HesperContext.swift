import Hummingbird
import NIOCore

/// The context that Hummingbird passes with each request. All other data about a request is in ``APIRequest``.
struct HesperContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
