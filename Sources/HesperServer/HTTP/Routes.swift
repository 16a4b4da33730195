import Foundation
import HTTPTypes
import HesperStore
import Hummingbird

/// All routes of the server. They determine the handler of each request, the responses to `HEAD` and `OPTIONS`, and which methods
/// get status 405. A test compares the routes with `openapi.yaml`.
///
///     var routes = Routes()
///     routes.get("/v1/notes/{uniqueID}", tokens: .readTagged, use: getNote)
///     routes.get("/v1/changes", ["since", "limit"], tokens: .read, use: listChanges)
///     routes.patch("/v1/account", cache: .never, use: update)   // not with an access token
struct Routes: Sendable {
    /// A path template and its routes, at most one per method.
    struct Path: Sendable {
        let template: String
        /// The segments of the template between slashes. Nil stands for a parameter.
        let segments: [Substring?]
        var routes: [Route] = []
        /// Additional headers of the response to `OPTIONS`.
        var options = HTTPFields()

        func route(_ method: HTTPRequest.Method) -> Route? {
            if let route = routes.first(where: { $0.method == method }) { return route }
            return method == .head ? routes.first { $0.method == .get } : nil
        }

        /// The methods of the path, as the value of the `Allow` header.
        var allowed: String {
            var methods = routes.map(\.method.rawValue)
            if let index = methods.firstIndex(of: "GET"), !methods.contains("HEAD") {
                methods.insert("HEAD", at: index + 1)
            }
            return (methods + ["OPTIONS"]).joined(separator: ", ")
        }
    }

    /// The paths without a parameter, by template.
    private var fixed: [String: Path] = [:]
    /// The paths with a parameter, by the number of their segments.
    private var templates: [Int: [Path]] = [:]

    /// The route for paths that match no other route. `exists` returns whether there is a page at a path at the moment, because
    /// pages may be added and removed while the server runs.
    private var pages: (path: Path, exists: @Sendable (String) -> Bool)?

    /// Counts requests that match no route.
    let unknown = RouteMeter(method: "", path: "")

    var meters: [RouteMeter] { all.map(\.meter) + [unknown] }

    var all: [Route] {
        (Array(fixed.values) + templates.values.joined()).flatMap(\.routes) + (pages?.path.routes ?? [])
    }

    /// Finds the path template that matches the path of a request.
    /// - Returns: the template with its routes, and the value of its parameter; nil if no template matches.
    func find(_ path: String) -> (path: Path, parameter: String)? {
        if let path = fixed[path] { return (path, "") }
        let segments = path.dropFirst().split(separator: "/", maxSplits: 15, omittingEmptySubsequences: false)
        for candidate in templates[segments.count] ?? [] {
            var parameter: Substring = ""
            let matches = zip(candidate.segments, segments).allSatisfy { expected, actual in
                if let expected { return expected == actual }
                parameter = actual
                return !actual.isEmpty
            }
            if matches { return (candidate, parameter.removingPercentEncoding ?? String(parameter)) }
        }
        if let pages, pages.exists(path) { return (pages.path, path) }
        return nil
    }

    /// Adds headers to the response to `OPTIONS` for a path with a parameter. The routes of the path must have been added before.
    mutating func addOptions(_ options: HTTPFields, at template: String) {
        for (count, paths) in templates {
            if let index = paths.firstIndex(where: { $0.template == template }) {
                templates[count]?[index].options = options
            }
        }
    }

    mutating func add(_ route: Route) {
        let segments: [Substring?] = route.path.dropFirst().split(separator: "/").map { $0.hasPrefix("{") ? nil : $0 }
        if segments.allSatisfy({ $0 != nil }) {
            fixed[route.path, default: Path(template: route.path, segments: segments)].routes.append(route)
        } else if let index = templates[segments.count]?.firstIndex(where: { $0.template == route.path }) {
            templates[segments.count]?[index].routes.append(route)
        } else {
            let path = Path(template: route.path, segments: segments, routes: [route])
            templates[segments.count, default: []].append(path)
        }
    }
}

/// A part of the API that adds its routes to ``Routes``.
protocol Resource: Sendable {
    func add(to routes: inout Routes)
}

// MARK: - Authenticated routes

extension Routes {
    typealias AuthenticatedHandler = @Sendable (APIRequest, Session) async throws -> Response

    mutating func on(
        _ method: HTTPRequest.Method, _ path: String, _ parameters: [String] = [],
        cache cachePolicy: Route.CachePolicy = .revalidated, tokens: Route.TokenRule? = nil,
        use handler: @escaping AuthenticatedHandler
    ) {
        add(
            Route(
                method: method, path: path, parameters: parameters, cachePolicy: cachePolicy, isInContract: true,
                tokens: tokens, handler: .authenticated(handler)))
    }

    mutating func get(
        _ path: String, _ parameters: [String] = [], cache cachePolicy: Route.CachePolicy = .revalidated,
        tokens: Route.TokenRule? = nil, use handler: @escaping AuthenticatedHandler
    ) {
        on(.get, path, parameters, cache: cachePolicy, tokens: tokens, use: handler)
    }

    mutating func post(
        _ path: String, _ parameters: [String] = [], cache cachePolicy: Route.CachePolicy = .revalidated,
        tokens: Route.TokenRule? = nil, use handler: @escaping AuthenticatedHandler
    ) {
        on(.post, path, parameters, cache: cachePolicy, tokens: tokens, use: handler)
    }

    mutating func put(
        _ path: String, cache cachePolicy: Route.CachePolicy = .revalidated, tokens: Route.TokenRule? = nil,
        use handler: @escaping AuthenticatedHandler
    ) {
        on(.put, path, cache: cachePolicy, tokens: tokens, use: handler)
    }

    mutating func patch(
        _ path: String, cache cachePolicy: Route.CachePolicy = .revalidated, tokens: Route.TokenRule? = nil,
        use handler: @escaping AuthenticatedHandler
    ) {
        on(.patch, path, cache: cachePolicy, tokens: tokens, use: handler)
    }

    mutating func delete(
        _ path: String, cache cachePolicy: Route.CachePolicy = .revalidated, tokens: Route.TokenRule? = nil,
        use handler: @escaping AuthenticatedHandler
    ) {
        on(.delete, path, cache: cachePolicy, tokens: tokens, use: handler)
    }
}

// MARK: - Open routes

extension Routes {
    mutating func open(
        _ method: HTTPRequest.Method, _ path: String, _ parameters: [String] = [], cache cachePolicy: Route.CachePolicy,
        isInContract: Bool = true, use handler: @escaping @Sendable (APIRequest) async throws -> Response
    ) {
        add(
            Route(
                method: method, path: path, parameters: parameters, cachePolicy: cachePolicy,
                isInContract: isInContract,
                handler: .open(handler)))
    }

    /// Adds a route for all paths that match no other route and for which `exists` returns true. The handler gets the whole path as
    /// ``APIRequest/parameter``, without percent-decoding.
    mutating func pages(
        ifExists exists: @escaping @Sendable (String) -> Bool,
        use handler: @escaping @Sendable (APIRequest) async throws -> Response
    ) {
        let route = Route(
            method: .get, path: "/{page}", parameters: [], cachePolicy: .sameOrigin, isInContract: false,
            handler: .page(handler))
        pages = (Path(template: route.path, segments: [], routes: [route]), exists)
    }
}
