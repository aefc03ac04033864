package io.streamjoin.join.changelog

import scala.collection.mutable

import io.streamjoin.join.Count
import io.streamjoin.model.Side

/** The parsed lines of a case of Flink. Words are numbered in the order of their first use. */
private[changelog] final class FlinkScript(val flink: FlinkCase) {
  import FlinkScript._

  val lines: Seq[String] = flink.text.stripMargin.linesIterator.map(_.trim).toSeq
  var now = 0L
  private val words = mutable.HashMap.empty[String, Int]
  private var sequence = 0

  private def number(word: String): Int = words.getOrElseUpdate(word, words.size)

  private def row(input: Int, text: String): Option[Row] = text.trim.split(' ') match {
    case Array("-")               => None
    case Array(line, rest)        => Some(row(input, "", line, rest))
    case Array(order, line, rest) => Some(row(input, order, line, rest))
    case _                        => throw new IllegalArgumentException(text)
  }

  private def row(input: Int, order: String, line: String, rest: String): Row = {
    val details = flink.condition.fold(0L)(_ => rest.toLongOption.getOrElse(-1L - number(rest)))
    val row =
      if (flink.layouts(input) == Layout.UniqueKey) Row(None, number(order), number(rest))
      else Row(None, 0, number(s"$order $rest"))
    row.copy(join = Some(number(line)), time = details)
  }

  /** A change and the index of its input. */
  def change(line: String): (Int, Change[Row]) = {
    sequence += 1
    val input = Inputs(line.head)
    val plain = row(input, line.drop(5)).get
    val sequenced =
      if (flink.layouts(input) == Layout.NoKey) plain else plain.copy(sequence = sequence)
    // Flink expires a row at the end of its TTL, this join after it
    val expires = flink.ttl.map(ttl => now + (if (input == 0) ttl._1 else ttl._2) - 1)
    input -> Change(sequenced.copy(expires = expires.getOrElse(Long.MaxValue)), line(2) == '+')
  }

  /** The output row of a line, if any, and whether it is inserted. */
  def output(line: String): Option[(Joined, Boolean)] =
    Option.when(line.length > 2) {
      val rows = line.drop(5).split('|').zipWithIndex.map { case (text, n) => row(n, text) }
      rows.toVector.padTo(flink.layouts.length, None) -> (line(2) == '+')
    }
}

private[changelog] object FlinkScript {

  /** A row of each input. */
  type Joined = Vector[Option[Row]]

  val Inputs: Map[Char, Int] =
    Map('L' -> 0, 'R' -> 1, 'U' -> 0, 'O' -> 1, 'P' -> 2, 'S' -> 3)

  /** The unique key of an output row. With one row for each join key, it is the join key. */
  def keyOf(c: FlinkCase, row: Joined): Any =
    if (c.layouts.forall(_ == Layout.OneAKey)) row.flatten.head.join
    else row.map(_.map(r => (r.join, r.unique)))

  def counted(c: FlinkCase): Boolean = c.layouts.contains(Layout.NoKey)

  /** The table that all output changes give. A delete of a missing row has no effect. */
  final class Table(c: FlinkCase) {
    private val byKey = mutable.HashMap.empty[Any, Joined]
    private val counts = mutable.HashMap.empty[Joined, Int]

    def change(row: Joined, added: Boolean): Unit =
      if (counted(c)) {
        val n = counts.getOrElse(row, 0) + (if (added) 1 else -1)
        if (n > 0) counts(row) = n else counts.remove(row)
      } else if (added) byKey(keyOf(c, row)) = row
      else byKey.remove(keyOf(c, row))

    def rows: Map[Joined, Int] = counts.toMap ++ byKey.values.map(_ -> 1)
  }

  /** The joins of a case. Each reads the output changes of the previous one. */
  final class Chain(c: FlinkCase, segments: Boolean) {
    private val numbers = mutable.HashMap.empty[Joined, Int]
    private val rows = mutable.ArrayBuffer.empty[Joined]
    private val drivers = c.joins.zipWithIndex.map { case (joinType, n) =>
      val left = if (n == 0) c.layouts.head else Layout.NoKey
      val asked = c.condition.filter(_ => n == c.joins.length - 1)
      def condition(l: Row, r: Row) = asked.forall(_(l.time, r.time))
      val right = c.layouts(n + 1)
      val join =
        TestChangelog(joinType, left, right, aging = c.ttl.nonEmpty, condition = condition)
      new ChangelogDriver(join, segments)
    }

    def at(now: Long): Unit = drivers.foreach(_.at(now))

    def batch(changes: Seq[(Int, Change[Row])]): Seq[(Joined, Boolean)] = {
      def of(input: Int) = changes.collect { case (`input`, change) => change }
      drivers.indices.foldLeft(Seq.empty[(Joined, Boolean)]) { (below, n) =>
        val left =
          if (n == 0) of(0)
          else below.map { case (row, added) => Change(asInput(row), added) }
        drivers(n).batch(left, of(n + 1)).map { out =>
          val parts = out.row.left match {
            case None           => Vector.fill(n + 1)(None)
            case some if n == 0 => Vector(some)
            case Some(row)      => rows(row.value)
          }
          (parts :+ out.row.right) -> out.kind.added
        }
      }
    }

    def unknown: Long =
      drivers.tail.map(_.counters.rows(Side.Left, Count.Unknown)).sum

    private def asInput(row: Joined): Row = {
      val number = numbers.getOrElseUpdate(row, { rows += row; rows.length - 1 })
      Row(row(c.by).flatMap(_.join), 0, number, time = row.head.fold(0L)(_.time))
    }
  }
}
