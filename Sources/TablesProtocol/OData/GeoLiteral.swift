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
