import ArgumentParser

/// Where people reach the server, for the links that are printed.
struct LinkOptions: SettingOptions {
    @Option(.url) var url: String?
}
