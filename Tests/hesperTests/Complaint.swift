import Testing

@testable import hesper

/// A setting that is wrong, as it is told.
func complaint(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let failure as Failure {
        #expect(failure.kind == .settings)
        return failure.message
    } catch {
        return "another error: \(error)"
    }
}
