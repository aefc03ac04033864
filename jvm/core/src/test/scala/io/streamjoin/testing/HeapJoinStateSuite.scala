package io.streamjoin.testing

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.Side
import io.streamjoin.model.Side.{Left, Right}

class HeapJoinStateSuite extends AnyFunSuite {

  private def empty = new HeapJoinState[String](identity)

  private def put(state: HeapJoinState[String], key: Long, time: Long, row: String): Unit =
    state.append(Left, key, time, Array(time), row, matched = false)

  private def found(
      state: HeapJoinState[String],
      key: Long,
      from: Long = Long.MinValue,
      to: Long = Long.MaxValue
  ): Seq[String] = state.probe(Left, key, from, to).map(_.row).toSeq

  test("a probe finds the rows of its key and inclusive time range in ascending time") {
    val state = empty
    for (time <- Seq(5L, 1L, 3L, 2L, 4L)) put(state, 7, time, s"row $time")
    put(state, 8, 3, "other key")
    assert(found(state, 7, 2, 4) == Seq("row 2", "row 3", "row 4"))
    assert(found(state, 7).length == 5)
    assert(found(state, 7, 6, 9).isEmpty)
    assert(found(state, 7, 4, 2).isEmpty)
    assert(found(state, 9).isEmpty)
    assert(state.probe(Right, 7, 0, 9).isEmpty)
  }

  test("a probe finds times at the limits of Long") {
    val state = empty
    put(state, 1, Long.MaxValue, "last")
    put(state, 1, Long.MinValue, "first")
    assert(found(state, 1) == Seq("first", "last"))
    assert(found(state, 1, Long.MaxValue) == Seq("last"))
    assert(found(state, 1, Long.MinValue, Long.MinValue) == Seq("first"))
  }

  test("append copies the row and the limits") {
    val state = new HeapJoinState[Array[Int]](_.clone())
    val (row, limits) = (Array(1), Array(10L))
    state.append(Left, 0, 0, limits, row, matched = false)
    row(0) = 2
    limits(0) = 99
    assert(state.all(Left).next().row.toSeq == Seq(1))
    assert(state.evict(Left, Array(0L), Array(11L)).length == 1)
  }

  test("an evicted row keeps its matched flag") {
    val state = empty
    put(state, 1, 1, "a")
    put(state, 1, 2, "b")
    val probe = state.probe(Left, 1, 2, 2)
    probe.foreach(_ => probe.setMatched())
    val evicted = state.evict(Left, Array(0L), Array(9L)).map(b => b.row -> b.matched).toMap
    assert(evicted == Map("a" -> false, "b" -> true))
  }

  test("a row is evicted when any of its limits is strictly below its watermark") {
    val state = empty
    def add(row: String, limits: Long*): Unit =
      state.append(Left, 0, 0, limits.toArray, row, matched = false)
    add("first", 4, 9)
    add("second", 9, 4)
    add("none", 5, 5)
    val evicted = state.evict(Left, Array(0L, 0L), Array(5L, 5L)).map(_.row).toSet
    assert(evicted == Set("first", "second"))
    assert(state.size(Left) == 1)
  }

  test("a probe continues after the removal of a row that it found") {
    val state = empty
    for (i <- 1 to 10) put(state, 1, i.toLong, s"$i")
    val probe = state.probe(Left, 1, 1, 10)
    val seen = probe.map { row =>
      probe.remove()
      row.row
    }.toSeq
    assert(seen == (1 to 10).map(_.toString))
    assert(state.size(Left) == 0)
    assert(found(state, 1).isEmpty)
  }

  test("a row that is removed twice counts once") {
    val state = empty
    put(state, 1, 1, "a")
    val probe = state.probe(Left, 1, 1, 1)
    probe.next()
    probe.remove()
    probe.remove()
    assert(state.size(Left) == 0)
  }

  test("a probe finds the rows of a linear scan, also after removals and evictions") {
    RandomCases.forAll(1000) { random =>
      final case class Buffered(side: Side, key: Long, time: Long, limits: Seq[Long], id: Int)
      val state = new HeapJoinState[Buffered](identity)
      val model = mutable.Map.empty[Int, Buffered]
      val watermarks = mutable.Map[Side, Array[Long]](Left -> Array(0L, 0L), Right -> Array(0L, 0L))
      def small(): Long = random.nextInt(30).toLong
      for (id <- 0 until 60) {
        val side = Side.both(random.nextInt(2))
        val key = random.nextInt(3).toLong
        random.nextInt(10) match {
          case 0 =>
            val before = watermarks(side)
            val now = before.map(w => if (random.nextBoolean()) math.max(w, small()) else w)
            watermarks(side) = now
            val evicted = state.evict(side, before, now).map(_.row).toSet
            val expected = model.values.filter { k =>
              k.side == side && k.limits.zip(now).exists { case (limit, w) => limit < w }
            }.toSet
            assert(evicted == expected)
            model --= expected.map(_.id)
          case 1 | 2 =>
            val probe = state.probe(side, key, small(), 30)
            for (row <- probe if random.nextInt(3) == 0) {
              probe.remove()
              model -= row.row.id
            }
          case 3 | 4 | 5 =>
            val (from, to) = (small(), small())
            val actual = state.probe(side, key, from, to).map(_.row).toSeq
            val expected = model.values.filter { k =>
              k.side == side && k.key == key && from <= k.time && k.time <= to
            }
            assert(actual.map(_.time) == actual.map(_.time).sorted)
            assert(actual.length == expected.size && actual.toSet == expected.toSet)
          case _ =>
            val now = watermarks(side)
            val buffered = Buffered(side, key, small(), now.toSeq.map(_ + random.nextInt(10)), id)
            model(id) = buffered
            state.append(
              side,
              key,
              buffered.time,
              buffered.limits.toArray,
              buffered,
              matched = false
            )
        }
        for (s <- Side.both) {
          val expected = model.values.filter(_.side == s).toSet
          assert(state.size(s) == expected.size)
          assert(state.all(s).map(_.row).toSet == expected)
        }
      }
    }
  }
}
