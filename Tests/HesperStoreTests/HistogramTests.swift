import HesperModel
import HesperStore
import Testing

@Suite struct HistogramTests {
    @Test func valuesAreCountedByBounds() {
        var histogram = Histogram(bounds: [1, 2, 4])
        for value in [0, 1, 1.5, 2, 3, 4, 5, 100] as [Double] { histogram.record(value) }
        #expect(histogram.counts == [2, 2, 2, 2])
        #expect(histogram.count == 8)
        #expect(histogram.sum == 116.5)
    }

    @Test(arguments: [Histogram.seconds, Histogram.sizes]) func boundsAreAscending(_ bounds: [Double]) {
        #expect(bounds == Array(Set(bounds)).sorted())
        #expect(bounds.allSatisfy { $0 > 0 })
    }
}
