package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Compares joins with TTLs with [[AgingModel]]: the output of each batch, the number of stored rows
 * and the counters. Changes are random: of expired rows, stale ones, deletes of rows that never
 * existed, and updates without an effect.
 */
class AgingModelSuite extends AnyFunSuite {
  import AgingModel.difference
  import ChangelogCases.randomJoin

  /** @param size limits the changes of a batch and the number of unique keys */
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

    /** Mostly the next sequence number, otherwise an unused one between two earlier ones. */
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
    Count.Expired -> model.expired,
    Count.Unknown -> model.unknown,
    Count.RetractedExpired -> model.retracted,
    Count.Stale -> model.stale
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
          val (inserts, deletes) = out.partition(_.kind.added)
          def table(some: Seq[Changed[Out]]) = some.groupMapReduce(_.row)(_ => 1)(_ + _)
          assert(difference(table(inserts), table(deletes)) == expected)
          val both = inserts.map(_.row).toSet & deletes.map(_.row).toSet
          assert((both -- model.deletedByKey).isEmpty)
          for (side <- Side.both) {
            assert(driver.stored(side) == model.size(side), s"${side.name} stored")
            for ((count, of) <- counted(model))
              assert(driver.counters.rows(side, count) == of(side), s"${side.name} $count")
          }
        }
      }
    }
    model
  }

  for (joinType <- JoinType.all; expiry <- Seq(Expiry.Keep, Expiry.Retract))
    test(s"${joinType.name}, $expiry: changes, stored rows and counters equal those of the model") {
      val counts = mutable.Map.empty[String, Long].withDefaultValue(0L)
      RandomCases.forAll(300) { random =>
        val model = check(randomJoin(random, joinType, aging = true, expiry = expiry), 6, random)
        for (side <- Side.both; (count, of) <- counted(model)) counts(count.name) += of(side)
      }
      if (expiry == Expiry.Retract) assert(counts(Count.RetractedExpired.name) == 0)
      else if (RandomCases.all) assert(counts.size == 4 && counts.values.forall(_ > 250), counts)
    }

  test("joins of keys with many rows, whose partner counts are remembered, equal the model") {
    RandomCases.forAll(4) { random =>
      for (joinType <- JoinType.all) {
        val (left, right) = (Layout.NoKey, Layout.UniqueKey)
        check(TestChangelog(joinType, left, right, residual = true, aging = true), 160, random)
      }
    }
  }
}
