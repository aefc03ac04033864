package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.{JoinType, Side}
import io.streamjoin.testing.Checked.assertSame
import io.streamjoin.testing.RandomCases
import io.streamjoin.testing.RandomCases.onFailure

/**
 * A table into which the output is merged by its key, after each batch, while rows expire. The rows
 * whose key is the key of the table are those of the left input, or of the right input of the
 * mirrored join.
 */
class MergedTableSuite extends AnyFunSuite {

  /** An input with a key and a sequence. */
  private final class Feed(
      join: TestChangelog,
      side: Side,
      ttl: Option[Long],
      random: scala.util.Random
  ) {
    private val rows = mutable.HashMap.empty[Int, Row]
    private var sequence = 0
    private val one = join.layout(side) == Layout.OneAKey

    /** The keys of the last batch, each with the row that was inserted, updated or deleted. */
    var touched: Seq[(Int, Row)] = Nil

    def stored(now: Long): Iterable[Row] = rows.values.filter(_.expires >= now)

    def batch(now: Long): Seq[Change[Row]] = {
      touched = Nil
      (0 until 4).filter(_ => random.nextInt(3) == 0).flatMap { key =>
        sequence += 1
        val expires = ttl.fold(Long.MaxValue)(now + _)
        val before = rows.get(key).map(_.copy(sequence = sequence, expires = expires))
        val joinKey = before.fold(if (one) key else random.nextInt(3))(_.join.get)
        val after = Row(Some(joinKey), if (one) 0 else key, random.nextInt(3), sequence, expires)
        // without its old image, an expired row is not deleted if the new one has no result
        val pads =
          join.joinType.preserves(side) && !join.joinType.leftOnly && !join.selective
        val preimage =
          before.filter(_ => !pads || random.nextBoolean()).map(Change(_, added = false)).toSeq
        if (before.nonEmpty && random.nextInt(3) == 0) {
          rows -= key
          touched :+= key -> before.get
          Seq(Change(before.get, added = false))
        } else if (before.exists(_.value == after.value)) Nil
        else {
          rows(key) = after
          touched :+= key -> after
          preimage :+ Change(after, added = true)
        }
      }
    }
  }

  private def check(join: TestChangelog, side: Side, random: scala.util.Random): Unit = {
    def ttl() = Option.when(random.nextInt(4) > 0)(random.nextInt(4).toLong)
    val feeds = Side.both.map(s => s -> new Feed(join, s, ttl(), random)).toMap
    val (own, other) = (feeds(side), feeds(side.other))
    val driver = new ChangelogDriver(join, segments = random.nextBoolean())
    val (merged, expected) = (mutable.HashMap.empty[Int, Out], mutable.HashMap.empty[Int, Out])
    val history = mutable.ArrayBuffer.empty[Any]
    withClue(onFailure(s"$join\n${history.mkString("\n")}\n")) {
      for (now <- 1L to 10L) {
        driver.at(now)
        if (random.nextInt(4) == 0) driver.restart()
        val changes = feeds.map { case (s, feed) => s -> random.shuffle(feed.batch(now)) }
        history += now -> changes
        val out = driver.batch(changes(Side.Left), changes(Side.Right))
        def keyOf(o: Out) = (if (side == Side.Left) o.left else o.right).get.unique
        for (c <- out.sortBy(_.kind.added))
          if (c.kind.added) merged(keyOf(c.row)) = c.row else merged -= keyOf(c.row)

        // the model: rows are joined again when they change, or a partner of them
        val (rows, others) = (own.stored(now).toSeq, other.stored(now).toSeq)
        def result(some: Seq[Row]) =
          if (side == Side.Left) join.result(some, others) else join.result(others, some)
        val again =
          if (join.expiry == Expiry.Retract) (0 until 4).toSet
          else
            own.touched.map(_._1).toSet ++ rows.filter { row =>
              other.touched.exists { case (_, o) =>
                if (side == Side.Left) join.matches(row, o) else join.matches(o, row)
              }
            }.map(_.unique)
        expected --= again
        for (row <- rows if again(row.unique); o <- result(Seq(row)) if isOf(side, o))
          expected(row.unique) = join.shown(o)
        assertSame("table", merged.toSeq, expected.toSeq)
      }
    }
  }

  private def isOf(side: Side, o: Out) =
    (if (side == Side.Left) o.left else o.right).nonEmpty

  for (
    expiry <- Seq(Expiry.Keep, Expiry.Retract);
    joinType <- JoinType.all if joinType != JoinType.FullOuter
  ) test(s"$expiry: $joinType merged by its key is right after each batch") {
    RandomCases.forAll(400) { random =>
      // the join key does not change, so that a delete reaches the rows that it has been joined with
      val side = if (joinType == JoinType.RightOuter) Side.Right else Side.Left
      val one =
        if (joinType.leftOnly) Layout.all(random.nextInt(2)) else Layout.OneAKey
      val (left, right) =
        if (side == Side.Left) (Layout.UniqueKey, one) else (one, Layout.UniqueKey)
      val join = TestChangelog(
        joinType,
        left,
        right,
        residual = random.nextInt(3) == 0,
        selective = random.nextInt(3) == 0,
        narrow = random.nextInt(3) == 0,
        hashes = if (random.nextBoolean()) 1 else 1 << 20,
        aging = true,
        expiry = expiry
      )
      assert(join.identifies(side))
      check(join, side, random)
    }
  }
}
