package io.streamjoin.watermark

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Watermarks.Unknown
import io.streamjoin.testing.RandomCases
import io.streamjoin.watermark.GroupedWatermark.Group

/** R1 with groups. Times are minutes after 12:00, and the clock is in minutes, too. */
class GroupedWatermarkSuite extends AnyFunSuite {

  private val nothing = GroupedWatermark(Unknown, Map.empty)

  private def marks(of: GroupedWatermark) = of.groups.map { case (name, g) => name -> g.watermark }

  test("the example of the class: a slow, a new and an idle group") {
    def next(before: GroupedWatermark, now: Long, arrived: (String, Long)*) =
      before.next(arrived.toMap, lag = 1, Some(10L), now)
    val one = next(nothing, 120, "p0" -> 10, "p1" -> 3)
    assert((one.column, marks(one)) == ((2L, Map("p0" -> 9L, "p1" -> 2L))))
    val two = next(one, 128, "p0" -> 40, "p2" -> -10)
    assert((two.column, marks(two)) == ((2L, Map("p0" -> 39L, "p1" -> 2L, "p2" -> 2L))))
    val three = next(two, 129, "p2" -> 30)
    assert((three.column, marks(three)) == ((2L, Map("p0" -> 39L, "p1" -> 2L, "p2" -> 29L))))
    val four = next(three, 130)
    assert((four.column, marks(four)) == ((29L, Map("p0" -> 39L, "p1" -> Unknown, "p2" -> 29L))))
    val five = next(four, 131, "p0" -> 41, "p2" -> 33)
    assert((five.column, marks(five)) == ((32L, Map("p0" -> 40L, "p2" -> 32L))))
  }

  test("a group that returns starts at the watermark of the column") {
    val stalled = GroupedWatermark(5, Map("a" -> Group(5, 0), "b" -> Group(50, 0)))
    val idle = stalled.next(Map("b" -> 60L), lag = 0, Some(10L), 10)
    assert((idle.column, marks(idle)) == ((60L, Map("b" -> 60L))))
    val back = idle.next(Map("a" -> 20L, "b" -> 70L), lag = 0, Some(10L), 11)
    assert((back.column, marks(back)) == ((60L, Map("a" -> 60L, "b" -> 70L))))
  }

  test("without a group that counts, the watermark of the column stays") {
    val all = GroupedWatermark(5, Map("a" -> Group(5, 0), "b" -> Group(50, 0)))
    val idle = all.next(Map.empty, lag = 0, Some(10L), 10)
    assert((idle.column, marks(idle)) == ((5L, Map("a" -> Unknown, "b" -> Unknown))))
    assert(nothing.next(Map.empty, lag = 0, None, 10) == nothing)
  }

  test("while the clock is back, no group becomes idle, and the watermark stays") {
    val all = GroupedWatermark(5, Map("a" -> Group(5, 100), "b" -> Group(50, 100)))
    val back = all.next(Map("b" -> 60L), lag = 0, Some(10L), 40)
    assert((back.column, marks(back)) == ((5L, Map("a" -> 5L, "b" -> 60L))))
    val still = back.next(Map("b" -> 61L), lag = 0, Some(10L), 109)
    assert((still.column, marks(still)) == ((5L, Map("a" -> 5L, "b" -> 61L))))
    assert(still.next(Map("b" -> 62L), lag = 0, Some(10L), 110).column == 62)
  }

  test("a group that the source lists holds the watermark back until it is idle") {
    def next(before: GroupedWatermark, now: Long, arrived: (String, Long)*) =
      before.next(arrived.toMap, lag = 0, Some(10L), now)
    val one = next(nothing, 0, "a" -> 30, "b" -> Unknown)
    assert(one.column == Unknown)
    val two = next(one, 9, "a" -> 40, "b" -> Unknown)
    assert(two.column == Unknown)
    val three = next(two, 10, "a" -> 50, "b" -> Unknown)
    assert(three.column == 50)
    // listed again, it is still idle
    val four = next(three, 11, "a" -> 60, "b" -> Unknown)
    assert(four.column == 60)
    assert(next(four, 12, "a" -> 61, "b" -> 55).column == 60)
  }

  test("the slowest groups are first, those of one watermark by name, without idle ones") {
    def group(watermark: Long, active: Long = 5) = Group(watermark, active)
    val all = Map("b" -> group(5), "d" -> group(9), "c" -> group(Unknown), "a" -> group(5))
    val grouped = GroupedWatermark(5, all + ("idle" -> group(1, active = 0)))
    assert(grouped.slowest(Some(10L), Some(10L)).map(_._1) == Seq("c", "a", "b", "d"))
    assert(grouped.slowest(Some(10L), None).map(_._1) == Seq("c", "idle", "a", "b", "d"))
    assert(grouped.slowest(None, Some(99L)).length == 5)
  }

  test("random groups, event by event: never below the rule, never decreasing, no batch matters") {
    RandomCases.forAll(300) { random =>
      val (lag, timeout) = (random.nextInt(4).toLong, Option.when(random.nextBoolean())(5L))
      var (grouped, now) = (nothing, 0L)
      // a model that keeps every row
      var rows = Map.empty[String, List[(Long, Long)]]
      for (_ <- 1 to 12) {
        now += random.nextInt(4)
        val batch = Seq.fill(random.nextInt(4))(
          random.nextInt(3).toString -> (now + random.nextInt(9) - random.nextInt(9))
        )
        val column = grouped.column
        val arrived = batch.groupMapReduce(_._1)(_._2)(math.max)
        grouped = grouped.next(arrived, lag, timeout, now)
        for ((group, latest) <- arrived) {
          // rows before a pause of the group do not count
          val before = rows.getOrElse(group, Nil)
          rows += group -> ((now, math.max(column, latest - lag)) :: before)
        }
        val active = rows.filter { case (_, all) => timeout.forall(now - all.head._1 < _) }
        rows = active
        val least = active.values.map(_.map(_._2).max).minOption
        assert(grouped.column == least.fold(column)(math.max(column, _)))
        assert(grouped.column >= column)
        val counting = grouped.groups.filterNot(_._2.isIdle(timeout, now))
        assert(counting.keySet == active.keySet)
      }
    }
  }
}
