package io.streamjoin.join.changelog

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.streamjoin.model.JoinType

/**
 * RisingWave's tests of its hash join (`src/stream/src/executor/hash_join.rs`), also mirrored.
 * Chunk by chunk, the output is exactly RisingWave's. With one change in each batch, or all in one,
 * the final table is the same. Tests of RisingWave's cache are omitted, and tests of watermarks,
 * which make changes late here but not there.
 */
class RisingWaveSuite extends AnyFunSuite {
  import RisingWaveSuite._

  for (
    each <- RisingWaveCases.all; mirrored <- Seq(false, true) if !mirrored || mirror(each).isDefined
  )
    test(each.name + (if (mirrored) ", mirrored" else "")) {
      val joinType = if (mirrored) mirror(each).get else each.joinType
      for (layout <- Seq(Layout.UniqueKey, Layout.NoKey); segments <- Seq(false, true))
        withClue(s"$layout, ${if (segments) "segments" else "heap"}: ") {
          run(each, joinType, mirrored, layout, segments)
        }
    }

  private def run(
      each: RisingWaveCase,
      joinType: JoinType,
      mirrored: Boolean,
      layout: Layout,
      segments: Boolean
  ): Unit = {
    val chunks = chunksOf(each.text, mirrored, sequenced = layout != Layout.NoKey)
    val join = TestChangelog(
      joinType,
      layout,
      layout,
      nullSafe = each.nullSafe,
      condition = (l, r) => each.condition.forall(if (mirrored) _(r, l) else _(l, r))
    )
    // insert-only inputs also run with the append-only operator
    for (
      appends <- Seq(false, true)
      if !appends || each.appends && joinType == JoinType.Inner && layout == Layout.NoKey
    ) {
      def driver() = new ChangelogDriver(join, segments, appends = appends)
      def give(to: ChangelogDriver, changes: Seq[Input]): Seq[(Out, Boolean)] = {
        def of(left: Boolean) = changes.collect { case Input(`left`, change) => change }
        to.batch(of(left = true), of(left = false)).map(c => c.row -> c.kind.added)
      }
      val asThere = driver()
      for (chunk <- chunks)
        assert(give(asThere, chunk.changes).groupBy(identity) == chunk.gives.groupBy(identity))
      val end = table(chunks.flatMap(_.gives))
      val byChange = driver()
      assert(table(chunks.flatMap(_.changes).flatMap(c => give(byChange, Seq(c)))) == end, "each")
      assert(table(give(driver(), chunks.flatMap(_.changes))) == end, "all at once")
    }
  }
}

private object RisingWaveSuite {

  final case class Input(left: Boolean, change: Change[Row])
  final case class Chunk(changes: Seq[Input], gives: Seq[(Out, Boolean)])

  /** The join type with swapped sides, if there is one. */
  def mirror(each: RisingWaveCase): Option[JoinType] = each.joinType match {
    case JoinType.LeftOuter                           => Some(JoinType.RightOuter)
    case JoinType.RightOuter                          => Some(JoinType.LeftOuter)
    case both @ (JoinType.Inner | JoinType.FullOuter) => Some(both)
    case _                                            => None
  }

  def table(changes: Seq[(Out, Boolean)]): Map[Out, Int] =
    changes.groupMapReduce(_._1)(c => if (c._2) 1 else -1)(_ + _).filter(_._2 != 0)

  def chunksOf(text: String, mirrored: Boolean, sequenced: Boolean): Seq[Chunk] = {
    val chunks = mutable.ArrayBuffer.empty[Chunk]
    val (changes, gives) =
      (mutable.ArrayBuffer.empty[Input], mutable.ArrayBuffer.empty[(Out, Boolean)])
    var sequence = 0
    var ended = false
    def end(): Unit = {
      chunks += Chunk(changes.toSeq, gives.toSeq)
      changes.clear()
      gives.clear()
      ended = false
    }
    for (line <- text.stripMargin.linesIterator.map(_.trim) if line.nonEmpty) line.head match {
      case '=' => ended = true
      case '+' | '-' =>
        val sides = line.drop(2).split('|').map(row(_))
        val (l, r) = if (mirrored) (sides.last, sides.head) else (sides.head, sides.last)
        gives += Out(l, r) -> (line.head == '+')
      case side =>
        if (ended) end()
        sequence += 1
        val changed = row(line.drop(4)).get.copy(sequence = if (sequenced) sequence else 0)
        changes += Input((side == 'L') != mirrored, Change(changed, line(2) == '+'))
    }
    end()
    chunks.toSeq
  }

  private def row(text: String): Option[Row] = text.trim.split(' ') match {
    case Array(".") => None
    case Array(key, rest) =>
      val value = rest.toIntOption.getOrElse(-1)
      Some(Row(key.toIntOption, value, value))
    case _ => throw new IllegalArgumentException(text)
  }
}
