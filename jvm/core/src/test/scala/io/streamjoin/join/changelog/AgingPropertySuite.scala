package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * Rows that expire by TTL. Which of several equal rows a delete removes does not depend on the
 * batches, on the order within a batch, or on the state implementation.
 */
class AgingPropertySuite extends AnyFunSuite {
  import ChangelogCases._

  /**
   * A table whose rows are written at the ticks of a clock. In one tick, a row is inserted or
   * deleted.
   */
  private final class Table(join: TestChangelog, side: Side, ttl: Option[Long], random: Random) {
    private val keyed = join(side).keyed
    private val rows = mutable.ArrayBuffer.empty[Row]
    private var sequence = 0

    private def sameKey(a: Row, b: Row): Boolean =
      join(side).compareIdentity(a, b) == 0 && join(side).identity(a) == join(side).identity(b)

    def tick(now: Long): Seq[Change[Row]] = {
      val touched = mutable.ArrayBuffer.empty[Row]
      def free(row: Row, comes: Boolean): Boolean =
        if (keyed) !touched.exists(sameKey(_, row))
        else !touched.exists(t => t.copy(deleted = false) == row && t.deleted == comes)
      Seq.fill(random.nextInt(7)) {
        sequence += 1
        def written(row: Row) = row.copy(
          sequence = if (keyed) sequence else 0,
          expires = ttl.fold(Long.MaxValue)(now + _)
        )
        val row = Row(
          if (random.nextInt(8) == 0) None else Some(random.nextInt(2)),
          random.nextInt(2),
          random.nextInt(2)
        )
        if (rows.nonEmpty && random.nextInt(3) == 0) {
          val gone = rows(random.nextInt(rows.length))
          if (free(gone, comes = false)) {
            rows -= gone
            touched += gone.copy(deleted = true)
            Seq(Change(written(gone), added = false))
          } else Nil
        } else if (free(row, comes = true)) {
          if (keyed) rows.filterInPlace(!sameKey(_, row))
          rows += row
          touched += row
          Seq(Change(written(row), added = true))
        } else Nil
      }.flatten
    }
  }

  /** Cuts a sequence into parts and keeps the order. */
  private def cut[T](random: Random, all: Seq[T]): Seq[Seq[T]] = {
    val parts = all.map(_ => random.nextInt(3)).sorted
    parts.zip(all).groupMap(_._1)(_._2).toSeq.sortBy(_._1).map(_._2)
  }

  for (
    (expiry, removed) <- Seq(
      Expiry.Forget -> Count.Unknown,
      Expiry.Retract -> Count.Unknown,
      // the results of a row, and so its mark and what a delete of an expired row retracts, depend
      // on the batches
      Expiry.Keep -> Count.RetractedExpired
    )
  )
    test(s"$expiry: any batches give the same stored rows and table") { checkCuts(expiry, removed) }

  /** @param removed the counter of deletes of rows that are not stored */
  private def checkCuts(expiry: Expiry, removed: Count): Unit = {
    var (expired, unknown) = (0L, 0L)
    RandomCases.forAll(1500) { random =>
      val join = randomJoin(
        random,
        JoinType.all(random.nextInt(JoinType.all.length)),
        aging = true,
        expiry = expiry
      )
      def ttl() = Option.when(random.nextInt(4) > 0)(1L + random.nextInt(3))
      val (l, r) = (
        new Table(join, Side.Left, ttl(), random),
        new Table(join, Side.Right, ttl(), random)
      )
      val whole = new ChangelogDriver(join)
      val memory = if (random.nextBoolean()) Long.MaxValue else 1L
      val cuts = Seq(
        new ChangelogDriver(join),
        new ChangelogDriver(join, segments = true, memory = memory)
      )
      val tables = Seq.fill(3)(mutable.HashMap.empty[Out, Int])
      val history = mutable.ArrayBuffer.empty[Any]
      withClue(onFailure(s"$join\n${history.mkString("\n")}\n")) {
        for (now <- 1L to 8L) {
          val changes = l.tick(now).map(Side.Left -> _) ++ r.tick(now).map(Side.Right -> _)
          history += now -> changes
          def batch(driver: ChangelogDriver, some: Seq[(Side, Change[Row])]) = {
            def of(side: Side) = random.shuffle(some.collect { case (`side`, c) => c })
            driver.batch(of(Side.Left), of(Side.Right))
          }
          (whole +: cuts).foreach(_.at(now))
          // a change after an expiry may delete a padded row that was never emitted
          def folded(table: mutable.Map[Out, Int], out: Seq[Changed[Out]]) = expiry match {
            case Expiry.Retract => fold(table, out)
            case Expiry.Forget  => add(table, out)
            case Expiry.Keep    =>
          }
          def rows(driver: ChangelogDriver, side: Side) =
            if (expiry == Expiry.Keep) driver.rows(side).map(_._1) else driver.rows(side)
          folded(tables.head, batch(whole, changes))
          def parts = if (changes.isEmpty) Seq(Nil) else cut(random, changes)
          for ((driver, table) <- cuts.zip(tables.tail); part <- parts) {
            def of(side: Side) = part.collect { case (`side`, c) => c }
            failOrRestart(driver, of(Side.Left), of(Side.Right), random)
            folded(table, batch(driver, part))
          }
          for (side <- Side.both; other <- cuts)
            assertSame(s"${side.name} rows", rows(other, side), rows(whole, side))
          for (table <- tables.tail) assert(table == tables.head)
        }
        for (side <- Side.both) {
          expired += whole.counters.rows(side, Count.Expired)
          unknown += whole.counters.rows(side, removed)
        }
        cuts.foreach(_.close())
      }
    }
    if (RandomCases.all) assert(expired > 1000 && unknown > 100)
  }

  test("heap and segment states emit the same changes for any order within a batch") {
    RandomCases.forAll(500) { random =>
      val join =
        randomJoin(random, JoinType.all(random.nextInt(JoinType.all.length)), aging = true)
      val (l, r) = (
        new Table(join, Side.Left, Some(3), random),
        new Table(join, Side.Right, Some(2), random)
      )
      val heap = new ChangelogDriver(join)
      val again = new ChangelogDriver(join, segments = true)
      for (now <- 1L to 8L) {
        val (left, right) = (l.tick(now), r.tick(now))
        Seq(heap, again).foreach(_.at(now))
        val first = heap.batch(random.shuffle(left), random.shuffle(right))
        assertSame("changes", again.batch(random.shuffle(left), random.shuffle(right)), first)
      }
    }
  }
}
