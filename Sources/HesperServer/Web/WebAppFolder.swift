import HesperModel
import Logging
import NIOConcurrencyHelpers

/// Keeps the files of the web app in memory. If a file on the disk changes, the new version is served without a restart.
final class WebAppFolder: Sendable {
    private let path: String
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    private struct State {
        var listing: WebAppListing
        var files: WebAppFiles
        var checked = ContinuousClock.now
    }

    /// The minimum time between two listings of the folder. A listing shows whether files have changed, and takes less than a
    /// millisecond.
    private static let pause = Duration.seconds(1)

    /// Reads all files of the folder.
    /// - Throws: an error if the folder cannot be read.
    init(_ path: String, logger: Logger) throws {
        self.path = path
        self.logger = logger
        let listing = try WebAppListing(of: path)
        state = NIOLockedValueBox(State(listing: listing, files: try WebAppFiles(listing, in: path)))
    }

    var files: WebAppFiles {
        state.withLockedValue { state in
            let now = ContinuousClock.now
            guard now - state.checked >= WebAppFolder.pause else { return state.files }
            state.checked = now
            do {
                let listing = try WebAppListing(of: path)
                guard listing != state.listing else { return state.files }
                state.files = try WebAppFiles(listing, in: path)
                state.listing = listing
                logger.info("Web app files changed; serving the new version")
            } catch {
                // Reading fails, for example, if a file was removed after it was listed. In that case, the files that were read
                // before are served until the next listing.
                logger.warning("\(path) cannot be read again: \(error)")
            }
            return state.files
        }
    }
}
