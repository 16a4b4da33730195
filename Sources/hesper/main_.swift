import ArgumentParser
import Configuration
import HesperServer
@main struct Main { static func main() { print("hi") } }
