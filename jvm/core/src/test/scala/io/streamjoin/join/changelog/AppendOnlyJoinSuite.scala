package io.streamjoin.join.changelog

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.join.Count
import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/** Compares the append-only operator with the general one on insert-only inputs. */
class AppendOnlyJoinSuite extends AnyFunSuite {

  private def randomJoin(random: Random) = TestChangelog(
    JoinType.Inner,
    Layout.NoKey,
    Layout.NoKey,
    residual = random.nextBoolean(),
    filtered = random.nextBoolean(),
    within = Option.when(random.nextBoolean())(random.nextInt(4).toLong),
    selective = random.nextBoolean(),
    equality = random.nextInt(4) > 0,
    hashes = if (random.nextBoolean()) 2 else 1 << 20,
    aging = random.nextBoolean(),
    expiry = Expiry.Forget
  )

  private def randomRow(random: Random, now: Long, ages: Boolean) = Row(
    Option.when(random.nextInt(8) > 0)(random.nextInt(3)),
    unique = 0,
    value = random.nextInt(6),
    // the TTL starts with the batch in which they are written
    expires = if (ages) now + 2 else Long.MaxValue,
    // below the watermark of its side, some rows are late
    time = now - 3 + random.nextInt(7)
  )

  private def counts(d: ChangelogDriver) =
    d.counters.rows(Count.Emitted) +: (for (s <- Side.both; c <- Count.ofChanges)
      yield d.counters.rows(s, c))

  for (segments <- Seq(false, true)) {
    val where = if (segments) "in segments" else "on the heap"
    test(s"$where: output, stored rows and counters equal those of the general operator") {
      var (out, left) = (0L, 0L)
      RandomCases.forAll(300) { random =>
        val seed = random.nextLong()
        // each operator has a separate one, since it contains the watermarks
        def join = randomJoin(new Random(seed))
        val ages = join.aging
        val bounded = join.within.nonEmpty
        var appends = true
        val alternates = random.nextBoolean()
        val (general, appending) = (
          new ChangelogDriver(join, segments),
          new ChangelogDriver(join, segments, appends = appends)
        )
        val rows = new Random(seed)
        withClue(onFailure(s"$join\n")) {
          for (now <- 1L to 6L) {
            def some = Seq.fill(rows.nextInt(6))(
              Change(randomRow(rows, now, ages), added = true)
            )
            val (l, r) = (some, some)
            // the append-only and the general operator alternate on the same state
            appends = !alternates || now % 2 == 0
            assertSame("output", appending.batch(l, r), general.batch(l, r))
            for (d <- Seq(general, appending)) {
              if (ages) d.at(now)
              if (bounded) d.advance(Array(now - 1, now - 2))
            }
            for (side <- Side.both)
              assertSame("stored", appending.rows(side), general.rows(side))
            assert(counts(appending) == counts(general))
          }
          out += appending.counters.rows(Count.Emitted)
          left += Side.both.map { side =>
            appending.counters.rows(side, Count.Evicted) +
              appending.counters.rows(side, Count.Expired)
          }.sum
        }
      }
      if (RandomCases.all) {
        assert(out > 500)
        assert(left > 100)
      }
    }
  }

  test("pairs are evaluated lazily") {
    val join = TestChangelog(JoinType.Inner, Layout.NoKey, Layout.NoKey)
    val d = new ChangelogDriver(join, appends = true)
    val row = Row(Some(1), 1, 2)
    d.batch(Nil, Seq.fill(100)(Change(row, added = true)))
    join.evaluations = 0
    assert(d.appending.insert(Side.Left, join.hash(row.join), row).take(2).length == 2)
    assert(join.evaluations <= 3)
  }
}
