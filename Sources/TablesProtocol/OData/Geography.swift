import Glibc

/// A place or a line of an expression: `geography'POINT(-97 38)'`, `geometry'LINESTRING(0 0,3 4)'`.
public struct GeoLiteral: Sendable, Hashable {
    /// On the globe, or on a plane.
    public enum Space: String, Sendable, Hashable, CaseIterable {
        case geography, geometry
    }

    /// Where it lies.
    public let space: Space
    /// The text in quotes as it came, with its `SRID=…;` if it had one.
    public let text: String
    /// What it is.
    let shape: GeoShape

    /// Takes a well-known text; nil for any other, also for shapes that are neither a point nor a line.
    public init?(_ text: String, space: Space) {
        guard let shape = GeoShape(wellKnown: text) else { return nil }
        self.space = space
        self.text = text
        self.shape = shape
    }
}

/// A point, or a line through several: what distances and lengths are measured of.
struct GeoShape: Sendable, Hashable {
    /// A point by its two coordinates: east and north, in degrees on the globe.
    struct Point: Sendable, Hashable {
        let x: Double
        let y: Double
    }

    /// Whether it is one point rather than a line.
    let isPoint: Bool
    /// The points in their order: one of a point, two or more of a line.
    let points: [Point]

    private init?(_ points: [Point], isPoint: Bool) {
        guard isPoint ? points.count == 1 : points.count > 1,
            points.allSatisfy({ $0.x.isFinite && $0.y.isFinite })
        else { return nil }
        self.isPoint = isPoint
        self.points = points
    }

    /// Reads `POINT(x y)` and `LINESTRING(x y,x y,…)`, with or without `SRID=4326;` before it.
    init?(wellKnown text: String) {
        var rest = text[...]
        if rest.lowercased().hasPrefix("srid=") {
            guard let end = rest.firstIndex(of: ";") else { return nil }
            rest = rest[end...].dropFirst()
        }
        guard let open = rest.firstIndex(of: "("), rest.last == ")" else { return nil }
        let name = rest[..<open].withoutOuterSpace.lowercased()
        guard ["point", "linestring"].contains(name) else { return nil }
        var points: [Point] = []
        for part in rest[open...].dropFirst().dropLast().split(
            separator: ",", omittingEmptySubsequences: false)
        {
            let numbers = part.split(separator: " ").map { Double($0) }
            guard numbers.count >= 2, let x = numbers[0], let y = numbers[1] else { return nil }
            points.append(Point(x: x, y: y))
        }
        self.init(points, isPoint: name == "point")
    }

    /// Reads an object of GeoJSON, `{"type":"Point","coordinates":[x,y]}`, or a line of such points.
    init?(geoJSON value: JSONValue) {
        guard let coordinates = value["coordinates"]?.array else { return nil }
        switch value["type"]?.string {
        case "Point": self.init([coordinates].compactMap(Self.point), isPoint: true)
        case "LineString":
            let points = coordinates.compactMap { $0.array.flatMap(Self.point) }
            guard points.count == coordinates.count else { return nil }
            self.init(points, isPoint: false)
        case _: return nil
        }
    }

    private static func point(_ coordinates: [JSONValue]) -> Point? {
        guard coordinates.count >= 2, case .number(let x) = coordinates[0],
            case .number(let y) = coordinates[1], let x = Double(x.text), let y = Double(y.text)
        else { return nil }
        return Point(x: x, y: y)
    }

    /// The shape as GeoJSON.
    var geoJSON: String {
        let pairs = points.map { "[\($0.x),\($0.y)]" }
        return isPoint
            ? "{\"type\":\"Point\",\"coordinates\":\(pairs[0])}"
            : "{\"type\":\"LineString\",\"coordinates\":[\(pairs.joined(separator: ","))]}"
    }

    /// The length of a line, nil of a point.
    func length(_ space: GeoLiteral.Space) -> Double? {
        if isPoint { return nil }
        return zip(points, points.dropFirst()).reduce(0) { $0 + Self.distance($1.0, $1.1, space) }
    }

    /// How far two points are from one another; nil where one is no point.
    func distance(to other: GeoShape, _ space: GeoLiteral.Space) -> Double? {
        isPoint && other.isPoint ? Self.distance(points[0], other.points[0], space) : nil
    }

    /// On a plane in its own unit; on the globe along the great circle, in kilometres on a sphere of
    /// ``Limits/earthRadiusKilometres``, as the Community Toolkit's server measures.
    private static func distance(_ a: Point, _ b: Point, _ space: GeoLiteral.Space) -> Double {
        switch space {
        case .geometry: return hypot(a.x - b.x, a.y - b.y)
        case .geography:
            let degree = Double.pi / 180
            let across = sin((b.y - a.y) * degree / 2)
            let along = sin((b.x - a.x) * degree / 2)
            let part =
                across * across + cos(a.y * degree) * cos(b.y * degree) * along * along
            return 2 * Limits.earthRadiusKilometres * asin(min(1, part.squareRoot()))
        }
    }
}
