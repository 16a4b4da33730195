import ArgumentParser

/// Where people reach the server, for the links that are printed.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Scheme, host and port under which people reach the server, for links (HESPER_URL; default: where it listens).",
            valueName: "URL"))
    var url: String?

    var flags: [Setting: [String]] { url.map { [.url: [$0]] } ?? [:] }
}
