package io.streamjoin.join.changelog

import scala.collection.mutable
import scala.util.Random

import org.scalatest.Assertions._

import io.streamjoin.model.{JoinType, Side}

/** A table and its random changes. */
final class ChangelogTable(join: TestChangelog, side: Side, random: Random) {
  private val layout = join.layout(side)
  private var sequence = 0
  val rows: mutable.ArrayBuffer[Row] = mutable.ArrayBuffer.empty

  private def fresh(): Row =
    Row(
      if (random.nextInt(8) == 0) None else Some(random.nextInt(2)),
      random.nextInt(4),
      random.nextInt(8)
    )

  private def occupant(row: Row): Option[Row] = layout match {
    case Layout.OneAKey => rows.find(_.join == row.join)
    // the unique key identifies the row, which can get another join key
    case Layout.UniqueKey => rows.find(_.unique == row.unique)
    case Layout.NoKey     => None
  }

  private def write(row: Row): Row = {
    sequence += 1
    val sequenced = layout != Layout.NoKey
    if (sequenced) row.copy(sequence = sequence) else row
  }

  def change(): Seq[Change[Row]] = {
    val row = fresh()
    if (rows.nonEmpty && random.nextInt(3) == 0) {
      val gone = rows.remove(random.nextInt(rows.length))
      Seq(Change(write(gone), added = false))
    } else {
      val before = occupant(row)
      before.foreach(b => rows.remove(rows.indexOf(b)))
      val after = write(row)
      rows += after
      before.toSeq.map(b => Change(b.copy(sequence = after.sequence), added = false)) :+
        Change(after, added = true)
    }
  }
}

object ChangelogCases {

  /** @param left the layout of the left input, random if not given */
  def randomJoin(
      random: Random,
      joinType: JoinType,
      left: Option[Layout] = None,
      aging: Boolean = false,
      expiry: Expiry = Expiry.Keep
  ): TestChangelog = {
    def layout() = Layout.all(random.nextInt(3))
    TestChangelog(
      joinType,
      left.getOrElse(layout()),
      layout(),
      random.nextBoolean(),
      random.nextBoolean(),
      selective = random.nextInt(4) == 0,
      equality = random.nextInt(8) != 0,
      hashes = if (random.nextBoolean()) 1 else 1 << 20,
      aging = aging,
      expiry = expiry
    )
  }

  /** Now and then runs the batch and fails, or restarts from the written versions. */
  def failOrRestart(
      driver: ChangelogDriver,
      left: Seq[Change[Row]],
      right: Seq[Change[Row]],
      random: Random
  ): Unit = random.nextInt(5) match {
    case 0 =>
      def some(of: Seq[Change[Row]]) = of.take(random.nextInt(of.length + 1))
      driver.failedBatch(some(left), some(right))
    case 1 => driver.restart()
    case _ =>
  }

  def shown(rows: Seq[Out]): Seq[Out] = rows.map { o =>
    Out(o.left.map(_.copy(sequence = 0)), o.right.map(_.copy(sequence = 0)))
  }

  def fold(table: mutable.Map[Out, Int], changes: Seq[Changed[Out]]): Unit = {
    add(table, changes)
    for (c <- changes) assert(table.getOrElse(c.row, 0) >= 0, s"$c was never inserted")
  }

  /** The inserts of each row minus its deletes. */
  def add(table: mutable.Map[Out, Int], changes: Seq[Changed[Out]]): Unit =
    for (c <- changes) {
      val n = table.getOrElse(c.row, 0) + (if (c.kind.added) 1 else -1)
      if (n == 0) table.remove(c.row) else table(c.row) = n
    }

  def listed(table: mutable.Map[Out, Int]): Seq[Out] =
    table.toSeq.flatMap { case (o, n) => Seq.fill(n)(o) }
}
