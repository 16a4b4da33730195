import HesperModel
import Logging
import NIOConcurrencyHelpers

/// The folder of the web app. Its files are in memory; who changes one sees it at the next request, without a restart.
final class WebAppFolder: Sendable {
    private let path: String
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    private struct State {
        var listing: WebAppListing
        var files: WebAppFiles
        var looked = ContinuousClock.now
    }

    /// Between two looks at what is in the folder. A look takes less than a millisecond, so it is taken where it is needed.
    private static let pause = Duration.seconds(1)

    /// - Throws: why the folder cannot be read.
    init(_ path: String, logger: Logger) throws {
        self.path = path
        self.logger = logger
        let listing = try WebAppListing(of: path)
        state = NIOLockedValueBox(State(listing: listing, files: try WebAppFiles(listing, in: path)))
    }

    var files: WebAppFiles {
        state.withLockedValue { state in
            let now = ContinuousClock.now
            guard now - state.looked >= WebAppFolder.pause else { return state.files }
            state.looked = now
            do {
                let listing = try WebAppListing(of: path)
                guard listing != state.listing else { return state.files }
                state.files = try WebAppFiles(listing, in: path)
                state.listing = listing
                logger.info("The web app's files changed: they are served as they are now.")
            } catch {
                // A file that goes while it is being read comes with the next look; till then, what was read last.
                logger.warning("\(path) cannot be read again: \(error)")
            }
            return state.files
        }
    }
}
