import Testing

@testable import HesperModel

/// merge.md, Cases: tag names are unique across devices.
@Suite("Cases: tags")
struct CaseTagTests {
    let start: World
    let (one, other): (UniqueID, UniqueID)

    /// Two devices with a note each.
    init() throws {
        var world = World()
        one = world.makeNote("A's")
        other = world.makeNote("B's")
        try world.settle()
        start = world
    }

    @Test("Case 13: A creates \"Paris\", B creates \"paris\": one tag, on both notes", arguments: [false, true])
    func case13(smallerIDOnB: Bool) throws {
        var world = start
        let ids = [world.id(), world.id()]
        let (a, b) = smallerIDOnB ? (ids[1], ids[0]) : (ids[0], ids[1])
        world[0].makeTag("Paris", a)
        world[0].addTag(a, to: one)
        world[1].makeTag("paris", b)
        world[1].addTag(b, to: other)
        for end in try world.everyOrder() {
            #expect(end[0].tags == [ids[0]])
            #expect(end[0].tags(of: one) == [ids[0]] && end[0].tags(of: other) == [ids[0]])
            #expect(end[0].deleted[ids[1]]?.mergedInto == ids[0])
            #expect(end[0].tagNames(of: one) == [smallerIDOnB ? "paris" : "Paris"])
        }
    }

    @Test("Case 14: A renames \"foo\" to \"Foo\", B tags a note with it: the note has \"Foo\"")
    func case14() throws {
        var world = start
        let foo = world.makeTag("foo")
        try world.settle()
        world[0].rename(foo, "Foo")
        world[1].addTag(foo, to: other)
        for end in try world.everyOrder() { #expect(end[1].tagNames(of: other) == ["Foo"]) }
    }

    @Test("Case 15: A renames \"car\" to \"auto\", B \"bike\" to \"Auto\": one tag, on the notes of both")
    func case15() throws {
        var world = start
        let car = world.makeTag("car")
        let bike = world.makeTag("bike")
        world[0].addTag(car, to: one)
        world[0].addTag(bike, to: other)
        try world.settle()
        world[0].rename(car, "auto")
        world[1].rename(bike, "Auto")
        for end in try world.everyOrder() {
            #expect(end[0].tags == [car])
            #expect(end[0].tagNames(of: one) == ["auto"] && end[0].tagNames(of: other) == ["auto"])
        }
    }

    @Test(
        "Case 28: A deletes tag \"Paris\" and creates \"Paris\" again in one push: the new tag exists",
        arguments: [false, true])
    func case28(newIDIsSmaller: Bool) throws {
        var world = start
        let ids = [world.id(), world.id()]
        let (old, new) = newIDIsSmaller ? (ids[1], ids[0]) : (ids[0], ids[1])
        world[0].makeTag("Paris", old)
        try world.settle()
        world[0].delete(old)
        world[0].makeTag("Paris", new)
        for end in try world.everyOrder() {
            #expect(end[1].tags == [new])
            #expect(end[1].deleted[old] != nil && end[1].deleted[old]?.mergedInto == nil)
        }
    }

    @Test("Two tags swap their names in one push: both exist")
    func swap() throws {
        var world = start
        let red = world.makeTag("red")
        let blue = world.makeTag("blue")
        try world.settle()
        world[0].rename(red, "blue")
        world[0].rename(blue, "red")
        for end in try world.everyOrder() {
            #expect(end[1].tag(red)?.name == "blue" && end[1].tag(blue)?.name == "red")
        }
    }

    @Test(
        "Case 30: A removed y from a note that also has x; x and y are merged: the greatest clock decides",
        arguments: [false, true])
    func case30(removedLast: Bool) throws {
        var world = start
        let x = world.makeTag("Paris")
        let y = world.makeTag("London")
        world[0].addTag(y, to: one)
        try world.settle()
        if removedLast {
            world[0].addTag(x, to: one)
            world[0].removeTag(y, from: one)
        } else {
            world[0].removeTag(y, from: one)
            world[0].addTag(x, to: one)
        }
        world[1].rename(y, "paris")
        for end in try world.everyOrder() {
            for device in end.indices { #expect(end[device].tags(of: one) == (removedLast ? [] : [x])) }
            #expect(end[0].note(one)?.tags[y]?.value == false, "no register is rewritten")
        }
    }

    @Test("Three tags of one name, created on three devices: one remains, and every note has it")
    func three() throws {
        var world = start
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        let ids = [world.id(), world.id(), world.id()]
        for (device, id) in zip([0, 1, third], ids.reversed()) {
            world[device].makeTag("Rome", id)
            world[device].addTag(id, to: one)
            world[device].addTag(id, to: other)
        }
        for end in try world.everyOrder() {
            #expect(end[0].tags == [ids[0]])
            #expect(end[0].tags(of: one) == [ids[0]] && end[0].tags(of: other) == [ids[0]])
        }
    }
}
