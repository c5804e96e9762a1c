import Glibc

/// A point or a line in an expression: `geography'POINT(-97 38)'`, `geometry'LINESTRING(0 0,3 4)'`.
public struct GeoLiteral: Sendable, Hashable {
    /// On the globe, or on a plane.
    public enum Space: String, Sendable, Hashable, CaseIterable {
        case geography, geometry
    }

    /// The coordinate system.
    public let space: Space
    /// The text in quotes as received, with its `SRID=…;` if it had one.
    public let text: String
    let shape: GeoShape

    /// Parses a well-known text; nil for any other text or shape.
    public init?(_ text: String, space: Space) {
        guard let shape = GeoShape(wellKnown: text) else { return nil }
        self.space = space
        self.text = text
        self.shape = shape
    }
}

struct GeoShape: Sendable, Hashable {
    /// A point's coordinates: east and north, in degrees on the globe.
    struct Point: Sendable, Hashable {
        let x: Double
        let y: Double
    }

    /// Whether the shape is a point rather than a line.
    let isPoint: Bool
    /// The points in order: one for a point, two or more for a line.
    let points: [Point]

    private init?(_ points: [Point], isPoint: Bool) {
        guard isPoint ? points.count == 1 : points.count > 1,
            points.allSatisfy({ $0.x.isFinite && $0.y.isFinite })
        else { return nil }
        self.isPoint = isPoint
        self.points = points
    }

    /// Parses `POINT(x y)` and `LINESTRING(x y,x y,…)`, with or without `SRID=4326;` before it.
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

    /// Parses a GeoJSON object, `{"type":"Point","coordinates":[x,y]}`, or a `LineString`.
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

    var geoJSON: String {
        let pairs = points.map { "[\($0.x),\($0.y)]" }
        return isPoint
            ? "{\"type\":\"Point\",\"coordinates\":\(pairs[0])}"
            : "{\"type\":\"LineString\",\"coordinates\":[\(pairs.joined(separator: ","))]}"
    }

    /// The distance between two points; nil if either shape is a line.
    func distance(to other: GeoShape, _ space: GeoLiteral.Space) -> Double? {
        isPoint && other.isPoint ? Self.distance(points[0], other.points[0], space) : nil
    }

    /// The distance in units of the plane, or the great-circle distance in kilometres on a sphere of
    /// ``Limits/earthRadiusKilometres``, as the Community Toolkit's server computes it.
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
