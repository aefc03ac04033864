package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Rows that leave by their age, against [[AgingModel]]: what comes out of each batch, how many rows are held, and what is
 * counted. Changes come as they like: of rows that have gone, older ones, removals of what never was, updates of nothing.
 */
class AgingModelSuite extends AnyFunSuite {
  import AgingModel.difference
  import ChangelogCases.randomJoin

  /** @param size how many changes a batch has, and how many unique keys there are, at most */
  private final class Feed(
      join: TestChangelog,
      side: Side,
      ttl: Option[Long],
      size: Int,
      random: Random
  ) {
    private val keyed = join(side).keyed
    private val seen = mutable.ArrayBuffer.empty[Row]
    private val used = mutable.HashSet.empty[Int]
    private var sequence = 0

    private def fresh(): Row = Row(
      if (random.nextInt(8) == 0) None else Some(random.nextInt(2)),
      random.nextInt(math.max(2, size / 2)),
      random.nextInt(4)
    )

    /** Mostly the next one; else one between two that were. */
    private def next(): Int = {
      sequence += 10
      val drawn = if (random.nextInt(5) == 0) 1 + random.nextInt(sequence) else sequence
      val number = if (used(drawn)) sequence else drawn
      used += number
      number
    }

    def at(now: Long): Seq[Change[Row]] = Seq.fill(random.nextInt(size)) {
      val expires = ttl.fold(Long.MaxValue)(now + _)
      val number = if (keyed) next() else 0
      def written(row: Row) = row.copy(sequence = number, expires = expires)
      val before =
        if (seen.nonEmpty && random.nextInt(4) > 0) seen(random.nextInt(seen.length)) else fresh()
      val after =
        if (random.nextInt(3) == 0) before
        else if (keyed) before.copy(value = random.nextInt(4))
        else fresh()
      seen += after
      random.nextInt(4) match {
        case 0 => Seq(Change(written(before), added = false))
        case 1 => Seq(Change(written(before), added = false), Change(written(after), added = true))
        case _ => Seq(Change(written(after), added = true))
      }
    }.flatten
  }

  private def counted(model: AgingModel) = Seq(
    ChangelogCounters.Expired -> model.expired,
    ChangelogCounters.Unknown -> model.unknown,
    ChangelogCounters.RetractedExpired -> model.retracted,
    ChangelogCounters.Stale -> model.stale
  )

  private def check(join: TestChangelog, size: Int, random: Random): AgingModel = {
    val ttls =
      Side.both.map(_ -> Option.when(random.nextInt(4) > 0)(random.nextInt(4).toLong)).toMap
    val feeds = Side.both.map(s => s -> new Feed(join, s, ttls(s), size, random)).toMap
    val model = new AgingModel(join)
    val drivers = Seq(false, true).map(new ChangelogDriver(join, _))
    val history = mutable.ArrayBuffer.empty[Any]
    withClue(onFailure(s"$join, $ttls\n${history.mkString("\n")}\n")) {
      var now = 0L
      for (_ <- 1 to 8) {
        now += random.nextInt(3)
        val changes = feeds.map { case (side, feed) => side -> feed.at(now) }
        history += now -> changes
        model.at(now)
        val expected = model.batch(changes)
        for (driver <- drivers) {
          driver.at(now)
          val out = driver.batch(
            random.shuffle(changes(Side.Left)),
            random.shuffle(changes(Side.Right))
          )
          val (come, go) = out.partition(_.kind.added)
          def table(some: Seq[Changed[Out]]) = some.groupMapReduce(_.row)(_ => 1)(_ + _)
          assert(difference(table(come), table(go)) == expected)
          assert((come.map(_.row).toSet & go.map(_.row).toSet).isEmpty)
          for (side <- Side.both) {
            assert(driver.stored(side) == model.size(side), s"${side.name} held")
            for ((count, of) <- counted(model))
              assert(driver.counters.rows(side, count) == of(side), s"${side.name} $count")
          }
        }
      }
    }
    model
  }

  for (joinType <- JoinType.all) test(s"${joinType.name}: as the page says") {
    val counts = mutable.Map.empty[String, Long].withDefaultValue(0L)
    RandomCases.forAll(300) { random =>
      val model = check(randomJoin(random, joinType, aging = true), 6, random)
      for (side <- Side.both; (count, of) <- counted(model)) counts(count.name) += of(side)
    }
    if (RandomCases.all) assert(counts.size == 4 && counts.values.forall(_ > 250), counts)
  }

  test("so it is of join keys with many rows, of which the partners are counted once") {
    RandomCases.forAll(4) { random =>
      for (joinType <- JoinType.all) {
        val (left, right) = (Layout.NoKey, Layout.UniqueKey)
        check(TestChangelog(joinType, left, right, residual = true, aging = true), 160, random)
      }
    }
  }
}
