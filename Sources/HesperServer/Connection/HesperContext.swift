import Hummingbird
import NIOCore

/// What Hummingbird hands over with each request. All that Hesper knows of one is in its ``Call``.
struct HesperContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
